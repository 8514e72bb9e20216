#include "widgets/imgui/gl_canvas.h"

#include <QObject>
#include <QOpenGLExtraFunctions>
#include <algorithm>
#include <utility>

namespace conelab::desktop {
namespace {

constexpr GLenum bgra = 0x80E1;  ///< Order of QImage; in OpenGL since 1.2, not in Qt's headers.
constexpr std::pair<int, int> needed = {3, 3};  ///< The version of the shaders.

/// The largest side of a framebuffer.
int most_pixels(QOpenGLFunctions& gl) {
  int texture = 0, buffer = 0;
  gl.glGetIntegerv(GL_MAX_TEXTURE_SIZE, &texture);
  gl.glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &buffer);
  return std::min(texture, buffer);
}

}  // namespace

GlCanvas::GlCanvas() {
  surface_.setFormat(QSurfaceFormat::defaultFormat());
  surface_.create();
  context_.setFormat(surface_.format());
  valid_ = context_.create() && surface_.isValid();
  if (!valid_) {
    error_ = QObject::tr("This display gives no OpenGL context: the picture cannot be drawn.");
  } else if (const auto [major, minor] = context_.format().version();
             std::pair(major, minor) < needed) {
    valid_ = false;
    error_ = QObject::tr("This display offers OpenGL %1.%2; the picture needs %3.%4.")
                 .arg(major)
                 .arg(minor)
                 .arg(needed.first)
                 .arg(needed.second);
  }
}

GlCanvas::~GlCanvas() {
  if (make_current()) destroy_frame(), done_current();
}

bool GlCanvas::make_current() { return valid_ && context_.makeCurrent(&surface_); }

bool GlCanvas::fail(const QString& why) {
  error_ = why;
  return false;
}

// The order of colours is that of QImage, so that reading is a plain copy. The stencil is cleared
// once; code that uses it must leave zeros.
bool GlCanvas::create_frame(const QSize& size) {
  QOpenGLExtraFunctions* gl = context_.extraFunctions();
  const auto refused = [&](const QString& why) {
    return fail(QObject::tr("OpenGL gives no picture of %1 x %2 pixels: %3.")
                    .arg(size.width())
                    .arg(size.height())
                    .arg(why));
  };
  if (const int most = most_pixels(*gl); size.width() > most || size.height() > most) {
    return refused(QObject::tr("a side has %1 at most").arg(most));
  }
  while (gl->glGetError() != GL_NO_ERROR) continue;  // Discards errors of other code.
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
  const GLenum status = gl->glCheckFramebufferStatus(GL_FRAMEBUFFER), error = gl->glGetError();
  if (status != GL_FRAMEBUFFER_COMPLETE || error != GL_NO_ERROR) {
    destroy_frame();
    return refused(error == GL_OUT_OF_MEMORY ? QObject::tr("out of memory")
                                             : QObject::tr("framebuffer status 0x%1, error 0x%2")
                                                   .arg(status, 0, 16)
                                                   .arg(error, 0, 16));
  }
  gl->glDisable(GL_SCISSOR_TEST);
  gl->glStencilMask(~0U);
  gl->glClearStencil(0);
  gl->glClear(GL_STENCIL_BUFFER_BIT);
  picture_ = QImage(size, QImage::Format_RGB32);
  return !picture_.isNull() || refused(QObject::tr("out of memory"));
}

void GlCanvas::destroy_frame() {
  QOpenGLExtraFunctions* gl = context_.extraFunctions();
  gl->glDeleteFramebuffers(1, &frame_);
  gl->glDeleteRenderbuffers(1, &depth_);
  gl->glDeleteTextures(1, &colour_);
  frame_ = depth_ = colour_ = 0;
  picture_ = QImage();
}

bool GlCanvas::begin(const QSize& pixels) {
  if (!make_current()) {
    return valid_ ? fail(QObject::tr("The OpenGL context was lost: open the view again.")) : false;
  }
  const QSize size = pixels.expandedTo({1, 1});
  if (picture_.size() != size) {
    destroy_frame();
    if (!create_frame(size)) return done_current(), false;
  }
  error_.clear();
  context_.extraFunctions()->glBindFramebuffer(GL_FRAMEBUFFER, frame_);
  context_.functions()->glViewport(0, 0, size.width(), size.height());
  return true;
}

void GlCanvas::end() {
  QOpenGLFunctions* gl = context_.functions();
  gl->glPixelStorei(GL_PACK_ALIGNMENT, 4);
  gl->glReadPixels(0, 0, picture_.width(), picture_.height(), bgra, GL_UNSIGNED_BYTE,
                   picture_.bits());
  picture_.mirror();  // In OpenGL the lowest row is first.
  done_current();
}

}  // namespace conelab::desktop
