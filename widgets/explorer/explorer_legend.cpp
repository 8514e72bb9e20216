// The legend of the heat layer. Each pane has its own, because each family has its own depths.
#include <imgui.h>

#include <algorithm>

#include "widgets/explorer/explorer_viewport.h"
#include "widgets/imgui/overlay.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr float bar = 96, thick = 8;  ///< Size of the colour bar in pixels.
constexpr int parts = 24;
/// Width of the view from which a legend fits next to the points. In the half-plane it is below
/// them.
constexpr int narrowest = 380;

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

namespace {

/// A zero has no sign.
std::string short_number(double value) { return fmt::format("{:.3g}", value + 0.0); }

/// Returns what the colours show: "penumbral K", "dot u·x/√2".
std::string heat_name(const ConeChoice& choice, const ConeScene& scene) {
  if (const auto* other = other_similarity(choice)) {
    return fmt::format("{} {}", other->name, other->formula);
  }
  return choice.family + " " + similarity_name(scene, "u, x");
}

/// Returns the distance of the level lines, which are at its multiples; empty for a family.
std::string step_note(const ConeChoice& choice, const figure::SimilarityRange& range) {
  if (!choice.level_lines || other_similarity(choice) == nullptr) return "";
  return "lines every " +
         short_number(figure::round_level_step(range.low, range.high, most_level_lines));
}

}  // namespace

/// Returns the corner of a pane in which a legend of this size covers no point and not the
/// settings; the lower left one if there is none.
QPointF ExplorerViewport::legend_place(std::size_t pane, const QSizeF& size) const {
  const figure::Box& box = panes_[pane].box;
  const std::vector<QPointF> points = points_shown(pane);
  const double left = box.x + 6, right = box.right() - 6 - size.width();
  const double low = box.bottom() - 5 - size.height(), high = box.y + 6;
  for (const QPointF& at : {QPointF(left, low), {right, low}, {right, high}, {left, high}}) {
    const QRectF place(at, size);
    constexpr double radius = 7;  // Of a point.
    const QRectF around = place.adjusted(-radius, -radius, radius, radius);
    const auto covered = [&](const QPointF& p) { return around.contains(p); };
    const auto crossed = [&](const figure::Box& title) {
      return place.intersects({title.x, title.y, title.width, title.height});
    };
    if (std::none_of(points.begin(), points.end(), covered) &&
        std::none_of(titles_.begin(), titles_.end(), crossed) &&
        !place.intersects(settings_place_)) {
      return at;
    }
  }
  return {left, low};
}

/// Names the similarity that the colours show, with the values at their ends: beyond a bound with
/// "≤" there are smaller values of the same colour. A pane that is too narrow has the values alone.
void ExplorerViewport::draw_legend(std::size_t pane) {
  const Pane& p = panes_[pane];
  const bool coloured = p.heat || (shown_.heat && shown_.model == "hyperboloid");
  const bool fits = width() >= narrowest || shown_.model == "halfspace";
  if (!coloured || !p.scene.error.empty() || !fits) return;
  const figure::SimilarityRange range = heat_range(
      p.choice, p.scene, shown_.model == "hyperboloid" ? usual_part : plane_part(frame(pane)));
  const std::string low = (range.lower ? "≤ " : "") + short_number(range.low),
                    high = short_number(range.high);
  std::string name = heat_name(p.choice, p.scene) + "  ";
  const std::string moving = "heat every 8 px while moving", still = step_note(p.choice, range);
  std::string note = p.heat && heat_step_ == coarse_step ? moving : still;
  const auto room = static_cast<float>(p.box.width) - 24;
  const float own = wide(low) + bar + wide(high) + 12;
  if (own > room) return;
  if (own + wide(name) > room) name.clear();
  if (own + wide(name) + wide(note) + 12 > room) note.clear();
  const float whole = own + wide(name) + (note.empty() ? 0 : wide(note) + 12);
  // The corner is chosen for the longest note, so that it stays the same while something moves.
  const float longest = own + wide(name) + std::max(wide(moving), wide(still)) + 12;
  const QPointF at = legend_place(pane, {std::max(whole, std::min(longest, room)) + 12, 22});
  legends_.push_back({at.x(), at.y(), whole + 12, 22});
  float x = static_cast<float>(at.x()) + 6;
  const float y = static_cast<float>(at.y()) + 4;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.AddRectFilled(ImVec2(x - 6, y - 4), ImVec2(x + whole + 6, y + 18),
                     packed(palette().color(QPalette::Base), 0.8), 4);
  const auto write = [&](const std::string& text) {
    list.AddText(ImVec2(x, y), packed(palette().color(QPalette::WindowText)), text.c_str());
    x += wide(text);
  };
  write(name);
  write(low);
  draw_colours(list, x + 6, y + 3,
               is_dark(palette()) ? figure::ColourMap::dark : figure::ColourMap::sequential);
  x += bar + 12;
  write(high);
  x += 12;
  write(note);
}

}  // namespace conelab::desktop
