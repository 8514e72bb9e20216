#include "widgets/maps/head_grid.h"

#include <algorithm>
#include <cmath>

namespace conelab::desktop {
namespace {

constexpr double margin = 14, title_height = 24, label_height = 15, gap = 8, smallest = 18;

/// The height of a map with so many heads in a row; 0 or less where they do not fit.
double map_height(double width, double height, std::size_t operations, std::size_t heads,
                  std::size_t columns, double aspect) {
  const auto across = static_cast<double>(columns), blocks = static_cast<double>(operations);
  const auto rows = static_cast<double>((heads + columns - 1) / columns);
  const double wide = (width - 2 * margin + gap) / across - gap;
  const double block = (height - 2 * margin) / blocks - title_height;
  const double high = block / rows - label_height - gap;
  return std::min(wide / aspect, high);
}

}  // namespace

std::optional<std::size_t> HeadGrid::at(figure::Point point) const {
  for (std::size_t i = 0; i < maps.size(); ++i) {
    if (maps[i].cells.contains(point) || maps[i].label.contains(point)) return i;
  }
  return std::nullopt;
}

HeadGrid arrange_heads(double width, double height, std::size_t operations, std::size_t heads,
                       double aspect) {
  HeadGrid grid;
  if (operations == 0 || heads == 0) return grid;
  std::size_t columns = 1;
  for (std::size_t c = 1; c <= heads; ++c) {
    // Of equally large maps the shorter rows, which are filled more evenly.
    const double high = map_height(width, height, operations, heads, c, aspect);
    if (high > grid.height + 1e-9) grid.height = high, columns = c;
  }
  if (grid.height < smallest) {
    grid.height = smallest;
    const double fit = std::floor((width - 2 * margin + gap) / (smallest * aspect + gap));
    columns = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1.0, fit)), 1, heads);
  }
  grid.height = std::floor(grid.height);
  grid.width = std::max(1.0, std::floor(grid.height * aspect));
  double y = margin;
  for (std::size_t o = 0; o < operations; ++o) {
    grid.titles.push_back({margin, y, width - 2 * margin, title_height});
    y += title_height;
    for (std::size_t h = 0; h < heads; ++h) {
      const double x = margin + static_cast<double>(h % columns) * (grid.width + gap);
      const double top = y + static_cast<double>(h / columns) * (grid.height + label_height + gap);
      grid.maps.push_back({o,
                           h,
                           {x, top + label_height, grid.width, grid.height},
                           {x, top, grid.width, label_height}});
    }
    y += static_cast<double>((heads + columns - 1) / columns) * (grid.height + label_height + gap);
  }
  return grid;
}

}  // namespace conelab::desktop
