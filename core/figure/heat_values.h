// From the numbers of a matrix to colours: scales, limits, pooling of matrices that are too large.
//
// Three kinds of cell are no value on the colour map: masked (never computed), exact zero where all
// values are non-negative (a weight that vanished), and NaN (computed, undefined). Infinities are
// clamped to the ends of the map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/figure/colour_map.h"
#include "core/figure/display_list.h"

namespace conelab::figure {

/// How values become a place on the colour map.
enum class HeatScale {
  linear,
  log,             ///< Decades; needs values ≥ 0, zeros keep their own colour.
  row_normalised,  ///< Divided by the row's largest magnitude.
  rank             ///< Place in the panel's order, 0 to 1; ties share their mean. Of a difference
                   ///< its magnitude's place with its sign.
};
/// "linear", "log", "row", "rank"; misuse for another name.
[[nodiscard]] HeatScale heat_scale_from_name(const std::string& name);
[[nodiscard]] const char* heat_scale_name(HeatScale scale);

/// One operator's matrix [rows x cols], row-major; rows are queries, columns keys.
struct HeatmapPanel {
  std::string title;
  std::size_t rows = 0, cols = 0;
  std::vector<double> values;
  std::vector<std::uint8_t> masked;        ///< [rows x cols], 1 = outside the mask; empty: none.
  std::vector<std::string> row_tokens;     ///< [rows] or empty (numbers are shown then).
  std::vector<std::string> column_tokens;  ///< [cols] or empty.
  bool diverging = false;  ///< A difference: limits symmetric about 0, diverging map, own bar.
};

/// Throws misuse naming the panel where its vectors do not fit rows x cols.
void check_panel(const HeatmapPanel& panel);

/// The panel with blocks of down x across cells replaced by their largest value, in a difference by
/// that of largest magnitude: NaN where any is NaN, masked where all are. Tokens are dropped.
/// Misuse where a block has no cells.
[[nodiscard]] HeatmapPanel pooled(const HeatmapPanel& panel, std::size_t down, std::size_t across);

/// The panel with its values on the scale (log: as they are). Throws misuse for log with negatives.
[[nodiscard]] HeatmapPanel scaled(HeatmapPanel panel, HeatScale scale);

/// Range of the map; low = high where the panel has one value only.
struct Limits {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  [[nodiscard]] bool empty() const { return !(low <= high); }
  void include(const Limits& other);
  bool operator==(const Limits&) const = default;
};
/// Of the cells that have a place on the map; on a log scale of the positive ones.
[[nodiscard]] Limits limits_of(const HeatmapPanel& scaled_panel, HeatScale scale);

/// Is exactly zero shown as its own colour? (Weights: yes; logits and differences: no.)
[[nodiscard]] bool zero_is_special(const HeatmapPanel& panel, HeatScale scale);

/// Place of a value between the limits, in [0, 1]; 0.5 where the limits coincide.
[[nodiscard]] double place_on_map(double value, const Limits& limits, HeatScale scale);

/// Which of the three special colours a panel uses.
struct Specials {
  bool zero = false, masked = false, nan = false;
};
[[nodiscard]] Specials specials_of(const HeatmapPanel& scaled_panel, HeatScale scale);

/// RGBA of each cell [rows x cols x 4].
[[nodiscard]] std::vector<std::uint8_t> colours_of(const HeatmapPanel& scaled_panel,
                                                   const Limits& limits, HeatScale scale,
                                                   ColourMap map);

}  // namespace conelab::figure
