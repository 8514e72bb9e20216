// Figures `scaling`, `growth` and `ratio`: run time against sequence length for several operators.
//
// Both axes are logarithmic. Points are medians with their intervals. Each line is labelled at its
// end with the fitted exponent of time ∝ n^e and its interval. Guides show slope 2 (the cost of
// attention) or several orders of growth. A further panel can show times relative to the first
// series.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/drawing/display_list.h"
#include "core/drawing/style.h"
#include "core/statistics/interval.h"

namespace conelab::figure {

/// The measurements of one operator. All vectors are [points]; `low` and `high` may be empty (no
/// interval). Points whose x or y is not positive and finite are left out.
struct ScalingSeries {
  std::string name;
  std::vector<double> x, y, low, high;
  std::optional<double> exponent, exponent_low, exponent_high;
  /// Ratios to the first series with their own intervals, [points] or empty. If they are given (for
  /// instance computed round by round), the ratio panel shows them; otherwise it divides the
  /// medians.
  std::vector<double> ratio = {}, ratio_low = {}, ratio_high = {};
};

/// An order of growth, time ∝ n^power (log n)^log_power, drawn as a dashed line.
struct Guide {
  std::string label;  ///< Markup of `rich`: "<i>n</i> log <i>n</i>".
  double power = 2, log_power = 0;
  [[nodiscard]] double log_time(double n) const;  ///< For n > 1, up to a constant.
  /// Returns the length from which it is drawn: with a logarithm 2, since n log n is 0 at n = 1.
  [[nodiscard]] double least_length() const { return log_power == 0 ? 0 : 2; }
};
/// Returns the guide of time ∝ n^power.
[[nodiscard]] Guide power_guide(double power);

struct ScalingFigure {
  std::vector<ScalingSeries> series;
  std::string x_title = "sequence length <i>n</i>";
  std::string y_title = "time (s)";
  /// A single guide lies below all curves; several meet at the shortest length, below the lowest
  /// median there. No guide is drawn if there is only one length.
  std::vector<Guide> guides = {power_guide(2)};
  bool ratio_panel = false;  ///< Whether to add a panel with the ratio of each series to the first.
  bool ratio_only = false;   ///< Whether to show only that panel (figure `ratio`).
  /// The coverage of the intervals of times and ratios, for the caption. It is lower with few
  /// rounds.
  double coverage = usual_level, ratio_coverage = usual_level;
  std::string caption;
  double width = double_column;
  Metadata metadata;
};

/// Draws the figure. If the name of the base is longer than the ratio axis, the axis says "base"
/// and the caption names it. Throws misuse if the vectors of a series have different lengths.
[[nodiscard]] DisplayList draw_scaling(const ScalingFigure& figure);

/// The position of a sample on that page, for pointing at it.
struct PlacedSample {
  Point at;
  std::size_t series = 0;
  double x = 0, y = 0, low = 0, high = 0;  ///< The values drawn: times, or ratios.
  bool ratio = false;
};
/// Returns all samples that are drawn, panel by panel.
[[nodiscard]] std::vector<PlacedSample> scaling_samples(const ScalingFigure& figure);

}  // namespace conelab::figure
