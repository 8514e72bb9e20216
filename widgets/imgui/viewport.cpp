#include "widgets/imgui/viewport.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <QClipboard>
#include <QElapsedTimer>
#include <QGuiApplication>
#include <QInputMethodEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QObject>
#include <QOpenGLContext>
#include <QOpenGLExtraFunctions>
#include <QOpenGLFunctions>
#include <QPainter>
#include <Qt>
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/drawing/fonts.h"

namespace conelab::desktop {
namespace {

constexpr float text_height = 14;

const char* clipboard_text(void*) {
  static QByteArray kept;
  kept = QGuiApplication::clipboard()->text().toUtf8();
  return kept.constData();
}

void set_clipboard_text(void*, const char* text) {
  QGuiApplication::clipboard()->setText(QString::fromUtf8(text));
}

int button_index(Qt::MouseButton button) {
  if (button == Qt::LeftButton) return 0;
  if (button == Qt::RightButton) return 1;
  return button == Qt::MiddleButton ? 2 : -1;
}

void add_font(figure::FontFile file, float size, const ImWchar* ranges, bool merge) {
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;  // The bytes live as long as the program.
  config.MergeMode = merge;
  config.OversampleH = 2;
  const figure::Bytes bytes = figure::font_bytes(file);
  ImGui::GetIO().Fonts->AddFontFromMemoryTTF(
      const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data())),
      static_cast<int>(bytes.size()), size, &config, ranges);
}

qint64 now() {
  static const QElapsedTimer clock = [] {
    QElapsedTimer timer;
    timer.start();
    return timer;
  }();
  return clock.nsecsElapsed();
}

}  // namespace

Viewport::Viewport() {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAttribute(Qt::WA_OpaquePaintEvent);
  settling_.setSingleShot(true);
  settling_.setInterval(settling);
  connect(&settling_, &QTimer::timeout, this, [this] { update(); });
  context_ = ImGui::CreateContext();
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.GetClipboardTextFn = clipboard_text;
  io.SetClipboardTextFn = set_clipboard_text;
  map_keys(io);
}

Viewport::~Viewport() {
  release();
  ImGui::DestroyContext(context_);
}

void Viewport::release() {
  if (!renderer_ || !canvas_.make_current()) return;
  ImGui::SetCurrentContext(context_);
  destroy_scene();
  ImGui_ImplOpenGL3_Shutdown();
  renderer_ = false;
  canvas_.done_current();
}

void Viewport::initialise() {
  if (renderer_) return;
  renderer_ = ImGui_ImplOpenGL3_Init("#version 330 core");
  create_scene();
}

void Viewport::load_fonts(double density) {
  static const ImWchar latin[] = {0x20, 0x24f, 0x370, 0x3ff, 0x2010, 0x2030, 0};
  static const ImWchar signs[] = {0x1d40, 0x1dbf, 0x2070, 0x209f, 0x2190,
                                  0x22ff, 0x25a0, 0x25ff, 0};
  ImGuiIO& io = ImGui::GetIO();
  io.Fonts->Clear();
  const float size = text_height * static_cast<float>(density);
  add_font(figure::FontFile::regular, size, latin, false);
  add_font(figure::FontFile::fallback, size, signs, true);
  io.FontGlobalScale = 1 / static_cast<float>(density);
  if (atlas_density_ != 0) ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
  atlas_density_ = density;
}

void Viewport::begin_frame() {
  const double density = devicePixelRatioF();
  if (atlas_density_ != density) load_fonts(density);
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = ImVec2(static_cast<float>(width()), static_cast<float>(height()));
  io.DisplayFramebufferScale = ImVec2(static_cast<float>(density), static_cast<float>(density));
  const qint64 time = now();
  io.DeltaTime = std::clamp(static_cast<float>(time - last_frame_) * 1e-9F, 1e-4F, 0.1F);
  last_frame_ = time;
  if (queue_.apply(io)) wanted_ = std::max(wanted_, 3);
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
}

// Parts that were covered are painted from the last picture.
void Viewport::paintEvent(QPaintEvent*) {
  const QSize pixels = size() * devicePixelRatioF();
  if ((wanted_ > 0 || pixels != drawn_) && canvas_.begin(pixels)) {
    drawn_ = pixels;
    drawing_ = true;
    draw_frame();
    drawing_ = false;
    canvas_.end();
  }
  QPainter painter(this);
  if (canvas_.picture().isNull()) {
    painter.fillRect(rect(), ground());
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(rect().adjusted(20, 20, -20, -20), Qt::AlignCenter | Qt::TextWordWrap,
                     canvas_.error());
    setAccessibleDescription(canvas_.error());
    return;
  }
  painter.drawImage(rect(), canvas_.picture());
  draw_over(painter);
}

void Viewport::draw_frame() {
  ImGui::SetCurrentContext(context_);
  initialise();
  begin_frame();
  controls_.swap(controls_before_);
  controls_.clear();
  draw_controls();
  ImGui::Render();
  if (!covers_ground()) {
    const QColor back = ground();
    QOpenGLFunctions* gl = QOpenGLContext::currentContext()->functions();
    gl->glClearColor(back.redF(), back.greenF(), back.blueF(), 1);
    gl->glClear(GL_COLOR_BUFFER_BIT);
  }
  draw_scene();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  ++painted_;
  setAttribute(Qt::WA_InputMethodEnabled, ImGui::GetIO().WantTextInput);
  show_cursor();
  wanted_ = std::max(0, wanted_ - 1);
  if (wanted_ > 0) queue_.empty() ? settling_.start() : update();
}

void Viewport::wake(int frames) {
  wanted_ = std::max(wanted_, frames);
  if (!drawing_) update();  // Changes made by a frame appear in it or in the following ones.
}

QRectF Viewport::control(const std::string& label) const {
  const auto found = controls_.find(label);
  return found == controls_.end() ? QRectF() : found->second;
}

QColor Viewport::ground() const { return palette().color(QPalette::Base); }

void Viewport::show_cursor() {
  switch (ImGui::GetMouseCursor()) {
    case ImGuiMouseCursor_Hand:
      return setCursor(Qt::PointingHandCursor);
    case ImGuiMouseCursor_TextInput:
      return setCursor(Qt::IBeamCursor);
    case ImGuiMouseCursor_ResizeAll:
      return setCursor(Qt::SizeAllCursor);
    case ImGuiMouseCursor_ResizeEW:
      return setCursor(Qt::SizeHorCursor);
    case ImGuiMouseCursor_ResizeNS:
      return setCursor(Qt::SizeVerCursor);
    default:
      return unsetCursor();
  }
}

// ---- events -------------------------------------------------------------------------------------

void Viewport::pointer(const QPointF& at) {
  queue_.push(PointerMove{static_cast<float>(at.x()), static_cast<float>(at.y())});
}

bool Viewport::button(QEvent* event) {
  const auto* mouse = static_cast<QMouseEvent*>(event);
  const int index = button_index(mouse->button());
  pointer(mouse->position());
  if (event->type() == QEvent::MouseMove) return true;
  if (index < 0) return false;
  // Qt sends a double click in place of a press.
  queue_.push(ButtonChange{index, event->type() != QEvent::MouseButtonRelease});
  return true;
}

void Viewport::wheel(const QWheelEvent& event) {
  pointer(event.position());
  queue_.push(WheelTurn{static_cast<float>(event.angleDelta().x()) / 120,
                        static_cast<float>(event.angleDelta().y()) / 120});
}

bool Viewport::key(QEvent* event) {
  auto* key = static_cast<QKeyEvent*>(event);
  const Qt::KeyboardModifiers held = key->modifiers();
  const ImGuiIO& io = ImGui::GetIO();
  queue_.push(Modifiers{held.testFlag(Qt::ControlModifier), held.testFlag(Qt::ShiftModifier),
                        held.testFlag(Qt::AltModifier), held.testFlag(Qt::MetaModifier)});
  queue_.push(KeyChange{key_index(key->key()), event->type() == QEvent::KeyPress});
  const QString text = key->text();
  if (event->type() == QEvent::KeyPress && !text.isEmpty() && text[0].isPrint()) {
    queue_.push(TextEntry{text.toStdString()});
  }
  // Keys that no control waits for are shortcuts, or move the focus to the next widget.
  return io.WantCaptureKeyboard || io.WantTextInput;
}

bool Viewport::event(QEvent* event) {
  ImGui::SetCurrentContext(context_);
  bool taken = false;
  switch (event->type()) {
    case QEvent::MouseMove:
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonDblClick:
    case QEvent::MouseButtonRelease:
      taken = button(event);
      break;
    case QEvent::Wheel:
      wheel(*static_cast<QWheelEvent*>(event)), taken = true;
      break;
    case QEvent::KeyPress:
    case QEvent::KeyRelease:
      taken = key(event);
      break;
    case QEvent::InputMethod:
      queue_.push(TextEntry{static_cast<QInputMethodEvent*>(event)->commitString().toStdString()});
      taken = true;
      break;
    case QEvent::ShortcutOverride:
      if (ImGui::GetIO().WantTextInput) event->accept();
      return event->isAccepted();
    case QEvent::Leave:
      queue_.push(PointerLeave{});
      break;
    case QEvent::FocusOut:
      queue_.push(FocusLoss{});
      break;
    case QEvent::PaletteChange:
    case QEvent::Show:
      break;
    default:
      return QWidget::event(event);
  }
  wake();
  if (taken) {
    event->accept();
    if (event->type() == QEvent::MouseButtonPress) setFocus(Qt::MouseFocusReason);
    return true;
  }
  return QWidget::event(event);
}

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

namespace {

struct Apply {
  ImGuiIO& io;
  void operator()(const PointerMove& e) const { io.MousePos = ImVec2(e.x, e.y); }
  void operator()(const PointerLeave&) const { io.MousePos = ImVec2(-FLT_MAX, -FLT_MAX); }
  void operator()(const ButtonChange& e) const { io.MouseDown[e.index] = e.down; }
  void operator()(const WheelTurn& e) const {
    io.MouseWheelH += e.horizontal;
    io.MouseWheel += e.vertical;
  }
  void operator()(const KeyChange& e) const { io.KeysDown[e.index] = e.down; }
  void operator()(const Modifiers& e) const {
    io.KeyCtrl = e.control;
    io.KeyShift = e.shift;
    io.KeyAlt = e.alt;
    io.KeySuper = e.super;
  }
  void operator()(const TextEntry& e) const { io.AddInputCharactersUTF8(e.utf8.c_str()); }
  // The release of a key or button elsewhere is never reported.
  void operator()(const FocusLoss&) const {
    std::fill(std::begin(io.KeysDown), std::end(io.KeysDown), false);
    std::fill(std::begin(io.MouseDown), std::end(io.MouseDown), false);
    (*this)(Modifiers{false, false, false, false});
  }
};

bool is_change(const InputEvent& event) {
  return std::holds_alternative<ButtonChange>(event) || std::holds_alternative<KeyChange>(event);
}

bool is_movement(const InputEvent& event) {
  return std::holds_alternative<PointerMove>(event) || std::holds_alternative<PointerLeave>(event);
}

}  // namespace

bool InputQueue::apply(ImGuiIO& io) {
  bool changed = false;
  while (!events_.empty()) {
    const InputEvent& event = events_.front();
    if (changed && (is_change(event) || is_movement(event))) break;
    changed = changed || is_change(event);
    std::visit(Apply{io}, event);
    events_.pop_front();
  }
  return !events_.empty();
}

int key_index(int qt_key) {
  constexpr int special = 0x01000000;  // The first of Qt's keys without a Latin character.
  return qt_key >= special ? 256 + (qt_key & 0xff) : qt_key & 0xff;
}

void map_keys(ImGuiIO& io) {
  const std::pair<ImGuiKey_, Qt::Key> keys[] = {
      {ImGuiKey_Tab, Qt::Key_Tab},
      {ImGuiKey_LeftArrow, Qt::Key_Left},
      {ImGuiKey_RightArrow, Qt::Key_Right},
      {ImGuiKey_UpArrow, Qt::Key_Up},
      {ImGuiKey_DownArrow, Qt::Key_Down},
      {ImGuiKey_PageUp, Qt::Key_PageUp},
      {ImGuiKey_PageDown, Qt::Key_PageDown},
      {ImGuiKey_Home, Qt::Key_Home},
      {ImGuiKey_End, Qt::Key_End},
      {ImGuiKey_Insert, Qt::Key_Insert},
      {ImGuiKey_Delete, Qt::Key_Delete},
      {ImGuiKey_Backspace, Qt::Key_Backspace},
      {ImGuiKey_Space, Qt::Key_Space},
      {ImGuiKey_Enter, Qt::Key_Return},
      {ImGuiKey_KeyPadEnter, Qt::Key_Enter},
      {ImGuiKey_Escape, Qt::Key_Escape},
      {ImGuiKey_A, Qt::Key_A},
      {ImGuiKey_C, Qt::Key_C},
      {ImGuiKey_V, Qt::Key_V},
      {ImGuiKey_X, Qt::Key_X},
      {ImGuiKey_Y, Qt::Key_Y},
      {ImGuiKey_Z, Qt::Key_Z},
  };
  for (const auto& [own, qt] : keys) io.KeyMap[own] = key_index(qt);
}

}  // namespace conelab::desktop
