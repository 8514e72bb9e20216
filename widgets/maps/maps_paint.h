// The parts of an attention map's picture other than its cells.
#pragma once

#include <QFont>
#include <QFontMetricsF>
#include <QPainter>
#include <optional>
#include <string>
#include <vector>

#include "widgets/maps/colour_scale.h"
#include "widgets/maps/map_layout.h"
#include "widgets/maps/maps_model.h"

namespace conelab::desktop {

[[nodiscard]] QFont label_font(const QFont& base);
/// Returns the cell at a point of the canvas, which may lie outside of the matrix.
[[nodiscard]] Focus cell_under(const MapCamera& camera, const Box& cells, const QPointF& point);
/// The font of cell labels, and the step between labelled cells.
struct LabelPlan {
  QFont letters;
  std::int64_t step = 1;
};
/// Plans the labels of cells of `scale` pixels. Every cell is labelled if a legible font fits;
/// otherwise every `step`-th one. The font is as large as fits, at most the usual one. If a line is
/// one pixel too high for a cell, every other cell is labelled with a larger font, so that letters
/// do not touch.
[[nodiscard]] LabelPlan plan_labels(const QFont& usual, double scale, bool numbers);
/// Returns the height from the highest to the lowest letters, in pixels. Lines of labels at this
/// distance do not touch.
[[nodiscard]] double label_line(const QFont& letters);
/// Returns the step between labelled cells if a line needs `pitch` pixels. Steps of numbers are
/// round: 1, 2, 5, 10, 20, …
[[nodiscard]] std::int64_t label_step(double scale, double pitch, bool numbers);
/// Returns the space for token labels, or for numbers if there are none.
[[nodiscard]] double label_space(const QFontMetricsF& metrics,
                                 const std::vector<std::string>& tokens, std::int64_t count);

/// Draws the title of a panel with the progress of its computation; when that is complete and there
/// is space, with a note if the panel is `flat`.
void draw_title(QPainter& painter, const PanelPlace& place, const MapPanel& panel, bool cancelled,
                bool flat);
void draw_cell_grid(QPainter& painter, const Box& cells, const MapCamera& camera, std::int64_t rows,
                    std::int64_t columns);
/// Draws the labels of rows or columns; those of special tokens are marked or faint.
void draw_row_labels(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                     const MapAxis& axis, bool marks_special, std::int64_t focused);
void draw_column_labels(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                        const MapAxis& axis, bool marks_special, std::int64_t focused);
/// Draws lines along the rows and columns of special tokens, or hatches those that are excluded.
void draw_special(QPainter& painter, const Box& cells, const MapCamera& camera,
                  const MapTokens& tokens);
/// Draws, to the right of the cells, the entropy of each row relative to the largest possible one.
void draw_entropy(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                  const MapPanel& panel);
/// Draws, below the cells, what each key receives from all queries.
void draw_column_sums(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                      const MapPanel& panel);
/// Draws the values of the cell's row below the cells, and those of its column to their right, as
/// lines. The largest visible value is written beside them if cells are at least a pixel wide.
void draw_profiles(QPainter& painter, const PanelPlace& place, const MapCamera& camera,
                   const MapPanel& panel, const Focus& cell);
/// Draws a frame around the cell and thin lines through it.
void draw_cell_mark(QPainter& painter, const Box& cells, const MapCamera& camera,
                    const std::optional<Focus>& cell, bool locked);
/// Draws a frame around a region, and its mass beside it unless that is empty.
void draw_region(QPainter& painter, const Box& cells, const MapCamera& camera,
                 const MapRegion& region, const QString& mass);

}  // namespace conelab::desktop
