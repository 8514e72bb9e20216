// Successive keys of one query, grouped by their clipped relative position c = clip(j - i', -k, k)
// + k (Shaw et al., section 3.2).
#pragma once

#include <algorithm>
#include <cstdint>

namespace conelab {

/// The first keys may share c = 0 and the last ones c = 2k; each key between them has its own c.
class ClippedRun {
 public:
  /// `offset` is j - i' of the first of `count` keys; `clip` is k.
  ClippedRun(std::int64_t offset, std::int64_t clip, std::int64_t count)
      : last_(2 * clip),
        first_(offset + clip),
        count_(count),
        left_(std::clamp<std::int64_t>(-first_, 0, count)),
        right_(std::clamp<std::int64_t>(last_ + 1 - first_, 0, count)) {}

  /// Sets out [count] to the entries c of a table [2k+1].
  template <class T>
  void spread(const T* table, T* out) const {
    std::fill(out, out + left_, table[0]);
    for (std::int64_t c = left_; c < right_; ++c) out[c] = table[first_ + c];
    std::fill(out + right_, out + count_, table[last_]);
  }
  /// Adds the numbers [count] of the keys to the entries c of sums [2k+1].
  template <class T, class N>
  void gather(const T* numbers, N* sums) const {
    double left = 0, right = 0;
    for (std::int64_t c = 0; c < left_; ++c) left += static_cast<double>(numbers[c]);
    for (std::int64_t c = left_; c < right_; ++c) sums[first_ + c] += static_cast<N>(numbers[c]);
    for (std::int64_t c = right_; c < count_; ++c) right += static_cast<double>(numbers[c]);
    sums[0] += static_cast<N>(left);
    sums[last_] += static_cast<N>(right);
  }

 private:
  std::int64_t last_, first_, count_;
  /// Keys before `left_` have c = 0; those from `right_` on have c = 2k.
  std::int64_t left_, right_;
};

}  // namespace conelab
