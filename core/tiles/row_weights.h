// Computes the weights of one row from its logits.
//
// The kernels know two laws (PairLaw). Each law of weights is one of these times a scale of the
// row:
//   softmax               exp(logit - m) / sum
//   exp                   exp(logit - m) e^m
//   softmax over queries  exp(logit' - m) e^m, logit' = logit - log sum_i exp(logit_ij) of its key
//   sigmoid               sigmoid(logit) e^-m e^m, m <= 0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/weights.h"
#include "core/simd/kernels.h"
#include "core/simd/row_reference.h"

namespace conelab {

[[nodiscard]] constexpr PairLaw pair_law(WeightLaw law) {
  return law == WeightLaw::sigmoid ? pair_sigmoid : referred_exponential;
}

/// Returns the factor that turns the numbers of a row relative to its reference m, whose sum is
/// `sum`, into weights. `factor` is what add_sink returned, if the numbers are those from before.
template <class T>
[[nodiscard]] T row_scale(WeightLaw law, T m, double sum, double factor = 1) {
  if (law == WeightLaw::softmax) return sum == 0 ? T(0) : static_cast<T>(factor / sum);
  return std::exp(m);
}

/// Adds the weight e^sink of a sink (Plan::sink) to a row's sum of weights relative to its
/// reference. The reference changes where the row sees no key, and where that weight might
/// overflow. Returns the factor by which the weights of keys relative to the reference change.
/// Without a sink
/// (-inf) nothing changes.
template <class T>
double add_sink(double sink, T& reference, double& sum) {
  if (sink == -std::numeric_limits<double>::infinity()) return 1;
  const double before = reference;
  if (sum == 0 || !(sink - before < most_rise)) reference = static_cast<T>(sink);
  const double factor = sum == 0 ? 0 : std::exp(before - reference);
  sum = sum * factor + std::exp(sink - reference);
  return factor;
}

/// Returns the law whose scale the forward and backward passes use. The Einstein midpoint does not
/// depend on the scale of the weights. It uses that of a softmax, with which weights neither
/// overflow nor underflow.
[[nodiscard]] constexpr WeightLaw scale_law(WeightLaw law, Aggregate aggregate) {
  return is_midpoint(aggregate) ? WeightLaw::softmax : law;
}

/// The law of one row: the weight is exp(logit - reference) times `scale`, or sigmoid(logit).
template <class T>
struct RowWeights {
  WeightLaw law = WeightLaw::softmax;
  T reference = 0, scale = 1;  ///< Unused by the sigmoid.

  [[nodiscard]] T of(T logit) const {
    // The pair is masked, even if a reference is NaN.
    if (std::isinf(logit) && logit < 0) return 0;
    if (law == WeightLaw::sigmoid) return 1 / (1 + std::exp(-logit));
    const T weight = std::exp(logit - reference) * scale;
    // A share of a sum; the scale and the reference are rounded.
    return law != WeightLaw::exponential && weight > 1 ? T(1) : weight;
  }
};

/// Returns the law of a row, given all its logits [count] and its sink. Sums are in double. It does
/// not serve the softmax over queries.
template <class T>
[[nodiscard]] RowWeights<T> row_weights(WeightLaw law, const T* logits, std::int64_t count,
                                        double sink = -std::numeric_limits<double>::infinity()) {
  if (law != WeightLaw::softmax || count == 0) return {law};
  T reference = *std::max_element(logits, logits + count);
  double sum = 0;
  for (std::int64_t c = 0; c < count; ++c) sum += std::exp(logits[c] - reference);
  (void)add_sink(sink, reference, sum);
  return {law, reference, static_cast<T>(1 / sum)};
}

}  // namespace conelab
