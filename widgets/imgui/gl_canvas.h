// An OpenGL framebuffer that is read back into a picture: what a viewport draws on.
//
// A QOpenGLWidget makes Qt compose the whole window with OpenGL, every dock and every label of it,
// whenever one pixel changes. A picture that is read back leaves the window an ordinary one: only
// what has changed is sent to the screen. The canvas has a context of its own, so docking a window
// elsewhere takes nothing from it.
#pragma once

#include <QImage>
#include <QOffscreenSurface>
#include <QOpenGLContext>

namespace conelab::desktop {

class GlCanvas {
 public:
  /// Makes the context of the default format; where none is to be had, `error` says so.
  GlCanvas();
  ~GlCanvas();
  GlCanvas(const GlCanvas&) = delete;
  GlCanvas& operator=(const GlCanvas&) = delete;

  /// Why nothing can be drawn, in one line; empty where it can.
  [[nodiscard]] const QString& error() const { return error_; }
  /// False where the context is gone.
  bool make_current();
  void done_current() { context_.doneCurrent(); }

  /// Makes the context current and binds the framebuffer (colour, depth, stencil) of that many
  /// pixels, at least one each way. False, with an `error`, where the context is gone or gives no
  /// framebuffer of that size; a later call may succeed.
  bool begin(const QSize& pixels);
  /// Reads what was drawn into `picture` and lets the context go.
  void end();
  /// As last read, row 0 on top; null before the first frame.
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
