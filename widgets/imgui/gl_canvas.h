// An OpenGL framebuffer that is read back into an image; a viewport draws on it.
//
// With a QOpenGLWidget, Qt would compose the whole window with OpenGL, including every dock and
// label, whenever one pixel changes. An image that is read back leaves the window an ordinary one,
// so that only changed parts are sent to the screen. The canvas has its own context and therefore
// survives docking the view in another window.
#pragma once

#include <QImage>
#include <QOffscreenSurface>
#include <QOpenGLContext>

namespace conelab::desktop {

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

}  // namespace conelab::desktop
