// Placed tokens as operands of the kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/buffer.h"

namespace conelab {

/// Returns the leading dimension of placed tokens with this number of base coordinates.
[[nodiscard]] constexpr std::ptrdiff_t operand_stride(int base_size, int panel) {
  return round_up<std::ptrdiff_t>(std::max(1, base_size), panel);
}

/// Placed tokens as operands of the kernels.
template <class T>
struct Operand {
  std::ptrdiff_t stride = 0;  ///< Leading dimension of `base`, a multiple of the panel width.
  std::ptrdiff_t value_stride = 0;
  Buffer<T> base;    ///< [tokens × stride] Base coordinates, centred; 0 beyond base_size.
  Buffer<T> values;  ///< [values × value_stride] Values of the tokens for the similarity.
  Buffer<T> norms;   ///< [tokens] Squared norms of the rounded base coordinates.
  /// Tokens that are not finite or beyond `reach` (head.h), ascending. Their numbers above are 0,
  /// so that they cannot affect rows that do not see them; the tiles set the measures of their
  /// pairs to NaN.
  std::vector<std::int64_t> non_finite;

  [[nodiscard]] T largest_norm() const {
    return norms.empty() ? T(0) : *std::max_element(norms.begin(), norms.end());
  }
};

}  // namespace conelab
