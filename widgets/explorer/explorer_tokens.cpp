// The points of tokens in the explorer's viewport: drawing, pointing and choosing.
#include <imgui.h>

#include <cmath>

#include "widgets/explorer/explorer_viewport.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

ImU32 packed(const QColor& c, int alpha = 255) {
  return IM_COL32(c.red(), c.green(), c.blue(), alpha);
}

}  // namespace

std::optional<std::size_t> token_at(const TokenMarks& marks, const PlaneFrame& frame, double x,
                                    double y, double reach) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < marks.places.size(); ++i) {
    const PlanePoint p = frame.page(marks.places[i]);
    const double away = std::hypot(p.x - x, p.y - y);
    if (away <= reach) best = i, reach = away;
  }
  return best;
}

void ExplorerViewport::show_tokens(TokenMarks marks) {
  tokens_ = std::move(marks);
  wake();
}

QPointF ExplorerViewport::token_place(std::size_t token) const {
  const PlanePoint p = frame().page(tokens_.places.at(token));
  return {p.x, p.y};
}

void ExplorerViewport::draw_tokens() {
  if (in_space()) return;  // Tokens are shown in the models of the plane only.
  ImDrawList* list = ImGui::GetBackgroundDrawList();
  const PlaneFrame f = frame();
  const ImU32 ground = packed(palette().color(QPalette::Base), 217);
  const ImU32 ink = packed(palette().color(QPalette::WindowText), 200);
  for (std::size_t i = 0; i < tokens_.places.size(); ++i) {
    const PlanePoint p = f.page(tokens_.places[i]);
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;  // An undefined token.
    const ImVec2 at(static_cast<float>(p.x), static_cast<float>(p.y));
    const bool focused = tokens_.focused == i;
    list->AddCircleFilled(at, focused ? 5.5F : 4.0F, ground, 16);
    list->AddCircleFilled(at, focused ? 4.5F : 2.8F, focused ? packed(focus_colour()) : ink, 16);
  }
}

void ExplorerViewport::point_at_tokens() {
  if (in_space()) return;
  const ImGuiIO& io = ImGui::GetIO();
  // While a button is pressed, something else is being dragged.
  if (io.WantCaptureMouse || (ImGui::IsMouseDown(0) && !ImGui::IsMouseClicked(0))) return;
  const auto under = token_at(tokens_, frame(), io.MousePos.x, io.MousePos.y);
  if (under) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (under != token_under_) {
    token_under_ = under;
    emit token_pointed(under ? static_cast<int>(*under) : -1);
  }
  if (under && ImGui::IsMouseClicked(0)) emit token_chosen(static_cast<int>(*under));
}

}  // namespace conelab::desktop
