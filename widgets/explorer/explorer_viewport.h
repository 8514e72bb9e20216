// The cone explorer's viewport: the scene, its points to be dragged, and controls over it.
#pragma once

#include <QTimer>

#include "widgets/explorer/cone_scene.h"
#include "widgets/explorer/cone_shader.h"
#include "widgets/imgui/viewport.h"
#include "widgets/session/document.h"

namespace conelab::desktop {

class ExplorerViewport : public Viewport {
  Q_OBJECT

 public:
  explicit ExplorerViewport(Document& document, QWidget* parent = nullptr);
  ~ExplorerViewport() override;

  /// What is looked at: the session's scene, or a pair of tokens in their plane.
  void show_choice(const ConeChoice& choice);
  [[nodiscard]] const ConeChoice& choice() const { return shown_; }
  [[nodiscard]] const ConeScene& scene() const { return scene_; }
  [[nodiscard]] PlaneFrame frame() const;
  /// Where "u", "v" or "source" is on the viewport.
  [[nodiscard]] QPointF handle(const char* name) const;
  void fit();
  /// A finite source recedes until its cones are those of the infinite family.
  void recede();
  /// Milliseconds of the last frame's drawing, to its completion where `measured`.
  [[nodiscard]] double frame_time() const { return frame_time_; }
  bool measured = false;
  PlaneCamera camera;

 signals:
  void scene_changed();

 protected:
  void create_scene() override;
  void destroy_scene() override;
  void draw_scene() override;
  void draw_controls() override;

 private:
  void draw_marks();
  void draw_settings();
  void handle_pointer();
  void move_handle(const QPointF& to);
  void advance();
  template <class Change>
  void edit(const QString& label, Change change, const QString& merge = {});

  Document& document_;
  ConeScene scene_;
  ConeChoice shown_;
  ConeShader shader_;
  QString dragged_;  ///< "u", "v", "source", "ground", or empty.
  QTimer receding_;
  QSize fitted_;            ///< The size for which the camera was fitted.
  bool fits_ = true;        ///< Until the camera is moved, it follows the window.
  double recede_time_ = 0;  ///< When it began, in seconds.
  double frame_time_ = 0;
};

}  // namespace conelab::desktop
