#include "core/tiles/row_sums.h"

#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "core/tiles/exact.h"
#include "core/tiles/tile_size.h"

namespace conelab {
namespace {

/// floor(log2 x) of a normal number.
int exponent_of(double x) {
  return static_cast<int>(__builtin_bit_cast(std::uint64_t, x) >> 52U & 0x7ffU) - 1023;
}

}  // namespace

template <class T>
RowSums<T>::RowSums(const Plan& plan, const Kernels<T>& kernels, int rows, std::ptrdiff_t stride)
    : kernels_(&kernels),
      stride_(stride),
      refers_(!plan.sigmoid),
      sharpens_(sharpens_weights<T>(plan)),
      sums_(static_cast<std::size_t>(rows * stride), T(0)),
      totals_(static_cast<std::size_t>(rows), 0.0),
      references_(totals_.size(), refers_ ? no_reference<T> : T(0)),
      last_large_(totals_.size(), none),
      value_(static_cast<std::size_t>(stride)) {}

template <class T>
bool RowSums<T>::any_moved(const WeightTile<T>& tile, int row) const {
  const T* before = references(row);
  int any = 0;  // No early exit: the loop is one of vectors.
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
  if (before == no_reference<T>) return;  // The row has gathered nothing.
  const T scale = std::exp(before - reference);
  totals_[static_cast<std::size_t>(row)] *= static_cast<double>(scale);
  T* own = sums(row);
  for (std::ptrdiff_t c = 0; c < stride_; ++c) own[c] *= scale;
}

template <class T>
void RowSums<T>::set_apart(const WeightTile<T>& tile, int row) {
  for (int r = 0; r < tile.score.rows; ++r) {
    totals_[static_cast<std::size_t>(row + r)] += static_cast<double>(tile.row_sum[r]);
  }
  apart_.clear();
  for (int r = 0; r < tile.score.rows; ++r) {
    double& total = totals_[static_cast<std::size_t>(row + r)];
    // The largest weight against a quarter of the sum, by powers of two: an eighth at times.
    const T above = tile.row_maximum[r] - tile.reference[r];
    if (!(above * T(1 / std::numbers::ln2) >= static_cast<T>(exponent_of(total) - 2))) continue;
    if (!is_fine(static_cast<double>(tile.reference[r]))) continue;
    HeavyWeight<T> heavy[most_heavy];
    T rest;
    const int count =
        kernels_->take_heavy(tile.score.tile + r * tile.score.stride, tile.score.columns,
                             static_cast<T>(total / most_heavy), heavy, &rest);
    total += static_cast<double>(rest) - static_cast<double>(tile.row_sum[r]);
    for (HeavyWeight<T>& h : std::span(heavy, static_cast<std::size_t>(count))) {
      h.row = r;
      total += static_cast<double>(h.weight);
      apart_.push_back(h);
    }
  }
}

template <class T>
void RowSums<T>::add_apart(const WeightTile<T>& tile, int row, const T* panels,
                           std::int64_t first_key) {
  for (const HeavyWeight<T>& h : apart_) {
    T* own = sums(row + h.row);
    kernels_->read_step(panels, kernels_->packed_size(forward_keys<T>), h.column,
                        static_cast<int>(stride_), value_.data());
    for (std::ptrdiff_t c = 0; c < stride_; ++c) {
      own[c] += h.weight * value_[static_cast<std::size_t>(c)];
    }
    if (!sharpens_ || h.weight < least_share * total(row + h.row)) continue;
    int& last = last_large_[static_cast<std::size_t>(row + h.row)];
    large_.push_back({h.weight, tile.reference[h.row], first_key + h.column, last});
    last = static_cast<int>(large_.size()) - 1;
  }
}

template <class T>
void RowSums<T>::sharpen(int row, const std::function<double(std::int64_t key)>& logit,
                         const std::function<void(std::int64_t key, T* out)>& value) {
  const auto r = static_cast<std::size_t>(row);
  const double total = totals_[r];
  const auto reference = static_cast<double>(references_[r]);
  for (int at = last_large_[r]; at != none;) {
    const LargeWeight& large = large_[static_cast<std::size_t>(at)];
    at = large.before;
    const double fallen = static_cast<double>(large.reference) - reference;
    const double weight = static_cast<double>(large.weight) * (fallen == 0 ? 1 : std::exp(fallen));
    if (!is_decisive(weight / total, reference)) continue;
    const double exact = std::exp(logit(large.key) - reference);
    const double excess = sharpened(weight, exact) - weight;
    totals_[r] += excess;
    value(large.key, value_.data());
    T* own = sums(row);
    for (std::ptrdiff_t c = 0; c < stride_; ++c) {
      own[c] += static_cast<T>(excess) * value_[static_cast<std::size_t>(c)];
    }
  }
}

template class RowSums<float>;
template class RowSums<double>;

}  // namespace conelab
