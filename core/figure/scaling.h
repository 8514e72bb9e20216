// Figures `scaling`, `growth` and `ratio`: run time against sequence length, several operators.
//
// Log–log, medians with their intervals, each line labelled at its end with the fitted
// exponent of time ∝ n^e and its interval; guides, of slope 2 (what attention costs) or of several
// orders of growth; optionally a panel of times relative to the first series.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/figure/display_list.h"
#include "core/figure/style.h"
#include "core/statistics/interval.h"

namespace conelab::figure {

/// One operator's measurements, all vectors [points]; `low` and `high` may be empty (no interval).
/// Points whose x or y is not positive and finite are left out.
struct ScalingSeries {
  std::string name;
  std::vector<double> x, y, low, high;
  std::optional<double> exponent, exponent_low, exponent_high;
  /// Ratios to the first series with their own intervals, [points] or empty. Where they are known
  /// (round by round, say) the ratio panel shows them; otherwise it divides the medians.
  std::vector<double> ratio = {}, ratio_low = {}, ratio_high = {};
};

/// An order of growth, time ∝ n^power (log n)^log_power, drawn as a dashed line.
struct Guide {
  std::string label;  ///< Markup of `rich`: "<i>n</i> log <i>n</i>".
  double power = 2, log_power = 0;
  [[nodiscard]] double log_time(double n) const;  ///< Of n > 1, up to a constant.
};
/// The guide of time ∝ n^power.
[[nodiscard]] Guide power_guide(double power);

struct ScalingFigure {
  std::vector<ScalingSeries> series;
  std::string x_title = "sequence length <i>n</i>";  ///< Markup of `rich`.
  std::string y_title = "time (s)";
  /// A single guide lies below all curves; several meet at the shortest length, below the lowest
  /// median there. None is drawn at one length.
  std::vector<Guide> guides = {power_guide(2)};
  bool ratio_panel = false;  ///< Adds a panel of each series over the first.
  bool ratio_only = false;   ///< Shows that panel alone (figure `ratio`).
  /// What the intervals of times and ratios cover, for the caption; few rounds cover less.
  double coverage = usual_level, ratio_coverage = usual_level;
  std::string caption;
  double width = double_column;
  Metadata metadata;
};

/// A base whose name is longer than the ratio axis is "base" there and named by the caption.
/// Throws misuse when the vectors of a series have different lengths.
[[nodiscard]] DisplayList draw_scaling(const ScalingFigure& figure);

/// Where a sample lies on that page, for whoever points at it.
struct PlacedSample {
  Point at;
  std::size_t series = 0;
  double x = 0, y = 0, low = 0, high = 0;  ///< As drawn: a time, or a ratio.
  bool ratio = false;
};
/// All samples that are drawn, panel by panel.
[[nodiscard]] std::vector<PlacedSample> scaling_samples(const ScalingFigure& figure);

}  // namespace conelab::figure
