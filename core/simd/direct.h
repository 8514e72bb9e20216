// Kernels that take less time than products of packed panels: for few queries, where packing the
// keys would take most of the time, and for tokens and values of few dimensions, where a panel
// would be mostly padding. Like those of kernels.h they are compiled once for each SIMD target.
#pragma once

#include <cstddef>
#include <string>

namespace conelab {

/// The largest number of base coordinates, and of values, for which the narrow kernels take less
/// time than products of panels.
constexpr int most_narrow = 16;

/// Few queries and the keys that they are measured with, which are not packed.
template <class T>
struct RowTile {
  int rows, count, depth;
  const T* query;  ///< [rows × query_stride] Zero from `depth` up to a whole vector.
  std::ptrdiff_t query_stride;
  const T* key;  ///< [count × key_stride]
  std::ptrdiff_t key_stride;
  T* tile;  ///< [rows × count] Out: the measures. Up to 3 more columns may be written.
  std::ptrdiff_t stride;
};

/// Weights and the values that they weigh, and where the sums go.
template <class T>
struct WeightedSums {
  int rows, count, size;
  const T* weights;  ///< [rows × count]
  std::ptrdiff_t weight_stride;
  const T* values;  ///< [count × size] in row_sums; transposed, [size × count], in narrow_sums.
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
struct DirectKernels {
  /// Compute q.k, and |q - k|^2, of few queries with keys. They return
  /// the largest absolute measure, or NaN if any is not finite, as where a key is not.
  T (*row_products)(const RowTile<T>& tile);
  T (*row_distances)(const RowTile<T>& tile);
  /// Sums values in their own layout. `size` is a multiple of a panel's columns.
  void (*row_sums)(const WeightedSums<T>& sums);
  /// Computes |q - k|^2 from differences: such a distance does not cancel.
  void (*narrow_distance)(const NarrowTile<T>& tile);
  /// Sums transposed values of few dimensions. `count` is a multiple of Kernels::column_multiple.
  void (*narrow_sums)(const WeightedSums<T>& sums);
};

/// Returns the kernels of a target, which is chosen as in `kernels` of kernels.h. T is float or
/// double. Throws misuse if the target is unknown or cannot run on this machine.
template <class T>
[[nodiscard]] const DirectKernels<T>& direct_kernels(const std::string& target);

}  // namespace conelab
