// The pieces that an attention map is painted from, besides its cells.
#pragma once

#include <QFont>
#include <QFontMetricsF>
#include <QPainter>
#include <optional>
#include <string>
#include <vector>

#include "widgets/maps/map_layout.h"
#include "widgets/maps/maps_model.h"

namespace conelab::desktop {

[[nodiscard]] inline QRectF desktop_rect(const Box& b) { return {b.x, b.y, b.width, b.height}; }
[[nodiscard]] QFont label_font(const QFont& base);
/// How labels of cells are written: in which letters, and every how many cells one.
struct LabelPlan {
  QFont letters;
  std::int64_t step = 1;
};
/// For cells of `scale` pixels: every cell where letters that can still be read fit, else as many
/// as do; in letters as large as these have room, at most the usual ones. Cells a pixel too small
/// for a line label every other token, in letters of two cells, rather than have letters touch.
[[nodiscard]] LabelPlan plan_labels(const QFont& usual, double scale, bool numbers);
/// Pixels from the top of the highest letters to the bottom of the lowest: lines of labels that are
/// this far apart do not touch.
[[nodiscard]] double label_line(const QFont& letters);
/// Every how many cells one is labelled, where a line of labels needs `pitch` pixels. Round steps
/// of numbers read better: 1, 2, 5, 10, 20, …
[[nodiscard]] std::int64_t label_step(double scale, double pitch, bool numbers);
/// Room for token labels, or for numbers where there are none.
[[nodiscard]] double label_room(const QFontMetricsF& metrics,
                                const std::vector<std::string>& tokens, std::int64_t count);

/// Beside the name, how far it is computed; else, where there is room, that it is `flat`.
void draw_title(QPainter& painter, const PanelPlace& place, const MapPanel& panel, bool cancelled,
                bool flat);
void draw_cell_grid(QPainter& painter, const Box& cells, const MapCamera& camera, std::int64_t rows,
                    std::int64_t columns);
void draw_row_labels(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                     const Trace& trace, std::int64_t rows, std::int64_t focused);
void draw_column_labels(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                        const Trace& trace, std::int64_t columns, std::int64_t focused);
/// Right of the cells: each row's entropy against the largest possible.
void draw_entropy(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                  const MapPanel& panel);
/// Below the cells: what each key receives from all queries.
void draw_column_sums(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                      const MapPanel& panel);
/// A cross of thin lines through the cell, and its frame.
void draw_cell_mark(QPainter& painter, const Box& cells, const MapCamera& camera,
                    const std::optional<Focus>& cell, bool locked);
/// The colour bar with ticks, and swatches of the special colours that occur.
void draw_colour_scale(QPainter& painter, const Box& box, const ColourChoice& choice,
                       const figure::Limits& limits, const figure::Specials& used,
                       const QString& title);

}  // namespace conelab::desktop
