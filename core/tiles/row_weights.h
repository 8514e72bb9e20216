// From the logits of one row to its weights, outside the tiles: maps, and what is shown of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/weights.h"

namespace conelab {

/// The law of one row: exp(logit - reference) / sum, or sigmoid(logit).
template <class T>
struct RowWeights {
  WeightLaw law = WeightLaw::softmax;
  T reference = 0, inverse_sum = 0;  ///< Of a softmax only.

  [[nodiscard]] T of(T logit) const {
    if (std::isinf(logit) && logit < 0) return 0;  // Masked, also where another token is NaN.
    return law == WeightLaw::sigmoid ? 1 / (1 + std::exp(-logit))
                                     : std::exp(logit - reference) * inverse_sum;
  }
};

/// The law of a row all of whose logits are at hand [count]; its sum is gathered in double.
template <class T>
[[nodiscard]] RowWeights<T> row_weights(WeightLaw law, const T* logits, std::int64_t count) {
  if (law == WeightLaw::sigmoid || count == 0) return {law};
  const T reference = *std::max_element(logits, logits + count);
  double sum = 0;
  for (std::int64_t c = 0; c < count; ++c) sum += std::exp(logits[c] - reference);
  return {law, reference, static_cast<T>(1 / sum)};
}

}  // namespace conelab
