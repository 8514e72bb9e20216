// Medians with distribution-free intervals, and means with Student's.
//
// Let x_1 < ... < x_n be independent samples with the same median m. The number of samples below m
// is binomial (n, 1/2). For any distribution, [x_d, x_(n+1-d)] therefore covers m with exactly the
// probability
//   gamma_d = 1 - 2 P(B <= d - 1),
// the sign-test interval. For few samples the steps of gamma_d are coarse: n = 8 offers 93.0 % and
// 99.2 %. Between two steps the interval is interpolated (Hettmansperger, Sheather, Statistics &
// Probability Letters 4, 1986); its coverage is then close to the level, for symmetric
// and skewed distributions.
//
// The samples must be independent. The times of one case on a drifting machine are not; ratios
// (ratio.h) are compared there. The measured coverage is in datasets/reference_runs/README.md.
#pragma once

#include <limits>
#include <vector>

namespace conelab {

/// The level of intervals. An interval with less coverage decides nothing.
inline constexpr double usual_level = 0.95;

/// A value with its interval. All members are NaN if there is no sample.
struct Interval {
  double value = 0, low = 0, high = 0;
  /// The probability that [low, high] covers the true value. For exact intervals this is the exact
  /// coverage; otherwise the nominal level, or less if there are too few samples.
  double coverage = 0;
};

/// Returns a value without an interval; for NaN, that of no samples.
[[nodiscard]] inline Interval lone(double value) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  return {value, none, none, none};
}

/// Returns the middle sample, or the mean of the two middle ones, or NaN for none. NaN samples are
/// treated as missing, here and in both intervals below.
[[nodiscard]] double median(std::vector<double> samples);

/// Returns the median with the interpolated interval. With too few samples (n < 6) the
/// interval is the range of the samples, and `coverage` is that of the range: 0.9375 for n = 5,
/// 0.75 for n = 3, 0 for n = 1.
[[nodiscard]] Interval median_interval(std::vector<double> samples);

/// Returns the median with the shortest sign-test interval that covers at least `usual_level`, or
/// the range of the samples if none does. `coverage` is exact: 0.961 for n = 9, 0.992 for n = 8.
[[nodiscard]] Interval sign_test_interval(std::vector<double> samples);

/// Returns the smallest number of samples for which both intervals cover `usual_level`: 6.
[[nodiscard]] int samples_to_cover();

/// Returns the mean with the interval of Student's t distribution, for samples that are roughly
/// normal. Fewer than two samples have no interval (low and high are NaN); without samples the mean
/// is NaN too.
[[nodiscard]] Interval t_interval(const std::vector<double>& samples, double level = usual_level);

}  // namespace conelab
