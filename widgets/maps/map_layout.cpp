#include "widgets/maps/map_layout.h"

#include <algorithm>

namespace conelab::desktop {
namespace {

constexpr double gap = 14, margin_gap = 4, bar_height = 34;
/// Above a panel's own colour bar, whose grips are higher than the bar.
constexpr double bar_gap = 6;
/// The histogram in an empty place of the grid is as high as the first part of a map where a list
/// follows below it, and as the second where none does; bars are not wider than the third.
constexpr double part_of_map = 0.4, most_of_map = 0.8, widest_bar = 520;

double margins_of(const LabelSpace& space) {
  return space.margin > 0 ? space.margin + margin_gap : 0;
}

double title_of(const LabelSpace& space) {
  return title_height + (space.title_lines - 1) * title_line;
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
  return grid.width + margins_of(space) + gap + (space.own_labels ? space.row : 0);
}
double pitch_down(const Grid& grid, const LabelSpace& space) {
  const double bar = space.own_bars ? bar_height + space.histogram : 0;
  const double labels = space.own_labels ? space.column : 0;
  return title_of(space) + labels + grid.height + margins_of(space) + bar + gap;
}

/// Returns the height of a canvas for a grid.
double height_of(const Grid& grid, const LabelSpace& space) {
  const bool bar_below = !space.own_bars && !grid.has_hole();
  const double labels = space.own_labels ? 0 : space.column;
  return gap / 2 + labels + static_cast<double>(grid.rows) * pitch_down(grid, space) +
         (bar_below ? bar_height + space.histogram : 0);
}

/// Returns the width of the cells of so many columns of panels.
double cells_across(double width, std::size_t columns, const LabelSpace& space) {
  const Grid none;
  const double labels = space.own_labels ? 0 : space.row;
  return (width - gap - labels) / static_cast<double>(columns) - pitch_across(none, space);
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
  const bool first_row = row == 0 || space.own_labels;
  const double labels = first_row ? space.column : 0;
  const double top = gap / 2 + row * pitch_down(grid, space) + (first_row ? 0 : space.column);
  PanelPlace p;
  p.title = {x, top, grid.width + (first_row ? margins : 0), title_of(space)};
  p.cells = {x, top + title_of(space) + labels, grid.width, grid.height};
  const double left = column > 0 && !space.own_labels ? 0 : space.row;
  p.row_labels = {x - left, p.cells.y, left, grid.height};
  p.column_labels = {x, p.cells.y - labels, grid.width, labels};
  p.row_margin = {p.cells.right() + margin_gap, p.cells.y, space.margin, grid.height};
  p.column_margin = {x, p.cells.bottom() + margin_gap, grid.width, space.margin};
  p.colour_bar = {x, p.cells.bottom() + margins + bar_gap, grid.width,
                  space.own_bars ? bar_height - bar_gap + space.histogram : 0};
  return p;
}

/// Returns the place of the bar of all panels, which is never over a panel.
Box shared_bar(const Grid& grid, double width, const LabelSpace& space) {
  const PanelPlace free = place(grid, grid.count, space);
  if (grid.has_hole()) {
    const double part = space.lists ? part_of_map : most_of_map;
    const double histogram = std::max(space.histogram, part * grid.height);
    return {free.cells.x, free.cells.y, std::min(width - gap - free.cells.x, widest_bar),
            bar_height + histogram};
  }
  const PanelPlace last = place(grid, grid.count - 1, space);
  return {gap + space.row, last.cells.bottom() + margins_of(space) + gap,
          std::min(width - 2 * gap - space.row, widest_bar), bar_height + space.histogram};
}

}  // namespace

MapLayout arrange_panels(double width, double height, std::size_t count, double aspect,
                         const LabelSpace& space) {
  MapLayout layout;
  if (count == 0) return layout;
  Grid best;
  for (std::size_t columns = space.least_columns; columns <= count; columns += space.together) {
    const Grid grid = fitted(width, height, count, columns, aspect, space);
    if (grid.height > best.height) best = grid;
  }
  for (std::size_t i = 0; i < count; ++i) layout.panels.push_back(place(best, i, space));
  if (!space.own_bars) layout.shared_bar = shared_bar(best, width, space);
  if (best.has_hole()) {
    const Box free = place(best, count, space).cells;
    const double top = space.own_bars ? free.y : layout.shared_bar.bottom() + gap;
    layout.rest = {free.x, top, width - gap - free.x, std::max(0.0, height - gap - top)};
  }
  return layout;
}

double least_height(double width, std::size_t count, double aspect, const LabelSpace& space,
                    double least) {
  double lowest = 0;
  for (std::size_t columns = space.least_columns; columns <= count; columns += space.together) {
    Grid grid = grid_of(count, columns);
    const double most = cells_across(width, columns, space) / aspect;
    if (columns > space.least_columns && most < nearly * least) break;
    grid.height = std::min(least, most);
    const double height = height_of(grid, space);
    lowest = columns == space.least_columns ? height : std::min(lowest, height);
  }
  return lowest;
}

}  // namespace conelab::desktop
