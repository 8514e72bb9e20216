// Kernels for tokens that are read where they lie in memory: those of few queries are used once,
// so that packing them would take longer than using them. Like those of kernels.h they are compiled
// once for each SIMD target.
#pragma once

#include <cstddef>
#include <string>

#include "core/similarity/exponential_place.h"

namespace conelab {

/// Refers to the first `size` coordinates of `count` tokens.
template <class T>
struct LyingTokens {
  const T* rows = nullptr;    ///< [count × stride]
  std::ptrdiff_t stride = 0;  ///< Numbers from one token to the next.
  int count = 0;
  int size = 0;
};

/// Holds the parts of the distance of a placed query q from tokens x, placed at f x: |q - f x|^2 =
/// |q|^2 + |f x|^2 - 2 f q.x.
template <class T>
struct DistanceParts {
  T query_norm;      ///< |q|^2
  const T* norms;    ///< [count] |f x|^2
  const T* factors;  ///< [count] f
};

/// The number of tokens that take each step of placing together.
constexpr int placed_together = 16;

/// Holds tokens under psi or xi, and the numbers that a similarity needs of them.
template <class T>
struct ExponentialTokens {
  ExponentialMap map;
  double light, rate;        ///< The height of the light; what psi multiplies x_d by.
  double reach;              ///< As in model_map_formulas.h.
  const double* parameters;  ///< Of the similarity, as for its `token`.
  int count;                 ///< At most placed_together.
  const double* last;        ///< [placed_together] x_d; finite behind the `count`.
  double* factor;            ///< [placed_together] Out: the factors of the base coordinates.
  T* values;  ///< Out: value v of token i of the similarity at [v * value_stride + i].
  std::ptrdiff_t value_stride;
};

template <class T>
using ExponentialPlacing = bool (*)(const ExponentialTokens<T>&);

template <class T>
struct RowKernels {
  /// Computes the squared norms [count] of the tokens.
  void (*squared_norms)(const LyingTokens<T>& tokens, T* norms);
  /// Computes the products [count] of a query [size] with the tokens. The result for a token is the
  /// same whatever the others are. `query` is readable, and 0, to the end of a vector.
  void (*products)(const T* query, const LyingTokens<T>& tokens, T* products);
  /// Turns products [count] into squared distances and returns the least, ignoring NaN.
  T (*distances)(const DistanceParts<T>& parts, int count, T* products);
  /// Places tokens, by similarity as in similarity_table(). Returns false if a token is not finite,
  /// is outside the model or has numbers beyond reach, or if the similarity has other formulas: the
  /// tokens must then be placed one by one.
  const ExponentialPlacing<T>* place_together;
  /// Adds the sum of the tokens, each times its weight, to sums [size]. `size` is a multiple of a
  /// vector.
  void (*add_weighted)(const T* weights, const LyingTokens<T>& tokens, T* sums);
};

/// Returns the kernels of a target, which is chosen as in `kernels` of kernels.h. T is float or
/// double. Throws misuse if the target is unknown or cannot run on this machine.
template <class T>
[[nodiscard]] const RowKernels<T>& row_kernels(const std::string& target);

}  // namespace conelab
