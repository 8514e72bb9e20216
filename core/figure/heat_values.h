// The conversion of a matrix of numbers to colours: scales, limits, and pooling of large matrices.
//
// Three kinds of cells have no value on the colour map and get a special colour: masked (not
// computed), zero if all values are non-negative (a weight that underflowed), and NaN (computed,
// but undefined). Infinities are clamped to the ends of the map. Values of magnitude below 1.2e-38,
// the smallest normal number of float32, count as zero, so that a map looks the same if it was
// computed in double or in single precision, as the desktop does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/drawing/colour_map.h"
#include "core/drawing/display_list.h"

namespace conelab::figure {

/// How a value is converted to a position on the colour map.
enum class HeatScale {
  linear,
  log,             ///< By its logarithm. Values must be ≥ 0; zeros have their own colour.
  row_normalised,  ///< Divided by the largest magnitude of its row.
  rank  ///< By its rank in the panel, 0 to 1; equal values share their mean rank. In a diverging
        ///< panel, by the rank of its magnitude with its sign.
};
/// The names of these scales, in their order.
inline constexpr const char* heat_scale_names[] = {"linear", "log", "row", "rank"};
/// Returns the scale of a name. Throws misuse for another name.
[[nodiscard]] HeatScale heat_scale_from_name(const std::string& name);

/// Names what a map shows.
inline constexpr const char* map_quantities[] = {"weights", "logits"};
/// The attention that is shown of a layer: that of one head, the mean or the maximum of all heads,
/// or the rollout over the layers up to it.
inline constexpr const char* head_joins[] = {"one", "mean", "maximum", "rollout"};

/// The matrix [rows x cols] of one operator, row-major; rows are queries, columns are keys.
struct HeatmapPanel {
  std::string title;
  std::size_t rows = 0, cols = 0;
  std::vector<double> values;
  std::vector<std::uint8_t> masked;        ///< [rows x cols], 1 outside the mask; empty: no mask.
  std::vector<std::string> row_tokens;     ///< [rows]; empty: numbers are shown.
  std::vector<std::string> column_tokens;  ///< [cols]; empty: numbers are shown.
  /// Values of both signs: limits are symmetric about 0, with a diverging map and its own bar.
  bool diverging = false;
  bool difference = false;  ///< Whether they are differences of two panels. Implies `diverging`.
};

/// Returns the title of a panel's values, given the name of one value: "attention weight",
/// "attention weights with signs" or "difference of attention weights".
[[nodiscard]] std::string value_title(const HeatmapPanel& panel, const std::string& value_name);

/// Throws misuse, naming the panel, if its vectors do not match rows x cols.
void check_panel(const HeatmapPanel& panel);

/// Makes a panel of weights diverging if one of them is negative, as those of volume-preserving
/// attention are.
void mark_signed(HeatmapPanel& weights);

/// Subtracts a panel from another one of its size, which becomes a difference. A pair is masked
/// where one of them masks it.
void subtract(HeatmapPanel& panel, const HeatmapPanel& other);

/// Returns the panel with each block of `down` x `across` cells replaced by its largest value, or
/// in a diverging panel by the value of largest magnitude. A block is NaN if one of its cells is,
/// and masked if all are. Tokens are dropped. Throws misuse if a block has no cells.
[[nodiscard]] HeatmapPanel pooled(const HeatmapPanel& panel, std::size_t down, std::size_t across);

/// Returns the panel with its values converted to the scale (for log they stay). Throws misuse for
/// negative values on a log scale.
[[nodiscard]] HeatmapPanel scaled(HeatmapPanel panel, HeatScale scale);

/// The range of the colour map. low = high if the panel has one value only.
struct Limits {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  [[nodiscard]] bool empty() const { return !(low <= high); }
  void include(const Limits& other);
  bool operator==(const Limits&) const = default;
};
/// Returns the limits of the cells that have a value on the map; on a log scale those of the
/// positive ones.
[[nodiscard]] Limits limits_of(const HeatmapPanel& scaled_panel, HeatScale scale);
/// Returns whether limits that were given apply to a panel: not to differences, and to weights with
/// signs only if 0 lies between them.
[[nodiscard]] bool limits_apply(const Limits& given, const HeatmapPanel& panel);

/// Returns whether a value counts as zero, see above.
[[nodiscard]] bool is_zero(double value);
/// Returns whether zeros have their own colour: true for weights, false for logits and differences.
[[nodiscard]] bool zero_is_special(const HeatmapPanel& panel, HeatScale scale);

/// Returns the position of a value between the limits, in [0, 1]; 0.5 if the limits are equal.
[[nodiscard]] double place_on_map(double value, const Limits& limits, HeatScale scale);

/// The special colours that a panel uses.
struct Specials {
  bool zero = false, masked = false, nan = false;
  void include(const Specials& other);
};
[[nodiscard]] Specials specials_of(const HeatmapPanel& scaled_panel, HeatScale scale);

/// Returns the RGBA colours of all cells [rows x cols x 4].
[[nodiscard]] std::vector<std::uint8_t> colours_of(const HeatmapPanel& scaled_panel,
                                                   const Limits& limits, HeatScale scale,
                                                   ColourMap map);

// A horizontal colour bar with ticks and a title, and swatches for the special colours.

struct ColourBar {
  ColourMap map = ColourMap::sequential;
  HeatScale scale = HeatScale::linear;
  Limits limits;
  std::string title;  ///< The name of the values, such as "attention weight".
  /// The colours from the lowest value to the highest, if they are not those of the map.
  std::vector<Colour> colours = {};
};

/// How the values of a figure's maps become colours.
struct HeatLook {
  HeatScale scale = HeatScale::linear;
  bool shared_limits = true;
  Limits limits;  ///< Fixed limits for all maps except differences; empty: from the data.
  ColourMap map = ColourMap::sequential;  ///< For all maps except differences.
  std::string value_name = "attention weight";

  /// Returns the scale of a panel. That of both signs is linear in place of log.
  [[nodiscard]] HeatScale scale_of(const HeatmapPanel& panel) const;
  /// Returns the bar of a panel on that scale, with limits of its own and without a title.
  [[nodiscard]] ColourBar bar_of(const HeatmapPanel& scaled_panel) const;
};

inline constexpr double colour_bar_height = 23.5;

/// Draws bar, ticks and, below them, the title into `box`, which is colour_bar_height high. For
/// empty limits it draws a note that there is no value.
void draw_colour_bar(DisplayList& list, const ColourBar& bar, const Box& box);

/// Draws swatches with names for the special colours in use, from `at` (top left) to the right.
/// Returns the width of the drawing.
double draw_specials(DisplayList& list, const Specials& used, Point at);
/// Returns that width without drawing.
[[nodiscard]] double specials_width(const Specials& used);

}  // namespace conelab::figure
