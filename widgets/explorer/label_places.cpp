#include "widgets/explorer/label_places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace conelab::desktop {
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

Box mark_box(const NamedPoint& p) {
  return {p.at.x - p.radius, p.at.y - p.radius, 2 * p.radius, 2 * p.radius};
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
