// Averages of the tokens before (or after) each token of a block. Every feature has its own
// weights:
//
//   logit_ijf = 5 tanh((q_if + k_jf) / 5),   average_if = sum_j softmax_j(logit_ijf) v_jf
//
// where the sum is over j < i, or over j > i: the masked self-attention of Bi-BloSAN (ICLR 2018,
// section 3). With r = 1 / (1 + e^(2 (q + k) / 5)) the logit is 5 - 10 r. The weights are computed
// as e^-10r. They lie between e^-10 and 1, so no maximum has to be subtracted. The derivative is
// dlogit/d(q + k) = 4 r (1 - r).
//
// The loops are compiled once for each SIMD target, like those of kernels.h.
#pragma once

#include <cstddef>
#include <string>

namespace conelab {

/// The number of columns of a block must be a multiple of this.
constexpr int bounded_columns = 16;

/// Some columns of a block. The arrays are [rows × columns], row-major with leading dimension
/// `stride`.
template <class T>
struct BoundedBlock {
  const T* query;
  const T* key;
  const T* value;
  T* average;      ///< Output; 0 in a row that averages no other row.
  T* inverse_sum;  ///< Output: 1 / sum of the weights e^-10r; 0 in such a row.
  std::ptrdiff_t stride;
  int rows, columns;
  bool later;  ///< Whether a row averages the rows after it instead of those before it.
};

/// The backward pass, from dL/d(average). The arrays of derivatives are overwritten, not added to.
template <class T>
struct BoundedSlopes {
  BoundedBlock<T> block;  ///< `average` and `inverse_sum` must have been computed.
  const T* average_slope;
  T* query_slope;
  T* key_slope;
  T* value_slope;
};

template <class T>
struct BoundedKernels {
  void (*average)(const BoundedBlock<T>& block);
  void (*slopes)(const BoundedSlopes<T>& slopes);
};

/// Returns the kernels of a target, which is chosen as in `kernels` of kernels.h. T is float or
/// double. Throws misuse if the target is unknown or cannot run on this machine.
template <class T>
[[nodiscard]] BoundedKernels<T> bounded_kernels(const std::string& target);

}  // namespace conelab
