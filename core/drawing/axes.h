// Axes of a plot: the conversion from values to the page, ticks, labels and titles.
#pragma once

#include <string>
#include <vector>

#include "core/drawing/display_list.h"

namespace conelab::figure {

// The ticks of an axis and their labels.

struct Tick {
  double value = 0;
  std::vector<TextRun> label;  ///< Empty for a minor tick.
  [[nodiscard]] bool major() const { return !label.empty(); }
};

/// Returns a number as figures show it, with a true minus sign: "0.25", "−3", "1.5×10⁻⁶" (as runs).
/// Numbers from 10^5 on and below 10^-3 have a power of ten. At most `digits` significant digits
/// are shown (five from 10^4 on), without trailing zeros.
[[nodiscard]] std::vector<TextRun> number_label(double value, int digits = 4);

/// Returns the smallest of 1, 2 and 5 times a power of ten that is at least `least` (positive), up
/// to rounding.
[[nodiscard]] double round_step(double least);

/// Returns ticks at multiples of 1, 2 or 5 times a power of ten over [low, high]: at most about
/// `most`, but at least two. Returns none for an empty range and one if low = high.
[[nodiscard]] std::vector<Tick> linear_ticks(double low, double high, int most);

/// Returns ticks at powers of ten over [low, high] (positive). At most about `most` are labelled;
/// the digits 2–9 are minor ticks. Below two decades, 1, 2 and 5 are labelled if `most` allows it,
/// all as powers if one of them is. Below half a decade, or if fewer than two labels would remain,
/// the ticks are those of linear_ticks.
[[nodiscard]] std::vector<Tick> log_ticks(double low, double high, int most);

/// Returns ticks at whole numbers, at multiples of 1, 2 or 5 times a power of ten over [low, high],
/// at most about `most`, for axes that count things. There are fewer than two only if the range
/// contains fewer.
[[nodiscard]] std::vector<Tick> whole_ticks(double low, double high, int most);

/// Returns ticks at powers of two, for lengths of sequences: 256, 512, …; from 2^17 on as 2^k. If
/// the range contains fewer than two, the ticks are those of whole_ticks, or else of log_ticks.
[[nodiscard]] std::vector<Tick> binary_ticks(double low, double high, int most);

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

// Token labels along a matrix: as many as fit without overlapping.
//
// If every label fits its cell, all are next to the matrix. If cells are narrower than a line of
// text, labels alternate between two tiers, and those of the outer tier have leaders. If that is
// too tight, only every k-th token is labelled.

/// The side of the matrix. Labels at the top and at the bottom read from bottom to top.
enum class Side { left, bottom, top };

/// The plan for one side of a matrix.
struct TokenAxis {
  Side side = Side::left;
  double size = 6;
  std::size_t stride = 1;  ///< Every stride-th token is labelled.
  bool two_tiers = false;
  double inner_width = 0, outer_width = 0;  ///< Widths of the longest labels of the two tiers.
  std::vector<std::string> labels;          ///< All tokens, cleaned and shortened.

  /// Returns the space that the labels need next to the matrix, in points.
  [[nodiscard]] double room() const;
};

/// Plans labels for `cells` cells of `pitch` points each. Without tokens, the numbers of the cells
/// are shown. No label is longer than `longest` points.
[[nodiscard]] TokenAxis plan_tokens(Side side, const std::vector<std::string>& tokens,
                                    std::size_t cells, double pitch, double longest);

/// Draws the labels next to `matrix`.
void draw_tokens(DisplayList& list, const TokenAxis& axis, const Box& matrix);

}  // namespace conelab::figure
