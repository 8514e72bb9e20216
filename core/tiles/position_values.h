// What a bias of queries adds to values: output_i += sum_j w_ij a_c, a = shaw_v and c = clip(j -
// i', -k, k) + k (Shaw et al. eq. 3). The passes gather weights by c, 2k + 1 numbers for each
// query, whose product with a is added at the end.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/call/plan.h"
#include "core/simd/kernels.h"
#include "core/tiles/clipped_run.h"

namespace conelab {

/// Those of one head.
template <class T>
class PositionValues {
 public:
  /// `values` are the bias's parameters for this head.
  PositionValues(const Plan& plan, const PartValues& values) : extents_(plan.extents) {
    if (!plan.bias->of_queries) return;
    const auto& given = values.tensor[static_cast<std::size_t>(RelativePositions::values)];
    table_.assign(given.begin(), given.end());
    clip_ = std::llround(values.p[static_cast<std::size_t>(RelativePositions::clip)]);
  }

  [[nodiscard]] bool exist() const { return !table_.empty(); }
  /// 2k + 1, or 0 where there are none.
  [[nodiscard]] std::int64_t count() const { return exist() ? 2 * clip_ + 1 : 0; }
  /// `keys` keys of a query, the first of which is `key`.
  [[nodiscard]] ClippedRun run(std::int64_t query, std::int64_t key, std::int64_t keys) const {
    return {key - query - extents_.key + extents_.query, clip_, keys};
  }
  /// Adds the product of a query's weights by position [2k+1] and the values to out [d_v].
  void add(const T* weights, T* out) const {
    const T* value = table_.data();
    for (std::int64_t c = 0; c < count(); ++c, value += extents_.value) {
      for (std::int64_t x = 0; x < extents_.value; ++x) out[x] += weights[c] * value[x];
    }
  }
  /// Sets slopes [2k+1] to dL/dweight by position, from a query's dL/doutput [d_v].
  void slopes(const Kernels<T>& kernels, const T* upstream, T* slopes) const {
    const auto size = static_cast<int>(extents_.value);
    for (std::int64_t c = 0; c < count(); ++c) {
      slopes[c] =
          static_cast<T>(kernels.exact_product(upstream, table_.data() + c * extents_.value, size));
    }
  }
  /// Adds to dL/dshaw_v what follows from a query's weights by position and its dL/doutput.
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
  std::vector<T> table_;  ///< [2k+1 x d_v]
};

}  // namespace conelab
