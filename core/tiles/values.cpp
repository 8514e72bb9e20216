#include "core/tiles/values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/tiles/aggregate.h"
#include "core/tiles/row_weights.h"
#include "core/tiles/tile_size.h"

namespace conelab {
namespace {

/// Up to this size in bytes, the panels of all tiles of a head are kept.
constexpr std::size_t kept_limit = 8 << 20;
/// Values that are checked, extended and packed together, so that they stay in the first-level
/// cache. It is a multiple of a packed panel's unit.
constexpr int chunk = 32;
/// Numbers between the rows of transposed values, which would otherwise share few sets of the
/// cache.
constexpr std::ptrdiff_t narrow_gap = 16;

}  // namespace

template <class S>
PackedValues<S>::PackedValues(const Plan& plan, const Kernels<T>& kernels,
                              const AttentionInput<S>& input, std::int64_t head, bool keeps)
    : plan_(&plan),
      kernels_(&kernels),
      head_(head),
      values_(input.value.tokens(head / plan.extents.head, head % plan.extents.head,
                                 plan.extents.head)),
      size_(aggregate_width(plan.aggregate, plan.extents.value)),
      stride_(value_stride(plan.aggregate, plan.extents.value, kernels.panel)),
      narrow_stride_(
          round_up<std::int64_t>(std::min<std::int64_t>(forward_keys<T>, plan.extents.key),
                                 kernels.column_multiple) +
          narrow_gap),
      non_finite_(
          static_cast<std::size_t>((plan.extents.key + forward_keys<T> - 1) / forward_keys<T>)) {
  const std::size_t numbers = non_finite_.size() * panel_numbers();
  if (keeps && numbers * sizeof(T) <= kept_limit) kept_.resize(numbers);
}

template <class S>
std::size_t PackedValues<S>::panel_numbers() const {
  if (is_narrow()) return static_cast<std::size_t>(size_ * narrow_stride_);
  return static_cast<std::size_t>(stride_ / kernels_->panel *
                                  kernels_->packed_size(forward_keys<T>));
}

template <class S>
int PackedValues<S>::keys_of(int tile) const {
  return static_cast<int>(
      std::min<std::int64_t>(forward_keys<T>, plan_->extents.key - tile * forward_keys<T>));
}

template <class S>
void PackedValues<S>::load(int tile, T* panels, std::vector<std::int64_t>& non_finite) const {
  const std::ptrdiff_t panel_stride = kernels_->packed_size(forward_keys<T>);
  const int keys = keys_of(tile);
  Buffer<T> extended;
  for (int c = 0; is_narrow() && c < size_; ++c) {
    std::fill(panels + c * narrow_stride_ + keys,
              panels + c * narrow_stride_ + round_up(keys, kernels_->column_multiple), T(0));
  }
  for (int begin = 0; begin < keys; begin += chunk) {
    const int count = std::min(chunk, keys - begin);
    const std::int64_t first = static_cast<std::int64_t>(tile) * forward_keys<T> + begin;
    const TokenRows<const S> rows = values_.part(first, count);
    T* out = panels + kernels_->packed_size(begin);
    if constexpr (std::is_same_v<S, T>) {
      const bool dense = as_they_are(tile) && rows.stride == stride_;
      if (dense && kernels_->split_panels(rows.data, stride_, count, out, panel_stride)) continue;
    }
    extended.resize(static_cast<std::size_t>(chunk * stride_));
    extend_values(*plan_, head_, rows, first, stride_, extended.data(), non_finite);
    if (!is_narrow()) {
      (void)kernels_->split_panels(extended.data(), stride_, count, out, panel_stride);
      continue;
    }
    for (int c = 0; c < size_; ++c) {
      T* row = panels + c * narrow_stride_ + begin;
      for (int i = 0; i < count; ++i) row[i] = extended[static_cast<std::size_t>(i * stride_ + c)];
    }
  }
}

template <class S>
void PackedValues<S>::pack(int tile) {
  const auto at = static_cast<std::size_t>(tile);
  Buffer<T> unused;
  if (kept_.empty()) unused.resize(panel_numbers());
  T* panels = kept_.empty() ? unused.data() : kept_.data() + at * panel_numbers();
  load(tile, panels, non_finite_[at]);
}

template <class S>
RightOperand<Compute<S>> PackedValues<S>::panels(int tile, Buffer<T>& room,
                                                 std::vector<std::int64_t>& non_finite) const {
  const T* data = kept_.data() + static_cast<std::size_t>(tile) * panel_numbers();
  if (kept_.empty()) {
    room.resize(panel_numbers());
    load(tile, room.data(), non_finite);
    data = room.data();
  }
  if (is_narrow()) return {data, narrow_stride_, false};
  return {data, kernels_->packed_size(forward_keys<T>), true};
}

template <class S>
std::optional<RightOperand<Compute<S>>> PackedValues<S>::as_they_are(int tile) const {
  if constexpr (std::is_same_v<S, T>) {
    if (!is_narrow() && !is_midpoint(plan_->aggregate) && values_.columns == stride_) {
      return RightOperand<T>{values_.row(static_cast<std::int64_t>(tile) * forward_keys<T>),
                             values_.stride, false};
    }
  }
  return {};
}

template <class S>
RightOperand<Compute<S>> PackedValues<S>::extended(int tile, Buffer<T>& room,
                                                   std::vector<std::int64_t>& non_finite) const {
  const std::int64_t first = static_cast<std::int64_t>(tile) * forward_keys<T>;
  room.resize(static_cast<std::size_t>(keys_of(tile) * stride_));
  extend_values(*plan_, head_, values_.part(first, keys_of(tile)), first, stride_, room.data(),
                non_finite);
  return {room.data(), stride_, false};
}

template <class S>
std::span<const std::byte> PackedValues<S>::source(int tile) const {
  if (!kept_.empty()) {
    const auto numbers = panel_numbers();
    return std::as_bytes(
        std::span(kept_.data() + static_cast<std::size_t>(tile) * numbers, numbers));
  }
  if (values_.stride != values_.columns) return {};
  const S* rows = values_.row(static_cast<std::int64_t>(tile) * forward_keys<T>);
  return std::as_bytes(std::span(rows, static_cast<std::size_t>(keys_of(tile) * values_.columns)));
}

template <class S>
std::vector<std::int64_t> PackedValues<S>::non_finite() const {
  std::vector<std::int64_t> keys;
  for (const std::vector<std::int64_t>& tile : non_finite_)
    keys.insert(keys.end(), tile.begin(), tile.end());
  return keys;
}

template <class S>
NonFiniteValues<S>::NonFiniteValues(Aggregate aggregate, const TokenRows<const S>& values,
                                    std::vector<std::int64_t> keys)
    : aggregate_(aggregate),
      values_(values),
      keys_(std::move(keys)),
      sums_(static_cast<std::size_t>(values.columns), T(0)) {
  for (const std::int64_t key : keys_) add(key, sums_.data());
}

template <class S>
void NonFiniteValues<S>::add_seen(const Mask& mask, std::int64_t element, std::int64_t query,
                                  S* output) const {
  if (keys_.empty()) return;
  const Cover cover = mask.cover({element, query, query + 1, keys_.front(), keys_.back() + 1});
  if (cover == Cover::none) return;
  std::vector<T> sums = sums_;
  if (cover == Cover::partial) {
    std::fill(sums.begin(), sums.end(), T(0));
    for (const std::int64_t key : keys_) {
      if (mask.admits(element, query, key)) add(key, sums.data());
    }
  }
  for (std::int64_t c = 0; c < values_.columns; ++c) {
    const T sum = sums[static_cast<std::size_t>(c)];
    if (sum != 0) output[c] = static_cast<S>(output[c] + sum);
  }
}

template <class S>
void NonFiniteValues<S>::add(std::int64_t key, T* sums) const {
  const S* value = values_.row(key);
  for (std::int64_t c = 0; c < values_.columns; ++c) {
    const T x = is_midpoint(aggregate_) ? std::numeric_limits<T>::quiet_NaN() : T(value[c]);
    if (!std::isfinite(x)) sums[c] += x;
  }
}

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

template <class T>
void RowSums<T>::join(RowSums& other) {
  for (std::size_t r = 0; r < totals_.size(); ++r) {
    const int row = static_cast<int>(r);
    const T highest = std::max(references_[r], other.references_[r]);
    if (highest == no_reference<T>) continue;
    move_reference(row, highest);
    other.move_reference(row, highest);
    totals_[r] += other.totals_[r];
    std::transform(sums(row), sums(row) + stride_, other.sums(row), sums(row), std::plus<T>());
  }
}

template class RowSums<float>;
template class RowSums<double>;

template <class S>
void finish_sums(const Plan& plan, const Compute<S>* sums, double total, Compute<S> reference,
                 std::int64_t head, std::int64_t query, double sink, Forward<S>& result) {
  using T = Compute<S>;
  const std::int64_t b = head / plan.extents.head, h = head % plan.extents.head;
  T m = total == 0 ? T(0) : reference;
  const double factor = add_sink(sink, m, total);
  const T scale = row_scale(scale_law(plan.weights, plan.aggregate), m, total, factor);
  finish_row(plan.aggregate, sums, plan.extents.value, scale, result.output.row(b, h, query));
  *result.row_reference.row(b, h, query) = m;
  *result.row_sum.row(b, h, query) = static_cast<T>(total);
  *result.lse.row(b, h, query) =
      total == 0 ? -std::numeric_limits<T>::infinity() : static_cast<T>(m + std::log(total));
  if (is_midpoint(plan.aggregate)) {
    *result.midpoint_sum.row(b, h, query) = sums[plan.extents.value] * scale;
  }
}

#define CONELAB_VALUES(S)                                                                     \
  template class PackedValues<S>;                                                             \
  template class NonFiniteValues<S>;                                                          \
  template void finish_sums(const Plan&, const Compute<S>*, double, Compute<S>, std::int64_t, \
                            std::int64_t, double, Forward<S>&);
CONELAB_EACH_TYPE(CONELAB_VALUES)

}  // namespace conelab
