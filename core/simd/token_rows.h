// Kernels for tokens that are read where they lie in memory: those of few queries are used once,
// so that packing them would take longer than using them. Like those of kernels.h they are compiled
// once for each SIMD target.
#pragma once

#include <cstddef>
#include <string>

#include "core/similarity/exponential_place.h"

namespace conelab {

/// The first `size` coordinates of `count` tokens.
template <class T>
struct LyingTokens {
  const T* rows = nullptr;    ///< [count × stride]
  std::ptrdiff_t stride = 0;  ///< Numbers from one token to the next.
  int count = 0;
  int size = 0;
};

/// What the distance of a placed query q from the tokens x, placed at f x, is computed from:
/// |q - f x|^2 = |q|^2 + |f x|^2 - 2 f q.x.
template <class T>
struct DistanceParts {
  T query_norm;      ///< |q|^2
  const T* norms;    ///< [count] |f x|^2
  const T* factors;  ///< [count] f
};

/// The places of tokens under a map that depends on x_d alone.
struct ExponentialPlaces {
  ExponentialMap map;
  double light, rate;  ///< As in ModelMapContext; the factor of x_d.
  const double* last;  ///< [count] x_d
  int count;
  double *factor, *light_distance;  ///< [count] Out: the factor, which is the height, too.
};

template <class T>
struct RowKernels {
  /// Computes the squared norms [count] of the tokens.
  void (*squared_norms)(const LyingTokens<T>& tokens, T* norms);
  /// Computes the products [count] of a query [size] with the tokens. The result for a token is the
  /// same whatever the others are. `query` is readable, and 0, to the end of a vector.
  void (*products)(const T* query, const LyingTokens<T>& tokens, T* products);
  /// Turns products [count] into squared distances and returns the least, ignoring NaN.
  T (*distances)(const DistanceParts<T>& parts, int count, T* products);
  void (*places)(const ExponentialPlaces& places);
  /// Adds the sum of the tokens, each times its weight, to sums [size]. `size` is a multiple of a
  /// vector.
  void (*add_weighted)(const T* weights, const LyingTokens<T>& tokens, T* sums);
};

/// Returns the kernels of a target, which is chosen as in `kernels` of kernels.h. T is float or
/// double. Throws misuse if the target is unknown or cannot run on this machine.
template <class T>
[[nodiscard]] const RowKernels<T>& row_kernels(const std::string& target);

}  // namespace conelab
