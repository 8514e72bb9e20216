// Kernels for tokens and values of few dimensions, where a panel would be mostly padding. Like
// those of kernels.h they are compiled once for each SIMD target.
#pragma once

#include <cstddef>
#include <string>

namespace conelab {

/// The largest number of base coordinates, and of values, for which the narrow kernels take less
/// time than products of panels.
constexpr int most_narrow = 16;

/// Weights and the values that they weigh, and where the sums go.
template <class T>
struct WeightedSums {
  int rows, count, size;
  const T* weights;  ///< [rows × count]
  std::ptrdiff_t weight_stride;
  const T* values;  ///< [size × count], transposed.
  std::ptrdiff_t value_stride;
  T* sums;  ///< [rows × size] The sums are added to these.
  std::ptrdiff_t stride;
};

/// Queries and keys of few dimensions.
template <class T>
struct NarrowTile {
  int rows, columns, depth;
  const T* query;  ///< [rows × query_stride]
  std::ptrdiff_t query_stride;
  const T* panels;  ///< [depth × columns] The keys, packed (Kernels::pack_panels) by one step.
  std::ptrdiff_t panel_stride;
  T* tile;  ///< [rows × columns] Out: the squared distances.
  std::ptrdiff_t stride;
};

template <class T>
struct NarrowKernels {
  /// Computes |q - k|^2 from differences: such a distance does not cancel.
  void (*distance)(const NarrowTile<T>& tile);
  /// Sums transposed values of few dimensions. `count` is a multiple of Kernels::column_multiple.
  void (*sums)(const WeightedSums<T>& sums);
};

/// Returns the kernels of a target, which is chosen as in `kernels` of kernels.h. T is float or
/// double. Throws misuse if the target is unknown or cannot run on this machine.
template <class T>
[[nodiscard]] const NarrowKernels<T>& narrow_kernels(const std::string& target);

}  // namespace conelab
