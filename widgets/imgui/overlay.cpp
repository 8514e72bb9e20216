#include "widgets/imgui/overlay.h"

#include <QPalette>

namespace conelab::desktop {
namespace {

constexpr float margin = 10;

ImVec4 colour(const QColor& c, double alpha = 1) {
  return {static_cast<float>(c.redF()), static_cast<float>(c.greenF()),
          static_cast<float>(c.blueF()), static_cast<float>(alpha)};
}

QColor mixed(const QColor& a, const QColor& b, double t) {
  return QColor::fromRgbF(static_cast<float>(a.redF() + (b.redF() - a.redF()) * t),
                          static_cast<float>(a.greenF() + (b.greenF() - a.greenF()) * t),
                          static_cast<float>(a.blueF() + (b.blueF() - a.blueF()) * t));
}

}  // namespace

void apply_palette(const QPalette& palette) {
  ImGuiStyle& style = ImGui::GetStyle();
  const QColor window = palette.color(QPalette::Window), text = palette.color(QPalette::WindowText);
  const QColor accent = palette.color(QPalette::Highlight);
  const QColor field = mixed(window, text, 0.10), raised = mixed(window, text, 0.18);
  style.WindowRounding = 6;
  style.FrameRounding = 4;
  style.GrabRounding = 4;
  style.WindowPadding = ImVec2(10, 8);
  style.ItemSpacing = ImVec2(8, 5);
  style.WindowBorderSize = 1;
  ImVec4* c = style.Colors;
  c[ImGuiCol_Text] = colour(text);
  c[ImGuiCol_TextDisabled] = colour(mixed(text, window, 0.45));
  c[ImGuiCol_WindowBg] = colour(window);
  c[ImGuiCol_PopupBg] = colour(window, 0.98);
  c[ImGuiCol_Border] = colour(mixed(window, text, 0.22));
  c[ImGuiCol_FrameBg] = colour(field);
  c[ImGuiCol_FrameBgHovered] = c[ImGuiCol_FrameBgActive] = colour(raised);
  c[ImGuiCol_Button] = colour(field);
  c[ImGuiCol_ButtonHovered] = colour(raised);
  c[ImGuiCol_ButtonActive] = c[ImGuiCol_CheckMark] = colour(accent);
  c[ImGuiCol_SliderGrab] = c[ImGuiCol_SliderGrabActive] = colour(accent);
  c[ImGuiCol_Header] = colour(field);
  c[ImGuiCol_HeaderHovered] = c[ImGuiCol_HeaderActive] = colour(raised);
}

QRectF OverlaySpot::place(const QSizeF& size, const QSizeF& viewport) const {
  const double from = margin + away, side = margin + across;
  return {QPointF(right ? viewport.width() - side - size.width() : side,
                  low ? viewport.height() - from - size.height() : from),
          size};
}

QSizeF Overlay::size() const {
  const ImVec2 size = ImGui::GetWindowSize();
  return {size.x, size.y};
}

Overlay::Overlay(Viewport& viewport, const char* name, const OverlaySpot& spot, float opacity)
    : viewport_(viewport) {
  const QRectF at = spot.place({0, 0}, viewport.size());
  ImGui::SetNextWindowPos(imgui_point(at.topLeft()), ImGuiCond_Always,
                          ImVec2(spot.right ? 1 : 0, spot.low ? 1 : 0));
  ImGui::SetNextWindowBgAlpha(opacity);
  ImGui::Begin(name, nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                   ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoFocusOnAppearing |
                   ImGuiWindowFlags_NoNav);
}

void Overlay::record(const char* label) {
  const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
  viewport_.record_control(label, QRectF(QPointF(a.x, a.y), QPointF(b.x, b.y)));
}

bool Overlay::button(const char* label) {
  const bool pressed = ImGui::Button(label);
  record(label);
  return pressed;
}

bool Overlay::checkbox(const char* label, bool& value) {
  const bool changed = ImGui::Checkbox(label, &value);
  record(label);
  return changed;
}

bool Overlay::slider(const char* label, double& value, double low, double high, const char* format,
                     bool logarithmic) {
  ImGui::SetNextItemWidth(130);
  const bool changed =
      ImGui::SliderScalar(label, ImGuiDataType_Double, &value, &low, &high, format,
                          logarithmic ? ImGuiSliderFlags_Logarithmic : ImGuiSliderFlags_None);
  record(label);
  return changed;
}

void Overlay::tooltip(const char* text) {
  if (!ImGui::IsItemHovered()) return;
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(text);
  const ImVec2 at = ImGui::GetWindowPos(), extent = ImGui::GetWindowSize();
  viewport_.record_control("tooltip", QRectF(at.x, at.y, extent.x, extent.y));
  ImGui::EndTooltip();
}

std::uint32_t packed(const QColor& colour, double alpha) {
  return IM_COL32(colour.red(), colour.green(), colour.blue(), static_cast<int>(255 * alpha));
}

}  // namespace conelab::desktop
