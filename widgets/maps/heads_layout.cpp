#include "widgets/maps/heads_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace conelab::desktop {
namespace {

using figure::Box;

constexpr double head_margin = 14, head_gap = 7, label_line_height = 15, title_line_height = 24,
                 smallest_map = 18;

/// One way to arrange heads: the space beside the maps, and how many maps a line has.
struct GridShape {
  double left = 0;                           ///< Titles left of a line.
  double top = 0;                            ///< The numbers of the columns.
  double above = 0;                          ///< The title above the lines of a row.
  double label_width = 0, label_height = 0;  ///< Of a label right of its map, or above it.
  std::size_t columns = 1;
};

std::size_t lines_of(std::size_t heads, std::size_t columns) {
  return std::max<std::size_t>(1, (heads + columns - 1) / columns);
}

double map_height(double width, double height, const std::vector<std::size_t>& heads, double aspect,
                  const GridShape& s) {
  std::size_t lines = 0;
  for (const std::size_t each : heads) lines += lines_of(each, s.columns);
  const double across =
      (width - 2 * head_margin - s.left + head_gap) / static_cast<double>(s.columns);
  const double titles = s.above * static_cast<double>(heads.size());
  const double down = (height - 2 * head_margin - s.top - titles) / static_cast<double>(lines);
  return std::min((across - head_gap - s.label_width) / aspect, down - head_gap - s.label_height);
}

/// Positions the maps of a shape; `grid` has their size.
void place_heads(double width, const std::vector<std::size_t>& heads, const GridShape& s,
                 HeadGrid& grid) {
  const double across = grid.width + s.label_width + head_gap;
  const double down = grid.height + s.label_height + head_gap;
  double y = head_margin + s.top;
  for (std::size_t row = 0; row < heads.size(); ++row) {
    const double title = s.above > 0 ? width - 2 * head_margin : s.left;
    const double high = s.above > 0 ? s.above : grid.height + s.label_height;
    if (title > 0) grid.titles.push_back({head_margin, y, title, high});
    y += s.above;
    for (std::size_t h = 0; h < heads[row]; ++h) {
      const double x = head_margin + s.left + static_cast<double>(h % s.columns) * across;
      const double top = y + static_cast<double>(h / s.columns) * down;
      const Box cells = {x, top + s.label_height, grid.width, grid.height};
      const Box label = s.label_width > 0
                            ? Box{cells.right() + 3, cells.y, s.label_width, grid.height}
                            : Box{x, top, grid.width + head_gap - 2, s.label_height};
      grid.maps.push_back({row, h, cells, label});
    }
    y += static_cast<double>(lines_of(heads[row], s.columns)) * down;
  }
  grid.bottom = y;
  for (std::size_t h = 0; s.top > 0 && h < s.columns; ++h) {
    grid.columns.push_back(
        {head_margin + s.left + static_cast<double>(h) * across, head_margin, grid.width, s.top});
  }
}

/// Chooses the shape with the largest maps. Among equal ones, the first is chosen.
HeadGrid largest_grid(double width, double height, const std::vector<std::size_t>& heads,
                      double aspect, const std::vector<GridShape>& shapes, double least) {
  HeadGrid grid;
  const GridShape* best = nullptr;
  for (const GridShape& shape : shapes) {
    const double high = map_height(width, height, heads, aspect, shape);
    if (best == nullptr || high > grid.height + 1e-9) grid.height = high, best = &shape;
  }
  if (grid.height < least) {  // The widest shape, of as many lines as it takes.
    grid.height = least;
    best = &shapes.front();
    for (const GridShape& shape : shapes) {
      const double across = least * aspect + shape.label_width + head_gap;
      const double used = shape.left + across * static_cast<double>(shape.columns) - head_gap;
      if (used <= width - 2 * head_margin && shape.columns >= best->columns) best = &shape;
    }
  }
  grid.height = std::floor(grid.height);
  grid.width = std::max(1.0, std::floor(grid.height * aspect));
  place_heads(width, heads, *best, grid);
  return grid;
}

}  // namespace

std::optional<std::size_t> HeadGrid::at(figure::Point point) const {
  for (std::size_t i = 0; i < maps.size(); ++i) {
    if (maps[i].cells.contains(point) || maps[i].label.contains(point)) return i;
  }
  return std::nullopt;
}

HeadGrid arrange_heads(double width, double height, const std::vector<std::size_t>& heads,
                       double aspect, const HeadSpace& space) {
  const std::size_t most = heads.empty() ? 0 : *std::max_element(heads.begin(), heads.end());
  if (most == 0) return {};
  const double left = space.title + 10;
  std::vector<GridShape> shapes;
  for (std::size_t c = 1; c <= most; ++c)
    shapes.push_back({0, 0, title_line_height, 0, label_line_height, c});
  shapes.push_back({left, label_line_height, 0, 0, label_line_height, most});
  shapes.push_back({left, label_line_height, 0, space.score + 4, 0, most});
  return largest_grid(width, height, heads, aspect, shapes, smallest_map);
}

HeadGrid arrange_head_list(double width, double height, std::size_t count, double aspect,
                           const HeadSpace& space) {
  if (count == 0) return {};
  const double room = (width - 2 * head_margin + head_gap) / (space.name + head_gap);
  const auto most =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1.0, room)), 1, count);
  std::vector<GridShape> shapes;
  for (std::size_t c = 1; c <= most; ++c) shapes.push_back({0, 0, 0, 0, 2 * label_line_height, c});
  return largest_grid(width, height, {count}, aspect, shapes, space.name / aspect);
}

}  // namespace conelab::desktop
