#include "core/tiles/row_sums.h"

#include <cmath>
#include <utility>

namespace conelab {
template <class T>
RowSums<T>::RowSums(int rows, std::ptrdiff_t stride)
    : stride_(stride),
      sums_(static_cast<std::size_t>(rows * stride), T(0)),
      totals_(static_cast<std::size_t>(rows), 0.0),
      references_(totals_.size(), no_reference<T>) {}

template <class T>
bool RowSums<T>::any_moved(const WeightTile<T>& tile, int row) const {
  const T* before = references(row);
  int any = 0;  // There is no early exit, so that the loop can be vectorised.
  for (int r = 0; r < tile.score.rows; ++r) {
    any |= static_cast<int>(tile.reference[r] != before[r]) |
           static_cast<int>(is_lost(tile.reference[r], tile.row_maximum[r]));
  }
  return any != 0;
}

template <class T>
void RowSums<T>::move_reference(int row, T reference) {
  T& m = references_[static_cast<std::size_t>(row)];
  const T before = std::exchange(m, reference);
  if (before == no_reference<T>) return;  // The row has no sums yet.
  const T scale = std::exp(before - reference);
  totals_[static_cast<std::size_t>(row)] *= static_cast<double>(scale);
  T* own = sums(row);
  for (std::ptrdiff_t c = 0; c < stride_; ++c) own[c] *= scale;
}

template <class T>
void RowSums<T>::add(const WeightTile<T>& tile, int row) {
  for (int r = 0; r < tile.score.rows; ++r) {
    totals_[static_cast<std::size_t>(row + r)] += static_cast<double>(tile.row_sum[r]);
  }
}

template class RowSums<float>;
template class RowSums<double>;

}  // namespace conelab
