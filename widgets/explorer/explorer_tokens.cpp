// The points of tokens in the explorer's viewport, and the names of all points: drawing, pointing
// and choosing.
#include <imgui.h>

#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <unordered_map>

#include "widgets/explorer/explorer_viewport.h"
#include "widgets/explorer/heat_field.h"
#include "widgets/imgui/overlay.h"
#include "widgets/painter/painter.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr int longest_name = 120;        ///< Pixels; longer names are cut.
constexpr std::size_t most_names = 400;  ///< Tokens whose names are placed if there is space.
constexpr double token_radius = 4;       ///< Pixels.
constexpr double token_reach = 9;        ///< Pixels within which a token is pointed at.
constexpr double same_place = 3;         ///< Pixels between points that look like one.

/// Returns the tokens in the order in which they get names: words before other tokens, and among
/// them the largest K with u first.
std::vector<std::size_t> naming_order(const TokenMarks& tokens, const ConeChoice& choice,
                                      const ConeScene& scene) {
  std::vector<std::size_t> order(tokens.places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.empty() || !scene.error.empty()) return order;
  const figure::SimilarityField field = heat_field(choice, scene);
  std::vector<std::pair<bool, double>> value;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const PlanePoint& p = tokens.places[i];
    const bool placed = std::isfinite(p.x) && std::isfinite(p.y);
    value.emplace_back(is_word(tokens.names[i]),
                       placed ? field.at({p.x, p.y}).similarity : -HUGE_VAL);
  }
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return value[a] > value[b]; });
  return order;
}

}  // namespace

std::set<std::int64_t> focused_and_ancestors(const TokenMarks& tokens) {
  std::set<std::int64_t> found;
  if (tokens.focused) found.insert(static_cast<std::int64_t>(*tokens.focused));
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const auto& [child, parent] : tokens.edges) {
      if (found.contains(child)) found.insert(parent);
    }
  }
  return found;
}

/// Computes what does not depend on the camera.
void ExplorerViewport::measure_tokens() {
  if (measured_names_ != tokens_.names) {
    measured_names_ = tokens_.names;
    token_labels_.assign(tokens_.names.size(), {});
  }
  focused_line_ = focused_and_ancestors(tokens_);
  naming_order_ = naming_order(tokens_, shown_, panes_[0].scene);
}

QPointF ExplorerViewport::token_place(std::size_t token) const {
  return pixel_of(0, tokens_.places.at(token));
}

void ExplorerViewport::draw_tokens() {
  ImDrawList* list = ImGui::GetBackgroundDrawList();
  const ImU32 ground = packed(palette().color(QPalette::Base), 0.85);
  const ImU32 ink = packed(palette().color(QPalette::WindowText), 0.785);
  constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();
  std::set<std::pair<int, int>> drawn;
  token_pixels_.assign(tokens_.places.size(), {nowhere, nowhere});
  for (std::size_t i = 0; i < tokens_.places.size(); ++i) {
    const PlanePoint& place = tokens_.places[i];
    if (!std::isfinite(place.x) || !std::isfinite(place.y)) continue;  // An undefined token.
    if (beyond_rim(place)) continue;
    const QPointF p = pixel_of(0, place);
    token_pixels_[i] = {p.x(), p.y()};
  }
  draw_edges();
  for (std::size_t i = 0; i < tokens_.places.size(); ++i) {
    const QPointF p(token_pixels_[i].x, token_pixels_[i].y);
    if (!std::isfinite(p.x())) continue;
    const ImVec2 at = imgui_point(p);
    const bool focused = tokens_.focused == i;
    // A point that would hide another one, or that is not on the pane, is not drawn again.
    const std::pair cell(static_cast<int>(p.x() / same_place),
                         static_cast<int>(p.y() / same_place));
    const bool seen = panes_[0].box.grown(token_radius).contains({p.x(), p.y()});
    if (!seen || (!drawn.insert(cell).second && !focused)) continue;
    list->AddCircleFilled(at, focused ? 5.5F : 4.0F, ground, 16);
    list->AddCircleFilled(at, focused ? 4.5F : 2.8F, focused ? packed(focus_colour()) : ink, 16);
  }
}

/// Draws the edges of the hierarchy between its nodes. Those to the ancestors of the focused node
/// stand out.
void ExplorerViewport::draw_edges() const {
  ImDrawList* list = ImGui::GetBackgroundDrawList();
  const ImU32 quiet = packed(palette().color(QPalette::WindowText), 0.25);
  for (const bool stands_out : {false, true}) {
    for (const auto& [child, parent] : tokens_.edges) {
      if (focused_line_.contains(child) != stands_out) continue;
      const figure::Point& a = token_pixels_[static_cast<std::size_t>(child)];
      const figure::Point& b = token_pixels_[static_cast<std::size_t>(parent)];
      if (!std::isfinite(a.x) || !std::isfinite(b.x)) continue;
      list->AddLine(imgui_point(a.x, a.y), imgui_point(b.x, b.y),
                    stands_out ? packed(focus_colour()) : quiet, stands_out ? 2.0F : 1.0F);
    }
  }
}

bool ExplorerViewport::beyond_rim(const PlanePoint& p) const {
  return shown_.model == "hyperboloid" && on_hyperboloid(p).z() > hyperboloid_rim;
}

std::optional<std::size_t> ExplorerViewport::token_under(const QPointF& p) const {
  return figure::nearest(token_pixels_, std::identity(), {p.x(), p.y()}, token_reach);
}

void ExplorerViewport::point_at_tokens() {
  const ImGuiIO& io = ImGui::GetIO();
  // While a button is pressed, something else is being dragged.
  if (io.WantCaptureMouse || (ImGui::IsMouseDown(0) && !ImGui::IsMouseClicked(0))) return;
  const auto under = token_under({io.MousePos.x, io.MousePos.y});
  if (under) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (under != token_under_) {
    token_under_ = under;
    emit token_pointed(under ? static_cast<int>(*under) : -1);
  }
  if (under && ImGui::IsMouseClicked(0)) emit token_chosen(static_cast<int>(*under));
}

// ---- names --------------------------------------------------------------------------------------

/// Finds places for the names of the marks, of the focused token, and of the other tokens, in this
/// order. A name without space is left out; those of the marks may cover tokens. No name lies over
/// a title, a legend or the settings.
void ExplorerViewport::place_names(std::size_t pane, const std::vector<NamedPoint>& marks,
                                   const std::vector<QString>& texts) {
  std::vector<figure::Box> taken = titles_;
  taken.insert(taken.end(), legends_.begin(), legends_.end());
  taken.push_back(figure_box(settings_place_));
  std::vector<std::size_t> tokens;
  const std::vector<NamedPoint> around =
      pane == 0 ? token_points(tokens) : std::vector<NamedPoint>();
  std::vector<NamedPoint> all = marks;
  all.insert(all.end(), around.begin(), around.end());
  auto boxes = desktop::place_names(all, panes_[pane].box, taken);
  const auto end = boxes.begin() + static_cast<std::ptrdiff_t>(marks.size());
  if (!around.empty() && std::find(boxes.begin(), end, std::nullopt) != end) {
    const auto own = desktop::place_names(marks, panes_[pane].box, taken);
    for (std::size_t i = 0; i < marks.size(); ++i) {
      taken.push_back(mark_box(marks[i]));
      if (own[i]) taken.push_back(*own[i]);
    }
    const auto others = desktop::place_names(around, panes_[pane].box, taken);
    boxes = own;
    boxes.insert(boxes.end(), others.begin(), others.end());
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < marks.size()) {
      names_.push_back({texts[i], boxes[i], {}});
    } else if (const std::size_t token = tokens[i - marks.size()]; all[i].width > 0) {
      names_.push_back({token_labels_[token].first, boxes[i], token});
    }
  }
}

/// Returns the name of a token as it is painted, and its width. Measuring takes long: it is done
/// once, and only for the tokens that get names.
const std::pair<QString, double>& ExplorerViewport::token_label(std::size_t token) {
  auto& label = token_labels_[token];
  if (label.second == 0) {
    label.first = fontMetrics().elidedText(QString::fromStdString(tokens_.names[token]),
                                           Qt::ElideRight, longest_name);
    label.second = fontMetrics().horizontalAdvance(label.first) + 6.0;
  }
  return label;
}

/// Returns the points of the tokens with the sizes of their names, in the order in which they get
/// them. The key of the pair is left out: it is named as v.
std::vector<NamedPoint> ExplorerViewport::token_points(std::vector<std::size_t>& tokens) {
  std::vector<std::size_t> order = naming_order_;
  const auto focused = std::ranges::find(order, tokens_.focused);
  if (focused != order.end()) std::rotate(order.begin(), focused, focused + 1);
  std::vector<NamedPoint> points;
  for (const std::size_t token : order) {
    const figure::Point& at = token_pixels_[token];
    if (!std::isfinite(at.x) || tokens_.key == token) continue;
    const double width = points.size() < most_names ? token_label(token).second : 0;
    points.push_back({at, token_radius, width, static_cast<double>(fontMetrics().height())});
    tokens.push_back(token);
  }
  return points;
}

/// Paints the names on their own background, so that they are legible on every picture.
void ExplorerViewport::draw_over(QPainter& painter) {
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF tip = control("tooltip");
  QColor ground = palette().color(QPalette::Base);
  for (const PlacedName& name : names_) {
    if (!name.box) continue;
    const QRectF box = desktop_rect(*name.box);
    if (box.intersects(settings_place_) || box.intersects(tip)) continue;
    ground.setAlphaF(name.token ? 0.6F : 0.85F);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ground);
    painter.drawRoundedRect(box, 3, 3);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(box, Qt::AlignCenter, name.text);
  }
}

namespace {

using figure::Box;

constexpr double name_gap = 5;  ///< Pixels between a mark and its name.

/// Returns the positions next to a mark in the order in which readers look for a name.
std::array<Box, 6> places_beside(const NamedPoint& p) {
  const double right = p.at.x + p.radius + name_gap, left = p.at.x - p.radius - name_gap - p.width;
  const double above = p.at.y - p.height - 1, below = p.at.y + 3, middle = p.at.x - p.width / 2;
  const double over = p.at.y - p.radius - 3 - p.height, under = p.at.y + p.radius + 3;
  const auto box = [&](double x, double y) { return Box{x, y, p.width, p.height}; };
  return {box(right, above), box(right, below), box(left, above),
          box(left, below),  box(middle, over), box(middle, under)};
}

bool holds(const Box& area, const Box& box) {
  return box.x >= area.x && box.y >= area.y && box.right() <= area.right() &&
         box.bottom() <= area.bottom();
}

/// Boxes by the cells of a grid that they touch, so that a box is compared with its neighbours
/// only.
class TakenBoxes {
 public:
  explicit TakenBoxes(const Box& area) : area_(area) {}

  /// Boxes outside the area are ignored: no name is placed there.
  void add(const Box& box) {
    if (disjoint(box, area_)) return;
    each_cell(box, [&](int cell) { cells_[cell].push_back(box); });
  }
  [[nodiscard]] bool free(const Box& box) const {
    bool is_free = true;
    each_cell(box, [&](int cell) {
      const auto found = cells_.find(cell);
      if (found == cells_.end()) return;
      is_free = is_free && std::ranges::all_of(found->second, [&](const Box& other) {
                  return disjoint(box, other);
                });
    });
    return is_free;
  }

 private:
  static constexpr double side = 64;
  static constexpr int columns = 4096;

  template <class Visit>
  void each_cell(const Box& box, Visit visit) const {
    const auto cell = [](double from, double to) {
      return std::clamp(static_cast<int>((to - from) / side), 0, columns - 1);
    };
    for (int row = cell(area_.y, box.y); row <= cell(area_.y, box.bottom()); ++row) {
      for (int column = cell(area_.x, box.x); column <= cell(area_.x, box.right()); ++column) {
        visit(row * columns + column);
      }
    }
  }

  Box area_;
  std::unordered_map<int, std::vector<Box>> cells_;
};

}  // namespace

bool disjoint(const Box& a, const Box& b) {
  return a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y;
}

std::vector<std::optional<Box>> place_names(const std::vector<NamedPoint>& points, const Box& area,
                                            const std::vector<Box>& taken) {
  TakenBoxes boxes(area);
  for (const Box& box : taken) boxes.add(box);
  for (const NamedPoint& p : points) boxes.add(mark_box(p));
  std::vector<std::optional<Box>> out;
  for (const NamedPoint& p : points) {
    out.emplace_back();
    if (p.width <= 0 || !area.contains(p.at)) continue;
    for (const Box& box : places_beside(p)) {
      if (!holds(area, box) || !boxes.free(box)) continue;
      boxes.add(box);
      out.back() = box;
      break;
    }
  }
  return out;
}

}  // namespace conelab::desktop
