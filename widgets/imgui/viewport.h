// An OpenGL viewport with Dear ImGui inside: the base of every view that draws with OpenGL.
//
// One ImGui context and one font atlas a viewport, made current in every handler. It paints on
// demand only: one frame at once and two a little later after an input (ImGui settles within them),
// so that while the pointer moves no frame is painted twice, and none when idle. Events wait in a
// queue, see input_queue.h. Sizes handed to subclasses are independent of the screen's
// density; `density` pixels stand for one unit.
//
// ImGui 1.86 of Debian aborts the program on misuse, so subclasses open windows by the guards of
// overlay.h, which close themselves.
#pragma once

#include <QTimer>
#include <QWidget>
#include <map>
#include <string>

#include "widgets/imgui/gl_canvas.h"
#include "widgets/imgui/input_queue.h"

struct ImGuiContext;

namespace conelab::desktop {

class Viewport : public QWidget {
  Q_OBJECT

 public:
  explicit Viewport(QWidget* parent = nullptr);
  ~Viewport() override;

  /// Asks for `frames` further frames.
  void wake(int frames = 3);
  /// How many frames were painted so far; it stands still at rest.
  [[nodiscard]] long frames_painted() const { return painted_; }
  /// Where a labelled control was in the last frame, for tests and for help that points at things;
  /// empty where there is none.
  [[nodiscard]] QRectF control(const std::string& label) const;
  /// Why there is no picture, in one line; empty where there is one.
  [[nodiscard]] const QString& error() const { return canvas_.error(); }
  /// What is on the screen, in pixels.
  [[nodiscard]] QImage picture() const { return canvas_.picture(); }
  /// Called by overlay.h.
  void record_control(const std::string& label, const QRectF& place) { controls_[label] = place; }

 protected:
  /// Before the first frame; the context is current.
  virtual void create_scene() {}
  /// What `create_scene` made is to be freed; the context is current.
  virtual void destroy_scene() {}
  /// Calls `destroy_scene`, once. For the destructors of subclasses that have one.
  void release();
  /// OpenGL below the controls; the framebuffer is bound and cleared.
  virtual void draw_scene() {}
  /// ImGui, between NewFrame and Render.
  virtual void draw_controls() = 0;
  /// The ground behind the scene.
  [[nodiscard]] virtual QColor ground() const;
  /// Whether `draw_scene` paints every pixel, so that nothing needs to be cleared before.
  [[nodiscard]] virtual bool covers_ground() const { return false; }

  void paintEvent(QPaintEvent* event) final;
  bool event(QEvent* event) final;

 private:
  void initialise();
  void draw_frame();
  void load_fonts(double density);
  void begin_frame();
  void pointer(const QPointF& at);
  bool key(QEvent* event);
  bool button(QEvent* event);
  bool wheel(QEvent* event);
  bool input_method(QEvent* event);
  void show_cursor();

  ImGuiContext* context_ = nullptr;
  GlCanvas canvas_;
  InputQueue queue_;
  std::map<std::string, QRectF> controls_, controls_before_;
  double atlas_density_ = 0;
  bool renderer_ = false, drawing_ = false;
  QSize drawn_;  ///< The pixels of the last frame.
  int wanted_ = 3;
  QTimer settling_;
  long painted_ = 0;
  qint64 last_frame_ = 0;
};

}  // namespace conelab::desktop
