// A viewport for OpenGL with Dear ImGui: the base class of every view that draws with OpenGL.
//
// Each viewport has its own ImGui context and font atlas, which every handler makes current. It
// paints on demand only: after an input, one frame at once and two a little later (ImGui needs
// these to reach its final state). No frame is painted twice while the pointer moves, and none when
// idle. Events are queued, see InputQueue. Sizes passed to subclasses are independent of the
// screen; `density` is the number of pixels per unit.
//
// ImGui 1.86 of Debian aborts the program on misuse. Subclasses therefore open windows with the
// classes of overlay.h, which close them automatically.
#pragma once

#include <QImage>
#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <QRectF>
#include <QTimer>
#include <QWidget>
#include <deque>
#include <map>
#include <string>
#include <variant>

struct ImGuiContext;
class QPainter;
struct ImGuiIO;

namespace conelab::desktop {

// The queue of input events of a viewport, which passes them to Dear ImGui one change per frame.
//
// Dear ImGui 1.86 reads the state of buttons and keys once per frame. A press and its release
// before the same frame would be lost, and a click would be taken at the later position of the
// pointer. A frame therefore ends after a button or key has changed, before the next change or
// movement.

struct PointerMove {
  float x, y;  ///< Viewport coordinates, independent of the screen's pixel density.
};
struct PointerLeave {};
struct ButtonChange {
  int index;  ///< 0 left, 1 right, 2 middle
  bool down;
};
struct WheelTurn {
  float horizontal, vertical;  ///< In notches.
};
struct KeyChange {
  int index;  ///< Index into ImGuiIO::KeysDown, see key_index.
  bool down;
};
struct Modifiers {
  bool control, shift, alt, super;
};
struct TextEntry {
  std::string utf8;
};
struct FocusLoss {};

using InputEvent = std::variant<PointerMove, PointerLeave, ButtonChange, WheelTurn, KeyChange,
                                Modifiers, TextEntry, FocusLoss>;

class InputQueue {
 public:
  void push(InputEvent event) { events_.push_back(std::move(event)); }
  /// Applies the events of one frame. Returns true if more events are left for the next frame.
  bool apply(ImGuiIO& io);
  [[nodiscard]] bool empty() const { return events_.empty(); }

 private:
  std::deque<InputEvent> events_;
};

/// Returns the index of a Qt key in ImGuiIO::KeysDown [512]. Latin keys have their code, others
/// have indices from 256 on.
[[nodiscard]] int key_index(int qt_key);

/// Fills ImGuiIO::KeyMap using `key_index`.
void map_keys(ImGuiIO& io);

// An OpenGL framebuffer that is read back into an image; a viewport draws on it.
//
// With a QOpenGLWidget, Qt would compose the whole window with OpenGL, including every dock and
// label, whenever one pixel changes. An image that is read back leaves the window an ordinary one,
// so that only changed parts are sent to the screen. The canvas has its own context and therefore
// survives docking the view in another window.

class GlCanvas {
 public:
  /// Creates a context of the default format. If that fails, `error` returns the reason.
  GlCanvas();
  ~GlCanvas();
  GlCanvas(const GlCanvas&) = delete;
  GlCanvas& operator=(const GlCanvas&) = delete;

  /// Returns why nothing can be drawn, in one line; empty if drawing works.
  [[nodiscard]] const QString& error() const { return error_; }
  /// Makes the context current. Returns false if it is lost.
  bool make_current();
  void done_current() { context_.doneCurrent(); }

  /// Makes the context current and binds a framebuffer (colour, depth, stencil) of this size in
  /// pixels; each side is at least 1. Returns false and sets `error` if the context is lost or
  /// gives no framebuffer of that size. A later call may succeed.
  bool begin(const QSize& pixels);
  /// Copies the drawing into `picture` and releases the context.
  void end();
  /// Returns the last copy, row 0 at the top; null before the first frame.
  [[nodiscard]] const QImage& picture() const { return picture_; }

 private:
  bool fail(const QString& why);
  bool create_frame(const QSize& size);
  void destroy_frame();

  QOffscreenSurface surface_;
  QOpenGLContext context_;
  unsigned frame_ = 0, colour_ = 0, depth_ = 0;
  QImage picture_;
  QString error_;
  bool valid_ = false;
};

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
  Viewport();
  ~Viewport() override;

  /// Requests `frames` further frames.
  void wake(int frames = 3);
  /// Sets how many milliseconds after a frame the next one follows that `wake` asked for.
  void settle_after(int milliseconds) { settling_.setInterval(milliseconds); }
  static constexpr int settling = 55;  ///< As long it is usually.
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
  void wheel(const QWheelEvent& event);
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
