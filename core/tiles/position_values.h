// What a bias that depends on queries adds to the output (Shaw et al. eq. 3):
//
//   output_i += sum_j w_ij shaw_v[c],   c = clip(j - i', -k, k) + k
//
// The passes sum the weights of a query by c, which gives 2k + 1 numbers, and multiply these by
// shaw_v at the end. This class holds shaw_v of one head.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/call/plan.h"
#include "core/simd/kernels.h"
#include "core/tiles/clipped_run.h"

namespace conelab {

template <class T>
class PositionValues {
 public:
  /// `values` are the parameters of the bias for this head.
  PositionValues(const Plan& plan, const PartValues& values) : extents_(plan.extents) {
    if (!plan.bias->of_queries) return;
    const auto& given = values.tensor[static_cast<std::size_t>(RelativePositions::values)];
    table_.assign(given.begin(), given.end());
    clip_ = std::llround(values.p[static_cast<std::size_t>(RelativePositions::clip)]);
  }

  [[nodiscard]] bool exist() const { return !table_.empty(); }
  /// Returns 2k + 1, or 0 if there are no such values.
  [[nodiscard]] std::int64_t count() const { return exist() ? 2 * clip_ + 1 : 0; }
  /// Returns the positions c of successive keys of a query, the first of which is `key`.
  [[nodiscard]] ClippedRun run(std::int64_t query, std::int64_t key, std::int64_t keys) const {
    return {extents_.slice().offset(query, key), clip_, keys};
  }
  /// Adds the product of a query's weights by position [2k+1] and shaw_v to out [d_v].
  void add(const T* weights, T* out) const {
    const T* value = table_.data();
    for (std::int64_t c = 0; c < count(); ++c, value += extents_.value) {
      for (std::int64_t x = 0; x < extents_.value; ++x) out[x] += weights[c] * value[x];
    }
  }
  /// Sets slopes [2k+1] to dL/d(weight) by position, given dL/d(output) [d_v] of a query.
  void slopes(const Kernels<T>& kernels, const T* upstream, T* slopes) const {
    const auto size = static_cast<int>(extents_.value);
    for (std::int64_t c = 0; c < count(); ++c) {
      slopes[c] =
          static_cast<T>(kernels.exact_product(upstream, table_.data() + c * extents_.value, size));
    }
  }
  /// Adds to dL/d(shaw_v), given the weights by position and dL/d(output) of a query.
  void collect(const double* weights, const T* upstream, PartValues& gradient) const {
    double* out = gradient.tensor[static_cast<std::size_t>(RelativePositions::values)].data();
    for (std::int64_t c = 0; c < count(); ++c, out += extents_.value) {
      for (std::int64_t x = 0; x < extents_.value; ++x) {
        out[x] += weights[c] * static_cast<double>(upstream[x]);
      }
    }
  }

 private:
  Extents extents_;
  std::int64_t clip_ = 0;
  std::vector<T> table_;  ///< [2k+1 × d_v] shaw_v; empty if there are no such values.
};

}  // namespace conelab
