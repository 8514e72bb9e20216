#include "core/tiles/bad_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace conelab {
namespace {

constexpr std::size_t part_keys = 256;

}  // namespace

template <class S>
BadValues<S>::BadValues(bool einstein, const S* values, std::int64_t value_size,
                        std::vector<std::int64_t> keys)
    : einstein_(einstein), values_(values), value_size_(value_size), keys_(std::move(keys)) {
  for (std::size_t first = 0; first < keys_.size(); first += part_keys) {
    Part part{first, std::min(first + part_keys, keys_.size()) - 1, {}};
    part.sums.assign(static_cast<std::size_t>(value_size), T(0));
    for (std::size_t i = part.first; i <= part.last; ++i) add(keys_[i], part.sums.data());
    parts_.push_back(std::move(part));
  }
}

template <class S>
void BadValues<S>::spoil(const Mask& mask, std::int64_t batch, std::int64_t query,
                         S* output) const {
  if (parts_.empty()) return;
  Buffer<T> sums(static_cast<std::size_t>(value_size_));
  std::fill(sums.begin(), sums.end(), T(0));
  for (const Part& part : parts_) add_seen(part, mask, batch, query, sums.data());
  for (std::int64_t c = 0; c < value_size_; ++c) {
    const T sum = sums[static_cast<std::size_t>(c)];
    if (sum != 0) output[c] = static_cast<S>(output[c] + sum);
  }
}

template <class S>
void BadValues<S>::add_seen(const Part& part, const Mask& mask, std::int64_t batch,
                            std::int64_t query, T* sums) const {
  const Cover cover =
      mask.cover({batch, query, query + 1, keys_[part.first], keys_[part.last] + 1});
  if (cover == Cover::all) {
    for (std::int64_t c = 0; c < value_size_; ++c)
      sums[c] += part.sums[static_cast<std::size_t>(c)];
  }
  if (cover != Cover::partial) return;
  for (std::size_t i = part.first; i <= part.last; ++i) {
    if (!mask.admits(batch, query, keys_[i])) continue;
    add(keys_[i], sums);
    if (std::all_of(sums, sums + value_size_, [](T sum) { return std::isnan(sum); })) return;
  }
}

template <class S>
void BadValues<S>::add(std::int64_t key, T* sums) const {
  const S* value = values_ + key * value_size_;
  for (std::int64_t c = 0; c < value_size_; ++c) {
    const T x = einstein_ ? std::numeric_limits<T>::quiet_NaN() : T(value[c]);
    if (!std::isfinite(x)) sums[c] += x;
  }
}

template class BadValues<float>;
template class BadValues<double>;
template class BadValues<Float16>;
template class BadValues<Bfloat16>;

}  // namespace conelab
