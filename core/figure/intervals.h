// Tokens of a head with d = 2 as nested bars: a token is an ancestor of another if its bar spans
// the other's.
//
// A cone whose light is at infinity is the shadow [x - p, x + p] of its token on the horizon, and
// the lowest common ancestor of two tokens is the one whose shadow is the hull of both
// (core/geometry/cone_law.h). Shadows of umbral cones are multiplied by c = 1/(2 sinh r): the
// length of the interval [c x - y/2, c x + y/2] is the height y of its token.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/drawing/display_list.h"
#include "core/tree/merge.h"

namespace conelab::figure {

struct Interval {
  double low = 0, high = 0;  ///< NaN for a token without a place.

  [[nodiscard]] bool spans(const Interval& other) const {
    return low <= other.low && other.high <= high;
  }
  bool operator==(const Interval&) const = default;
};
[[nodiscard]] Interval hull(const Interval& a, const Interval& b);

/// Returns the intervals of tokens [n]. Throws misuse, which begins with `what`, if their light is
/// not at infinity or d is not 2.
[[nodiscard]] std::vector<Interval> intervals_of(const tree::HeadElements& tokens,
                                                 const std::string& what);

/// Leaves only what this token spans; the others have no place then. Returns how many are left.
std::size_t keep_within(std::vector<Interval>& intervals, std::size_t token);

/// Where bars stand. Tokens that span no other one of their level share it; bars of one level that
/// overlap stand in rows below each other.
struct IntervalRows {
  std::vector<std::size_t> row;    ///< [n] From the top.
  std::vector<std::size_t> level;  ///< [n] The length of the longest chain of tokens above.
  std::vector<std::size_t>
      first_row;  ///< [levels + 1] The first row of each, and the number of all.
};
/// Places intervals in O(n log n) plus the number of rows that overlapping bars try. The row of one
/// without a place is 0.
[[nodiscard]] IntervalRows interval_rows(const std::vector<Interval>& intervals);

/// The horizontal axis: linear, or by the ranks of all ends, which gives each bar a width that can
/// be seen. Both keep who spans whom.
struct IntervalScale {
  bool by_rank = true;
  std::vector<double> ends;  ///< Sorted and different.
  /// Returns the position of a coordinate: 0 at the first end, 1 at the last one.
  [[nodiscard]] double operator()(double coordinate) const;
};

struct IntervalFigure {
  std::vector<Interval> intervals = {};
  std::vector<std::string> names = {};  ///< [n]
  std::vector<double> numbers = {};     ///< [n] What the colours show; empty: the levels.
  std::string numbers_title = {};
  std::string axis = {};  ///< The title of the horizontal axis, as `rich` reads it.
  bool by_rank = true;
  std::optional<std::array<std::size_t, 2>> pair = {};  ///< Two tokens whose hull is drawn.
  std::string pair_text = {};                           ///< What is said of it.
  double width = 0;                                     ///< Points.
  Metadata metadata = {};
};

/// A figure without its caption, and where its bars are.
struct DrawnIntervals {
  DisplayList list;       ///< It ends below the axis.
  Box field;              ///< The area of the bars.
  std::vector<Box> bars;  ///< [n] Of width 0 for a token without a place.
  IntervalScale scale;
  IntervalRows rows;
};
[[nodiscard]] DrawnIntervals place_intervals(const IntervalFigure& figure);

}  // namespace conelab::figure
