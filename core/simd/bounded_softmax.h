// Averages of the tokens before (or after) each token of a block, weighed feature by feature:
//
//   logit_ijf = 5 tanh((q_if + k_jf) / 5),   average_if = sum_j softmax_j(logit_ijf) v_jf
//
// over j < i, or over j > i: masked self-attention of Bi-BloSAN (ICLR 2018, section 3). With
// r = 1 / (1 + e^(2 (q + k) / 5)) the logit is 5 - 10 r. The weights are e^-10r, which lie between
// e^-10 and 1, so that no maximum has to be subtracted, and dlogit/d(q + k) = 4 r (1 - r).
//
// The loops are compiled once for each SIMD target, like those of kernels.h.
#pragma once

#include <cstddef>
#include <string>

namespace conelab {

/// What the columns of a block must be a multiple of.
constexpr int bounded_columns = 16;

/// Some columns of a block; arrays are [rows x columns], rows `stride` apart.
template <class T>
struct BoundedBlock {
  const T* query;
  const T* key;
  const T* value;
  T* average;      ///< 0 in a row that has no other.
  T* inverse_sum;  ///< 1 / sum of the weights e^-10r; 0 in a row that has no other.
  std::ptrdiff_t stride;
  int rows, columns;
  bool later;  ///< Whether a row averages those after it.
};

/// The way back, from dL/daverage; the arrays of slopes are written, not added to.
template <class T>
struct BoundedSlopes {
  BoundedBlock<T> block;  ///< With `average` and `inverse_sum` computed.
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

/// The kernels of a target, chosen as by `kernels` of kernels.h. T is float or double. Throws
/// misuse for a target that is unknown or cannot run here.
template <class T>
[[nodiscard]] BoundedKernels<T> bounded_kernels(const std::string& target);

}  // namespace conelab
