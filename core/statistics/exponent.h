// The scaling exponent e of t = c n^e.
//
// Each round gives one slope of log t on log n (least squares); the exponent is the mean of the
// slopes with a t-interval over rounds. Rounds are what is independent: least squares over all
// samples at once takes the samples of a round for independent, which drift makes them not.
//
// Measured, nominal 95 %, seven lengths in balanced orders, 3 to 14 rounds (8000 runs each): 94.8-
// 95.1 % for log-normal noise, 95.1-95.5 % under a random walk. Conservative elsewhere: 95.1-95.8 %
// for delays that only add, 95.7-98.6 % for heavy tails, bursts and hits; under a trend of 30 %
// over the run 95.9-96.8 % from eight rounds on, 97.7-98.8 % below.
#pragma once

#include <string>
#include <vector>

#include "core/statistics/interval.h"

namespace conelab {

struct ExponentFit {
  bool resolved = false;
  std::string why_not;          ///< Where not resolved: "not resolved: ..."; otherwise empty.
  Interval exponent;            ///< NaN where not resolved.
  std::vector<Interval> local;  ///< [length - 1] slope over the octave that ends at length[i + 1].
};

/// Slope of the least-squares line through (x, y); NaN for fewer than two different x.
[[nodiscard]] double least_squares_slope(const std::vector<double>& x,
                                         const std::vector<double>& y);

/// `lengths` ascending, [length]; `times` in seconds, [length][round], NaN where missing (rounds
/// with a missing time are left out). Not resolved below three octaves of n or three complete
/// rounds; the local exponents are there from two rounds on. They show where one exponent hides a
/// bend. Throws misuse where lengths and rows of times differ in number, or lengths do not ascend
/// from above 0.
[[nodiscard]] ExponentFit fit_exponent(const std::vector<double>& lengths,
                                       const std::vector<std::vector<double>>& times,
                                       double level = usual_level);

}  // namespace conelab
