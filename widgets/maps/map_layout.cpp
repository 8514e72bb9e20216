#include "widgets/maps/map_layout.h"

#include <algorithm>
#include <cmath>

namespace conelab::desktop {
namespace {

constexpr double gap = 14, title_height = 22, margin_gap = 4, bar_height = 34;
/// In an empty place of the grid, the histogram may be as high as this part of a map.
constexpr double part_of_map = 0.4, widest_bar = 520;

double margins_of(const LabelSpace& space) {
  return space.margin > 0 ? space.margin + margin_gap : 0;
}

/// Panels in rows and columns, of which all have the same size.
struct Grid {
  std::size_t columns = 1, rows = 1, count = 0;
  double width = 0, height = 0;  ///< Of the cells.

  /// Returns whether the last row has an empty place.
  [[nodiscard]] bool has_hole() const { return columns * rows > count; }
};

/// Returns the distance between the cells of neighbouring panels.
double pitch_across(const Grid& grid, const LabelSpace& space) {
  return grid.width + margins_of(space) + gap;
}
double pitch_down(const Grid& grid, const LabelSpace& space) {
  const double bar = space.own_bars ? bar_height + space.histogram : 0;
  return title_height + grid.height + margins_of(space) + bar + gap;
}

/// Returns the height of a canvas for a grid.
double height_of(const Grid& grid, const LabelSpace& space) {
  const bool bar_below = !space.own_bars && !grid.has_hole();
  return gap / 2 + space.column + static_cast<double>(grid.rows) * pitch_down(grid, space) +
         (bar_below ? bar_height + space.histogram : 0);
}

/// Returns the width of the cells of so many columns of panels.
double cells_across(double width, std::size_t columns, const LabelSpace& space) {
  const Grid none;
  return (width - gap - space.row) / static_cast<double>(columns) - pitch_across(none, space);
}

Grid grid_of(std::size_t count, std::size_t columns) {
  return {columns, (count + columns - 1) / columns, count};
}

/// Returns the grid with these columns and the largest cells that fit.
Grid fitted(double width, double height, std::size_t count, std::size_t columns, double aspect,
            const LabelSpace& space) {
  Grid grid = grid_of(count, columns);
  const double down = (height - height_of(grid, space)) / static_cast<double>(grid.rows);
  grid.height = std::max(1.0, std::min(cells_across(width, columns, space) / aspect, down));
  grid.width = std::max(1.0, grid.height * aspect);
  return grid;
}

PanelPlace place(const Grid& grid, std::size_t index, const LabelSpace& space) {
  const auto row = static_cast<double>(index / grid.columns),
             column = static_cast<double>(index % grid.columns);
  const double margins = margins_of(space);
  const double x = gap + space.row + column * pitch_across(grid, space);
  const double top = gap / 2 + row * pitch_down(grid, space) + (row > 0 ? space.column : 0);
  const double labels = row > 0 ? 0 : space.column;
  PanelPlace p;
  p.title = {x, top, grid.width + (row > 0 ? 0 : margins), title_height};
  p.cells = {x, top + title_height + labels, grid.width, grid.height};
  const double left = column > 0 ? 0 : space.row;
  p.row_labels = {x - left, p.cells.y, left, grid.height};
  p.column_labels = {x, p.cells.y - labels, grid.width, labels};
  p.row_margin = {p.cells.right() + margin_gap, p.cells.y, space.margin, grid.height};
  p.column_margin = {x, p.cells.bottom() + margin_gap, grid.width, space.margin};
  p.colour_bar = {x, p.cells.bottom() + margins, grid.width,
                  space.own_bars ? bar_height + space.histogram : 0};
  return p;
}

/// Returns the place of the bar of all panels, which is never over a panel.
Box shared_bar(const Grid& grid, double width, const LabelSpace& space) {
  const PanelPlace free = place(grid, grid.count, space);
  if (grid.has_hole()) {
    const double histogram = std::max(space.histogram, part_of_map * grid.height);
    return {free.cells.x, free.cells.y, std::min(width - gap - free.cells.x, widest_bar),
            bar_height + histogram};
  }
  const PanelPlace last = place(grid, grid.count - 1, space);
  return {gap + space.row, last.cells.bottom() + margins_of(space) + gap,
          std::min(width - 2 * gap - space.row, widest_bar), bar_height + space.histogram};
}

constexpr double head_margin = 14, head_title_height = 24, label_height = 15, head_gap = 8,
                 smallest = 18;

/// Returns the height of a map with this many heads in a row; at most 0 if they do not fit.
double map_height(double width, double height, std::size_t operations, std::size_t heads,
                  std::size_t columns, double aspect) {
  const auto across = static_cast<double>(columns), blocks = static_cast<double>(operations);
  const auto rows = static_cast<double>((heads + columns - 1) / columns);
  const double wide = (width - 2 * head_margin + head_gap) / across - head_gap;
  const double block = (height - 2 * head_margin) / blocks - head_title_height;
  const double high = block / rows - label_height - head_gap;
  return std::min(wide / aspect, high);
}

}  // namespace

MapLayout arrange_panels(double width, double height, std::size_t count, double aspect,
                         const LabelSpace& space) {
  MapLayout layout;
  if (count == 0) return layout;
  Grid best;
  for (std::size_t columns = 1; columns <= count; ++columns) {
    const Grid grid = fitted(width, height, count, columns, aspect, space);
    if (grid.height > best.height) best = grid;
  }
  for (std::size_t i = 0; i < count; ++i) layout.panels.push_back(place(best, i, space));
  if (!space.own_bars) layout.shared_bar = shared_bar(best, width, space);
  return layout;
}

double least_height(double width, std::size_t count, double aspect, const LabelSpace& space,
                    double least) {
  double lowest = 0;
  for (std::size_t columns = 1; columns <= count; ++columns) {
    Grid grid = grid_of(count, columns);
    const double most = cells_across(width, columns, space) / aspect;
    if (columns > 1 && most < least) break;
    grid.height = std::min(least, most);
    const double height = height_of(grid, space);
    lowest = columns == 1 ? height : std::min(lowest, height);
  }
  return lowest;
}

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
    // Among equally large maps, shorter rows are preferred, because they are filled more evenly.
    const double high = map_height(width, height, operations, heads, c, aspect);
    if (high > grid.height + 1e-9) grid.height = high, columns = c;
  }
  if (grid.height < smallest) {
    grid.height = smallest;
    const double fit =
        std::floor((width - 2 * head_margin + head_gap) / (smallest * aspect + head_gap));
    columns = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1.0, fit)), 1, heads);
  }
  grid.height = std::floor(grid.height);
  grid.width = std::max(1.0, std::floor(grid.height * aspect));
  double y = head_margin;
  for (std::size_t o = 0; o < operations; ++o) {
    grid.titles.push_back({head_margin, y, width - 2 * head_margin, head_title_height});
    y += head_title_height;
    for (std::size_t h = 0; h < heads; ++h) {
      const double x = head_margin + static_cast<double>(h % columns) * (grid.width + head_gap);
      const double top =
          y + static_cast<double>(h / columns) * (grid.height + label_height + head_gap);
      grid.maps.push_back({o,
                           h,
                           {x, top + label_height, grid.width, grid.height},
                           {x, top, grid.width, label_height}});
    }
    y += static_cast<double>((heads + columns - 1) / columns) *
         (grid.height + label_height + head_gap);
  }
  return grid;
}

}  // namespace conelab::desktop
