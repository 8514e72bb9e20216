// The scaling exponent e of t = c n^e.
//
// Each round gives one slope of log t over log n (least squares). The exponent is the mean of these
// slopes, with a t-interval over the rounds. Rounds are independent, while the samples of one round
// are not, because the speed of the machine drifts; least squares over all samples at once would
// ignore this. The measured coverage of the interval is in datasets/reference_runs/README.md.
#pragma once

#include <string>
#include <vector>

#include "core/statistics/interval.h"

namespace conelab {

/// An exponent is resolved from so many octaves of lengths.
inline constexpr double octaves_needed = 3;

struct ExponentFit {
  bool resolved = false;        ///< Whether the data suffice for an exponent.
  std::string why_not;          ///< "not resolved: ..." if `resolved` is false; otherwise empty.
  Interval exponent;            ///< NaN if not resolved.
  std::vector<Interval> local;  ///< [length - 1] Slope over the octave that ends at length i + 1.
};

/// Returns the slope of the least-squares line through (x, y), or NaN for fewer than two different
/// x.
[[nodiscard]] double least_squares_slope(const std::vector<double>& x,
                                         const std::vector<double>& y);

/// Fits the exponent. `lengths` [length] must ascend; `times` [length][round] are in seconds, NaN
/// if missing. A round with a missing time is left out. The exponent is resolved from three octaves
/// of n and three complete rounds on. The local exponents, available from two rounds on, show
/// whether a single exponent hides a bend. Throws misuse if the number of lengths differs from that
/// of the rows of `times`, or if the lengths are not positive and ascending.
[[nodiscard]] ExponentFit fit_exponent(const std::vector<double>& lengths,
                                       const std::vector<std::vector<double>>& times);

}  // namespace conelab
