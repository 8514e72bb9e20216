#include "widgets/explorer/label_places.h"

#include <algorithm>
#include <array>

namespace conelab::desktop {
namespace {

using figure::Box;

constexpr double gap = 5;  ///< Pixels between a mark and its name.

/// Returns the positions next to a mark in the order in which readers look for a name.
std::array<Box, 6> places_beside(const NamedPoint& p) {
  const double right = p.at.x + p.radius + gap, left = p.at.x - p.radius - gap - p.width;
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

}  // namespace

bool disjoint(const Box& a, const Box& b) {
  return a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y;
}

std::vector<std::optional<Box>> place_names(const std::vector<NamedPoint>& points, const Box& area,
                                            std::vector<Box> taken) {
  for (const NamedPoint& p : points) taken.push_back(mark_box(p));
  std::vector<std::optional<Box>> out;
  for (const NamedPoint& p : points) {
    out.emplace_back();
    if (!area.contains(p.at)) continue;
    for (const Box& box : places_beside(p)) {
      const bool free = std::all_of(taken.begin(), taken.end(),
                                    [&](const Box& other) { return disjoint(box, other); });
      if (!free || !holds(area, box)) continue;
      taken.push_back(box);
      out.back() = box;
      break;
    }
  }
  return out;
}

}  // namespace conelab::desktop
