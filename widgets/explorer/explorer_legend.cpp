// The legend of the heat layer. Each pane has its own, because each family has its own depths.
#include <imgui.h>

#include <algorithm>

#include "widgets/explorer/explorer_viewport.h"
#include "widgets/imgui/overlay.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

/// Size of the colour bar in pixels. It is shorter in a pane without room.
constexpr float longest_bar = 96, shortest_bar = 32, thick = 8;
constexpr int parts = 24;
/// Width of a view below which only the half-plane, whose legend lies below the points, has a
/// legend if it would cover a point everywhere; and in which the legend has no name.
constexpr int narrow = 380;

float wide(const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; }

void draw_colours(ImDrawList& list, float x, float y, float bar, figure::ColourMap map) {
  for (int i = 0; i < parts; ++i) {
    const figure::Colour c = figure::colour_at(map, (i + 0.5) / parts);
    const float a = x + bar * static_cast<float>(i) / parts;
    list.AddRectFilled(ImVec2(a, y), ImVec2(a + bar / parts + 0.5F, y + thick),
                       IM_COL32(c.r, c.g, c.b, 255));
  }
}

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

/// The texts of a legend, from left to right. Its bar stands between `low` and `high`.
struct Legend {
  std::string name, low, high, note;
  float bar = longest_bar;

  [[nodiscard]] float width_with(const std::string& said) const {
    return wide(name) + wide(low) + bar + wide(high) + 12 + (said.empty() ? 0 : wide(said) + 12);
  }
};

void draw(ImDrawList& list, const Legend& legend, const QPointF& at, const QPalette& palette) {
  float x = static_cast<float>(at.x()) + 6;
  const float y = static_cast<float>(at.y()) + 4;
  list.AddRectFilled(ImVec2(x - 6, y - 4), ImVec2(x + legend.width_with(legend.note) + 6, y + 18),
                     packed(palette.color(QPalette::Base), 0.8), 4);
  const auto write = [&](const std::string& text) {
    list.AddText(ImVec2(x, y), packed(palette.color(QPalette::WindowText)), text.c_str());
    x += wide(text);
  };
  write(legend.name);
  write(legend.low);
  draw_colours(list, x + 6, y + 3, legend.bar,
               is_dark(palette) ? figure::ColourMap::dark : figure::ColourMap::sequential);
  x += legend.bar + 12;
  write(legend.high);
  x += 12;
  write(legend.note);
}

}  // namespace

/// Returns the corner of a pane in which a legend of this size covers no point and not the
/// settings, if there is one.
std::optional<QPointF> ExplorerViewport::legend_place(std::size_t pane, const QSizeF& size) const {
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
      return place.intersects(desktop_rect(title));
    };
    if (std::ranges::none_of(points, covered) && std::ranges::none_of(titles_, crossed) &&
        !place.intersects(settings_place_)) {
      return at;
    }
  }
  return std::nullopt;
}

/// Names the similarity that the colours show, with the values at their ends: beyond a bound with
/// "≤" there are smaller values of the same colour. A pane that is too narrow has the values alone.
void ExplorerViewport::draw_legend(std::size_t pane) {
  const Pane& p = panes_[pane];
  const bool coloured = p.heat || (shown_.heat && shown_.model == "hyperboloid");
  if (!coloured || !p.scene.error.empty()) return;
  const figure::SimilarityRange range = heat_range(
      p.choice, p.scene, shown_.model == "hyperboloid" ? usual_part : plane_part(frame(pane)));
  Legend legend;
  legend.low = (range.lower ? "≤ " : "") + short_number(range.low);
  legend.high = short_number(range.high);
  const auto room = static_cast<float>(p.box.width) - 24;
  const float bar = room - (legend.width_with("") - longest_bar);
  if (bar < shortest_bar) return;
  legend.bar = std::min(bar, longest_bar);
  const bool beside_points = width() < narrow && shown_.model != "halfspace";
  std::string moving, still;
  if (!beside_points) {
    moving = "heat every 8 px while moving", still = step_note(p.choice, range);
    legend.name = heat_name(p.choice, p.scene) + "  ";
    if (legend.width_with("") > room) legend.name.clear();
    legend.note = p.heat && heat_step_ == coarse_step ? moving : still;
    if (legend.width_with(legend.note) > room) legend.note.clear();
  }
  // The corner is chosen for the longest note, so that it stays the same while something moves.
  const float whole = legend.width_with(legend.note);
  const float longest = std::max(legend.width_with(moving), legend.width_with(still));
  const auto free = legend_place(pane, {std::max(whole, std::min(longest, room)) + 12, 22});
  if (!free && beside_points) return;
  const QPointF at = free.value_or(QPointF(p.box.x + 6, p.box.bottom() - 27));
  legends_.push_back({at.x(), at.y(), whole + 12, 22});
  draw(*ImGui::GetBackgroundDrawList(), legend, at, palette());
}

}  // namespace conelab::desktop
