#include "widgets/imgui/gl_canvas.h"

#include <QOpenGLExtraFunctions>

namespace conelab::desktop {
namespace {

constexpr GLenum bgra = 0x80E1;  ///< QImage's order; core since OpenGL 1.2, not in Qt's headers.

}  // namespace

GlCanvas::GlCanvas() {
  surface_.setFormat(QSurfaceFormat::defaultFormat());
  surface_.create();
  context_.setFormat(surface_.format());
  valid_ = context_.create() && surface_.isValid();
}

GlCanvas::~GlCanvas() {
  if (make_current()) destroy_frame(), done_current();
}

bool GlCanvas::make_current() { return valid_ && context_.makeCurrent(&surface_); }

// The colours' order is QImage's, so that reading them is a mere copy.
void GlCanvas::create_frame(const QSize& size) {
  QOpenGLExtraFunctions* gl = context_.extraFunctions();
  gl->glGenTextures(1, &colour_);
  gl->glBindTexture(GL_TEXTURE_2D, colour_);
  gl->glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size.width(), size.height(), 0, bgra,
                   GL_UNSIGNED_BYTE, nullptr);
  gl->glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  gl->glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl->glGenRenderbuffers(1, &depth_);
  gl->glBindRenderbuffer(GL_RENDERBUFFER, depth_);
  gl->glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8, size.width(), size.height());
  gl->glGenFramebuffers(1, &frame_);
  gl->glBindFramebuffer(GL_FRAMEBUFFER, frame_);
  gl->glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, colour_, 0);
  gl->glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER,
                                depth_);
  picture_ = QImage(size, QImage::Format_RGB32);
}

void GlCanvas::destroy_frame() {
  QOpenGLExtraFunctions* gl = context_.extraFunctions();
  gl->glDeleteFramebuffers(1, &frame_);
  gl->glDeleteRenderbuffers(1, &depth_);
  gl->glDeleteTextures(1, &colour_);
  frame_ = depth_ = colour_ = 0;
}

bool GlCanvas::begin(const QSize& pixels) {
  if (!make_current()) return false;
  const QSize size = pixels.expandedTo({1, 1});
  if (picture_.size() != size) destroy_frame(), create_frame(size);
  context_.extraFunctions()->glBindFramebuffer(GL_FRAMEBUFFER, frame_);
  context_.functions()->glViewport(0, 0, size.width(), size.height());
  return true;
}

void GlCanvas::end() {
  QOpenGLFunctions* gl = context_.functions();
  gl->glPixelStorei(GL_PACK_ALIGNMENT, 4);
  gl->glReadPixels(0, 0, picture_.width(), picture_.height(), bgra, GL_UNSIGNED_BYTE,
                   picture_.bits());
  picture_.mirror();  // OpenGL begins with the lowest row.
  done_current();
}

}  // namespace conelab::desktop
