#include "widgets/maps/map_layout.h"

#include <algorithm>
#include <cmath>

namespace conelab::desktop {
namespace {

constexpr double gap = 14, title_height = 22, margin_size = 30, margin_gap = 4, bar_height = 34;

struct Extra {
  double across, down;
};

/// What a panel takes besides its cells.
Extra extra(const LabelRoom& room) {
  const double margins = room.margins ? margin_size + margin_gap : 0;
  return {room.row + margins,
          title_height + room.column + margins + (room.own_bars ? bar_height : 0)};
}

/// The cells' box takes the matrix's shape, so that margins lie close to it.
PanelPlace place(double x, double y, double most_width, double most_height, double aspect,
                 const LabelRoom& room) {
  const double margins = room.margins ? margin_size + margin_gap : 0;
  const Extra around = extra(room);
  const double side = std::min((most_width - around.across) / aspect, most_height - around.down);
  const double width = side * aspect + around.across, height = side + around.down;
  PanelPlace p;
  p.title = {x + room.row, y, width - room.row, title_height};
  p.cells = {x + room.row, y + title_height + room.column,
             std::max(1.0, width - extra(room).across), std::max(1.0, height - extra(room).down)};
  p.row_labels = {x, p.cells.y, room.row, p.cells.height};
  p.column_labels = {p.cells.x, y + title_height, p.cells.width, room.column};
  p.row_margin = {p.cells.right() + margin_gap, p.cells.y, room.margins ? margin_size : 0,
                  p.cells.height};
  p.column_margin = {p.cells.x, p.cells.bottom() + margin_gap, p.cells.width,
                     room.margins ? margin_size : 0};
  p.colour_bar = {p.cells.x, p.cells.bottom() + margins, p.cells.width,
                  room.own_bars ? bar_height : 0};
  return p;
}

}  // namespace

MapLayout arrange_panels(double width, double height, std::size_t count, double aspect,
                         const LabelRoom& room) {
  MapLayout layout;
  if (count == 0) return layout;
  const double usable = height - (room.own_bars ? 0 : bar_height + gap / 2);
  std::size_t best = 1;
  double largest = -1;
  for (std::size_t columns = 1; columns <= count; ++columns) {
    const std::size_t rows = (count + columns - 1) / columns;
    const double across = (width - gap) / static_cast<double>(columns) - gap - extra(room).across;
    const double down = (usable - gap) / static_cast<double>(rows) - gap - extra(room).down;
    const double side = std::min(across / aspect, down);
    if (side > largest) best = columns, largest = side;
  }
  const std::size_t rows = (count + best - 1) / best;
  const double w = (width - gap) / static_cast<double>(best) - gap;
  const double h = (usable - gap) / static_cast<double>(rows) - gap;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<double>(i / best), column = static_cast<double>(i % best);
    layout.panels.push_back(
        place(gap + column * (w + gap), gap / 2 + row * (h + gap), w, h, aspect, room));
  }
  if (!room.own_bars) {
    const PanelPlace& first = layout.panels.front();
    const double most = std::min(width - 2 * gap - room.row, 520.0);
    const double below = layout.panels.back().column_margin.bottom() + gap;
    layout.shared_bar = {first.cells.x, below, most, bar_height};  // Never over a panel.
  }
  return layout;
}

}  // namespace conelab::desktop
