#include "core/tiles/non_finite_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace conelab {

template <class S>
NonFiniteValues<S>::NonFiniteValues(Aggregate aggregate, const TokenRows<const S>& values,
                                    std::vector<std::int64_t> keys)
    : aggregate_(aggregate),
      values_(values),
      keys_(std::move(keys)),
      sums_(static_cast<std::size_t>(values.columns), T(0)) {
  for (const std::int64_t key : keys_) add(key, sums_.data());
}

template <class S>
void NonFiniteValues<S>::add_seen(const Mask& mask, std::int64_t element, std::int64_t query,
                                  S* output) const {
  if (keys_.empty()) return;
  const Cover cover = mask.cover({element, query, query + 1, keys_.front(), keys_.back() + 1});
  if (cover == Cover::none) return;
  std::vector<T> sums = sums_;
  if (cover == Cover::partial) {
    std::fill(sums.begin(), sums.end(), T(0));
    for (const std::int64_t key : keys_) {
      if (mask.admits(element, query, key)) add(key, sums.data());
    }
  }
  for (std::int64_t c = 0; c < values_.columns; ++c) {
    const T sum = sums[static_cast<std::size_t>(c)];
    if (sum != 0) output[c] = static_cast<S>(output[c] + sum);
  }
}

template <class S>
void NonFiniteValues<S>::add(std::int64_t key, T* sums) const {
  const S* value = values_.row(key);
  for (std::int64_t c = 0; c < values_.columns; ++c) {
    const T x = is_midpoint(aggregate_) ? std::numeric_limits<T>::quiet_NaN() : T(value[c]);
    if (!std::isfinite(x)) sums[c] += x;
  }
}

template class NonFiniteValues<float>;
template class NonFiniteValues<double>;
template class NonFiniteValues<Float16>;
template class NonFiniteValues<Bfloat16>;

}  // namespace conelab
