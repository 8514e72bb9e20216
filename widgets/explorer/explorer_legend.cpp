// The legend of the heat layer. Each pane has its own, because each family has its own depths.
#include <imgui.h>

#include "widgets/explorer/explorer_viewport.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr float bar = 96, thick = 8;  ///< Size of the colour bar in pixels.
constexpr int parts = 24;
constexpr int narrowest = 380;  ///< Width of a pane from which a legend fits next to the points.

ImU32 packed(const QColor& c, double alpha = 1) {
  return IM_COL32(c.red(), c.green(), c.blue(), static_cast<int>(255 * alpha));
}

float wide(const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; }

void draw_colours(ImDrawList& list, float x, float y, figure::ColourMap map) {
  for (int i = 0; i < parts; ++i) {
    const figure::Colour c = figure::colour_at(map, (i + 0.5) / parts);
    const float a = x + bar * static_cast<float>(i) / parts;
    list.AddRectFilled(ImVec2(a, y), ImVec2(a + bar / parts + 0.5F, y + thick),
                       IM_COL32(c.r, c.g, c.b, 255));
  }
}

}  // namespace

/// Writes the depths at the ends of the colours, and the resolution while the layer is refined.
void ExplorerViewport::draw_legend(std::size_t pane) {
  const Pane& p = panes_[pane];
  const bool coloured = p.heat || (shown_.heat && shown_.model == "hyperboloid");
  if (!coloured || !p.scene.error.empty() || width() < narrowest) return;
  const double lambda = shown_.model == "halfspace" ? frame(pane).lambda() : 1;
  const DepthRange range = depth_range(p.scene, lambda);
  const std::string low = fmt::format("K {:.3g}", range.low),
                    high = fmt::format("{:.3g}", range.high);
  std::string note = p.heat && heat_step_ == coarse_step ? "heat every 8 px while moving" : "";
  const float x = static_cast<float>(p.box.x) + 12, y = static_cast<float>(p.box.bottom()) - 20;
  const float own = wide(low) + bar + wide(high) + 22;
  const auto room = static_cast<float>(p.box.width) - 24;
  if (own > room) return;
  if (own + wide(note) + 10 > room) note.clear();
  const ImVec2 from(x - 6, y - 7), to(x + own + (note.empty() ? 0 : wide(note) + 10), y + 15);
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.AddRectFilled(from, to, packed(palette().color(QPalette::Base), 0.8), 4);
  legends_.push_back({from.x, from.y, to.x - from.x, to.y - from.y});
  const ImU32 ink = packed(palette().color(QPalette::WindowText));
  list.AddText(ImVec2(x, y - 3), ink, low.c_str());
  draw_colours(list, x + wide(low) + 6, y,
               is_dark(palette()) ? figure::ColourMap::dark : figure::ColourMap::sequential);
  list.AddText(ImVec2(x + wide(low) + bar + 12, y - 3), ink, high.c_str());
  if (!note.empty()) list.AddText(ImVec2(x + own, y - 3), ink, note.c_str());
}

}  // namespace conelab::desktop
