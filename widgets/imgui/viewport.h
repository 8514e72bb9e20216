// An OpenGL viewport with Dear ImGui inside: the base of every view that draws with OpenGL.
//
// One ImGui context and one font atlas a viewport, made current in every handler. It paints on
// demand only: three frames after an input (ImGui settles within them), none when idle. Events wait
// in a queue, see input_queue.h. Sizes handed to subclasses are independent of the screen's
// density; `density` pixels stand for one unit.
//
// ImGui 1.86 of Debian aborts the program on misuse, so subclasses open windows by the guards of
// overlay.h, which close themselves.
#pragma once

#include <QOpenGLWidget>
#include <map>
#include <string>

#include "widgets/imgui/input_queue.h"

struct ImGuiContext;

namespace conelab::desktop {

class Viewport : public QOpenGLWidget {
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
  /// Called by overlay.h.
  void record_control(const std::string& label, const QRectF& place) { controls_[label] = place; }

 protected:
  /// Once a context exists, and again whenever a new one had to be made.
  virtual void create_scene() {}
  /// What `create_scene` made is to be freed; the context is current.
  virtual void destroy_scene() {}
  /// OpenGL below the controls; the framebuffer is bound and cleared.
  virtual void draw_scene() {}
  /// ImGui, between NewFrame and Render.
  virtual void draw_controls() = 0;
  /// The ground behind the scene.
  [[nodiscard]] virtual QColor ground() const;
  /// Whether `draw_scene` paints every pixel, so that nothing needs to be cleared before.
  [[nodiscard]] virtual bool covers_ground() const { return false; }

  void initializeGL() final;
  void paintGL() final;
  bool event(QEvent* event) final;

 private:
  void release();
  void load_fonts(double density);
  void begin_frame();
  void pointer(const QPointF& at);
  bool key(QEvent* event);
  bool button(QEvent* event);
  bool wheel(QEvent* event);
  bool input_method(QEvent* event);
  void show_cursor();

  ImGuiContext* context_ = nullptr;
  InputQueue queue_;
  std::map<std::string, QRectF> controls_, controls_before_;
  double atlas_density_ = 0;
  bool renderer_ = false;
  int wanted_ = 3;
  long painted_ = 0;
  qint64 last_frame_ = 0;
};

}  // namespace conelab::desktop
