#include "widgets/maps/map_layout.h"

#include <algorithm>
#include <cmath>

namespace conelab::desktop {
namespace {

constexpr double gap = 14, title_height = 22, margin_size = 30, margin_gap = 4, bar_height = 34;

struct Extra {
  double across, down;
};

/// Returns the space that a panel takes besides its cells.
Extra extra(const LabelSpace& space) {
  const double margins = space.margins ? margin_size + margin_gap : 0;
  return {space.row + margins,
          title_height + space.column + margins + (space.own_bars ? bar_height : 0)};
}

/// The box of the cells has the shape of the matrix, so that margins are next to it.
PanelPlace place(double x, double y, double most_width, double most_height, double aspect,
                 const LabelSpace& space) {
  const double margins = space.margins ? margin_size + margin_gap : 0;
  const Extra around = extra(space);
  const double side = std::min((most_width - around.across) / aspect, most_height - around.down);
  const double width = side * aspect + around.across, height = side + around.down;
  PanelPlace p;
  p.title = {x + space.row, y, width - space.row, title_height};
  p.cells = {x + space.row, y + title_height + space.column,
             std::max(1.0, width - extra(space).across), std::max(1.0, height - extra(space).down)};
  p.row_labels = {x, p.cells.y, space.row, p.cells.height};
  p.column_labels = {p.cells.x, y + title_height, p.cells.width, space.column};
  p.row_margin = {p.cells.right() + margin_gap, p.cells.y, space.margins ? margin_size : 0,
                  p.cells.height};
  p.column_margin = {p.cells.x, p.cells.bottom() + margin_gap, p.cells.width,
                     space.margins ? margin_size : 0};
  p.colour_bar = {p.cells.x, p.cells.bottom() + margins, p.cells.width,
                  space.own_bars ? bar_height : 0};
  return p;
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
  const double usable = height - (space.own_bars ? 0 : bar_height + gap / 2);
  std::size_t best = 1;
  double largest = -1;
  for (std::size_t columns = 1; columns <= count; ++columns) {
    const std::size_t rows = (count + columns - 1) / columns;
    const double across = (width - gap) / static_cast<double>(columns) - gap - extra(space).across;
    const double down = (usable - gap) / static_cast<double>(rows) - gap - extra(space).down;
    const double side = std::min(across / aspect, down);
    if (side > largest) best = columns, largest = side;
  }
  const std::size_t rows = (count + best - 1) / best;
  const double w = (width - gap) / static_cast<double>(best) - gap;
  const double h = (usable - gap) / static_cast<double>(rows) - gap;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<double>(i / best), column = static_cast<double>(i % best);
    layout.panels.push_back(
        place(gap + column * (w + gap), gap / 2 + row * (h + gap), w, h, aspect, space));
  }
  if (!space.own_bars) {
    const PanelPlace& first = layout.panels.front();
    const double most = std::min(width - 2 * gap - space.row, 520.0);
    const double below = layout.panels.back().column_margin.bottom() + gap;
    layout.shared_bar = {first.cells.x, below, most, bar_height};  // Never over a panel.
  }
  return layout;
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
