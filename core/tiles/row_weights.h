// From the logits of one row to its weights.
//
// Kernels know two laws (PairLaw); the laws of weights are these with a scale of each row:
//   softmax               exp(logit - m) / sum
//   exp                   exp(logit - m) e^m
//   softmax over queries  exp(logit' - m) e^m, logit' = logit - log sum_i exp(logit_ij) of its key
//   sigmoid               sigmoid(logit)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/weights.h"
#include "core/simd/kernels.h"

namespace conelab {

[[nodiscard]] constexpr PairLaw pair_law(WeightLaw law) {
  return law == WeightLaw::sigmoid ? pair_sigmoid : referred_exponential;
}

/// What makes weights of a row's exp(logit - m), their sum being `sum`.
template <class T>
[[nodiscard]] T row_scale(WeightLaw law, T m, double sum) {
  if (law == WeightLaw::sigmoid) return 1;
  if (law == WeightLaw::softmax) return sum == 0 ? T(0) : static_cast<T>(1 / sum);
  return std::exp(m);
}

/// The law whose scale the forward and backward passes take: the midpoint is the same for weights
/// of any scale, and those of a softmax neither overflow nor vanish.
[[nodiscard]] constexpr WeightLaw scale_law(WeightLaw law, Aggregate aggregate) {
  return is_midpoint(aggregate) && law != WeightLaw::sigmoid ? WeightLaw::softmax : law;
}

/// The law of one row: exp(logit - reference) times `scale`, or sigmoid(logit).
template <class T>
struct RowWeights {
  WeightLaw law = WeightLaw::softmax;
  T reference = 0, scale = 1;  ///< Of exponentials only.

  [[nodiscard]] T of(T logit) const {
    if (std::isinf(logit) && logit < 0) return 0;  // Masked, also where another token is NaN.
    return law == WeightLaw::sigmoid ? 1 / (1 + std::exp(-logit))
                                     : std::exp(logit - reference) * scale;
  }
};

/// The law of a row all of whose logits are at hand [count]; its sum is gathered in double. Not for
/// the softmax over queries.
template <class T>
[[nodiscard]] RowWeights<T> row_weights(WeightLaw law, const T* logits, std::int64_t count) {
  if (law != WeightLaw::softmax || count == 0) return {law};
  const T reference = *std::max_element(logits, logits + count);
  double sum = 0;
  for (std::int64_t c = 0; c < count; ++c) sum += std::exp(logits[c] - reference);
  return {law, reference, static_cast<T>(1 / sum)};
}

}  // namespace conelab
