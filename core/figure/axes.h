// Axes of a plot: the conversion from values to the page, ticks, labels and titles.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"
#include "core/figure/ticks.h"

namespace conelab::figure {

enum class ScaleKind { linear, log10, log2 };

/// One axis: its range, ticks and title.
struct Axis {
  ScaleKind kind = ScaleKind::linear;
  double low = 0, high = 1;
  std::vector<Tick> ticks = {};
  std::vector<TextRun> title = {};

  /// Returns the relative position of a value: 0 at `low`, 1 at `high`, other numbers outside; 0.5
  /// if both are equal.
  [[nodiscard]] double fraction(double value) const;
};

/// Returns an axis that covers these values. The range is widened by a margin and ends at ticks if
/// these are near. Values that the scale cannot show are ignored: NaN, magnitudes above 1e290, and
/// on logarithmic scales values that are not positive. If no value is left, the range is [0, 1] or
/// [1, 10].
[[nodiscard]] Axis axis_over(ScaleKind kind, const std::vector<double>& values, int most_ticks,
                             std::vector<TextRun> title);

/// The plotting area and its axes.
struct Frame {
  Box box;
  Axis x, y;
  [[nodiscard]] Point at(double x_value, double y_value) const;
};

/// Return the space [points] that an axis needs outside the box for labels, ticks and title.
[[nodiscard]] double room_left(const Axis& y);
[[nodiscard]] double room_below(const Axis& x);

/// Draws grid, spines, ticks, labels and titles into the group `id`. A label that would touch its
/// neighbour is left out.
void draw_frame(DisplayList& list, const Frame& frame, const std::string& id = "axes");

}  // namespace conelab::figure
