// Dropout of weights:
//
//   output_i = sum_j d_ij w_ij v_j,   d_ij = 0 with probability p, else 1 / (1 - p)
//
// (Srivastava et al. 2014; on the weights of attention: Vaswani et al. 2017, section 5.4). The sums
// of rows, and thus w_ij and the log-sum-exp, are those without dropout. d_ij is a function of the
// seed, the head, and the positions of query and key in their sequences. So it is the same in both
// passes, for any number of threads and for any slices, and no array of n x n numbers exists.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/positions.h"
#include "core/base/random.h"

namespace conelab {

struct Dropout {
  double share = 0;  ///< p, in [0, 1). 0: no dropout.
  std::uint64_t seed = 0;
};

/// d_ij of one query.
class RowDropout {
 public:
  /// `head` is batch * heads + head, `query` a position.
  RowDropout(const Dropout& dropout, std::int64_t head, std::int64_t query)
      : threshold_(static_cast<std::uint32_t>(dropout.share * 0x1p32)),
        kept_(1 / (1 - dropout.share)) {
    std::uint64_t state = dropout.seed;
    state = splitmix64(state) + static_cast<std::uint64_t>(head);
    state = splitmix64(state) + static_cast<std::uint64_t>(query);
    bits_ = splitmix64(state);
  }

  /// Returns d_ij of a key, given its position. The steps are those of MurmurHash3 (Appleby), whose
  /// result is uniform; the second half of the row's bits enters between them.
  [[nodiscard]] double factor(std::int64_t key) const {
    auto x = static_cast<std::uint32_t>(bits_) + static_cast<std::uint32_t>(key) * 0x9e3779b9U;
    x = (x ^ x >> 16) * 0x85ebca6bU;
    x ^= static_cast<std::uint32_t>(bits_ >> 32);
    x = (x ^ x >> 13) * 0xc2b2ae35U;
    x ^= x >> 16;
    return x < threshold_ ? 0 : kept_;
  }

 private:
  std::uint32_t threshold_;
  double kept_;
  std::uint64_t bits_ = 0;
};

/// Multiplies numbers [rows x count] of pairs by their d_ij. The pairs are those of a head's
/// queries from `query` on and keys from `key` on, which the slice numbers.
template <class T>
void drop_pairs(const Dropout& dropout, const Slice& slice, std::int64_t head, std::int64_t query,
                int rows, std::int64_t key, int count, T* numbers, std::ptrdiff_t stride) {
  for (int r = 0; dropout.share > 0 && r < rows; ++r) {
    const RowDropout row(dropout, head, slice.of_query(query + r));
    T* own = numbers + r * stride;
    for (int c = 0; c < count; ++c) own[c] *= static_cast<T>(row.factor(slice.of_key(key + c)));
  }
}

}  // namespace conelab
