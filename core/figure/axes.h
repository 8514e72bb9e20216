// Axes: from values to the page, with ticks and titles that fit.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"
#include "core/figure/ticks.h"

namespace conelab::figure {

enum class ScaleKind { linear, log10, log2 };

/// One axis: its range, marks and title.
struct Axis {
  ScaleKind kind = ScaleKind::linear;
  double low = 0, high = 1;
  std::vector<Tick> ticks = {};
  std::vector<TextRun> title = {};

  /// Place of a value in [0, 1] over the range (outside beyond it); 0.5 when the range is a point.
  [[nodiscard]] double fraction(double value) const;
};

/// An axis over these values, the range widened by a margin and cut at ticks where that is near;
/// values that the scale cannot show (NaN, magnitudes above 1e290, and on logarithmic ones what is
/// not positive) are ignored. With no value
/// left, the range is [0, 1] or [1, 10].
[[nodiscard]] Axis axis_over(ScaleKind kind, const std::vector<double>& values, int most_ticks,
                             std::vector<TextRun> title);

/// The plotting area and its axes.
struct Frame {
  Box box;
  Axis x, y;
  [[nodiscard]] Point at(double x_value, double y_value) const;
};

/// Room that the axis needs outside the box: labels, ticks and title.
[[nodiscard]] double room_left(const Axis& y);
[[nodiscard]] double room_below(const Axis& x);

/// Grid, spines, ticks, labels and titles; labels that would touch a neighbour are left out.
/// `id` names the group.
void draw_frame(DisplayList& list, const Frame& frame, const std::string& id = "axes");

}  // namespace conelab::figure
