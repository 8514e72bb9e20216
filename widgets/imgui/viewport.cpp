#include "widgets/imgui/viewport.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <QClipboard>
#include <QElapsedTimer>
#include <QGuiApplication>
#include <QInputMethodEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QOpenGLContext>
#include <QOpenGLFunctions>
#include <QPainter>
#include <algorithm>

#include "core/figure/fonts.h"

namespace conelab::desktop {
namespace {

constexpr float text_height = 14;
constexpr int settling = 16;  ///< Milliseconds before a further frame without an input.

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

Viewport::Viewport(QWidget* parent) : QWidget(parent) {
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

bool Viewport::wheel(QEvent* event) {
  const auto* wheel = static_cast<QWheelEvent*>(event);
  pointer(wheel->position());
  queue_.push(WheelTurn{static_cast<float>(wheel->angleDelta().x()) / 120,
                        static_cast<float>(wheel->angleDelta().y()) / 120});
  return true;
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

bool Viewport::input_method(QEvent* event) {
  const QString text = static_cast<QInputMethodEvent*>(event)->commitString();
  if (!text.isEmpty()) queue_.push(TextEntry{text.toStdString()});
  return true;
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
      taken = wheel(event);
      break;
    case QEvent::KeyPress:
    case QEvent::KeyRelease:
      taken = key(event);
      break;
    case QEvent::InputMethod:
      taken = input_method(event);
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

}  // namespace conelab::desktop
