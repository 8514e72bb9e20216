// A viewport for OpenGL with Dear ImGui: the base class of every view that draws with OpenGL.
//
// Each viewport has its own ImGui context and font atlas, which every handler makes current. It
// paints on demand only: after an input, one frame at once and two a little later (ImGui needs
// these to reach its final state). No frame is painted twice while the pointer moves, and none when
// idle. Events are queued, see input_queue.h. Sizes passed to subclasses are independent of the
// screen; `density` is the number of pixels per unit.
//
// ImGui 1.86 of Debian aborts the program on misuse. Subclasses therefore open windows with the
// classes of overlay.h, which close them automatically.
#pragma once

#include <QRectF>
#include <QTimer>
#include <QWidget>
#include <map>
#include <string>

#include "widgets/imgui/gl_canvas.h"
#include "widgets/imgui/input_queue.h"

struct ImGuiContext;
class QPainter;

namespace conelab::desktop {

/// The position of a small window in a viewport: in a corner, or away from it.
struct OverlaySpot {
  bool right = true, low = false;
  double away = 0, across = 0;  ///< Distances from the corner down or up, and sideways, in pixels.

  /// Returns the position of a window of this size in a viewport.
  [[nodiscard]] QRectF place(const QSizeF& size, const QSizeF& viewport) const;
};

class Viewport : public QWidget {
  Q_OBJECT

 public:
  explicit Viewport(QWidget* parent = nullptr);
  ~Viewport() override;

  /// Requests `frames` further frames.
  void wake(int frames = 3);
  /// Returns how many frames have been painted. The number does not change while idle.
  [[nodiscard]] long frames_painted() const { return painted_; }
  /// Returns where a control with this label was in the last frame, for tests and help; empty if
  /// there was none.
  [[nodiscard]] QRectF control(const std::string& label) const;
  /// Returns why there is no picture, in one line; empty if there is one.
  [[nodiscard]] const QString& error() const { return canvas_.error(); }
  /// Returns the picture on the screen, in pixels.
  [[nodiscard]] QImage picture() const { return canvas_.picture(); }
  /// Records the position of a control. Called by overlay.h.
  void record_control(const std::string& label, const QRectF& place) { controls_[label] = place; }

 protected:
  /// Called before the first frame, with the context current.
  virtual void create_scene() {}
  /// Called to free what `create_scene` created, with the context current.
  virtual void destroy_scene() {}
  /// Calls `destroy_scene` once. Destructors of subclasses that override it must call this.
  void release();
  /// Draws with OpenGL below the controls. The framebuffer is bound and cleared.
  virtual void draw_scene() {}
  /// Draws with ImGui, between NewFrame and Render.
  virtual void draw_controls() = 0;
  /// Paints over the picture with Qt, which shapes every script; ImGui's font has Latin, Greek and
  /// signs only.
  virtual void draw_over(QPainter&) {}
  /// Returns the colour behind the scene.
  [[nodiscard]] virtual QColor ground() const;
  /// Returns whether `draw_scene` paints every pixel, so that clearing is not needed.
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
  QSize drawn_;  ///< Size of the last frame in pixels.
  int wanted_ = 3;
  QTimer settling_;
  long painted_ = 0;
  qint64 last_frame_ = 0;
};

}  // namespace conelab::desktop
