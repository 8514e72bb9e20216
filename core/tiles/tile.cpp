#include "core/tiles/tile.h"

#include <algorithm>
#include <limits>

#include "core/similarity/table.h"

namespace conelab {

template <class S>
Cover Tiles<S>::cover(std::int64_t query_begin, std::int64_t query_end,
                      const KeyTile<T>& keys) const {
  const Cover c =
      mask_->cover({index_, query_begin, query_end, keys.first, keys.first + keys.count});
  return c == Cover::all && keys.count < keys.columns ? Cover::partial : c;
}

template <class S>
KeyTile<Compute<S>> Tiles<S>::seen_part(const QueryGroup<T>& queries,
                                        const KeyTile<T>& keys) const {
  std::int64_t begin = keys.count, end = 0;
  for (int r = 0; r < queries.rows; ++r) {
    const KeyRange range = mask_->range(index_, queries.first + r);
    if (range.end <= range.begin) continue;
    begin = std::min(begin, range.begin - keys.first);
    end = std::max(end, range.end - keys.first);
  }
  const int multiple = kernels_->column_multiple;
  const int first = static_cast<int>(std::max<std::int64_t>(begin, 0)) / multiple * multiple;
  KeyTile<T> part = keys;
  if (part.lying.rows == nullptr) {
    part.panels += first / kernels_->panel * kernels_->packed_size(head_->base_size());
  } else {
    part.lying.rows += first * part.lying.stride;
    part.factors += first;
  }
  part.values += first;
  part.norms += first;
  part.first += first;
  if (part.base != nullptr) part.base += first * queries.stride;
  part.count = std::max(0, static_cast<int>(std::min<std::int64_t>(end, keys.count)) - first);
  part.columns = round_up(part.count, multiple);
  part.lying.count = part.count;
  return part;
}

template <class S>
void Tiles<S>::measure(const QueryGroup<T>& queries, const KeyTile<T>& keys, T* tile,
                       std::ptrdiff_t stride) {
  const int depth = head_->base_size();
  const LeftOperand<T> left{queries.base, queries.stride, 1};
  const RightOperand<T> right{keys.panels, kernels_->packed_size(depth), true};
  close_pairs_.clear();
  const Measure measure = plan_->similarity->info.measure;
  if (measure == Measure::tanh_sum) {
    kernels_->tanh_sum(queries.rows, keys.count, depth / 2, queries.base, queries.stride,
                       placed_keys(keys), queries.stride, tile, stride);
    for (int r = 0; r < queries.rows; ++r) {
      std::fill(tile + r * stride + keys.count, tile + r * stride + keys.columns, T(0));
    }
    mark_non_finite_tokens(queries, keys, tile, stride);
    return;
  }
  const bool lying = keys.lying.rows != nullptr;
  if (measure == Measure::product) {
    if (lying) {
      measure_lying(queries, keys, tile, stride);
    } else {
      kernels_->product(queries.rows, keys.columns, depth, left, right, tile, stride,
                        Store::replace);
    }
    mark_non_finite_tokens(queries, keys, tile, stride);
    return;
  }
  if (keys.narrow) {
    narrow_->distance({queries.rows, keys.columns, depth, queries.base, queries.stride, keys.panels,
                       kernels_->packed_size(depth), tile, stride});
    for (int r = 0; keys.base != nullptr && r < queries.rows; ++r) {
      find_close_pairs(queries, r, keys, tile + r * stride);
    }
    mark_non_finite_tokens(queries, keys, tile, stride);
    return;
  }
  least_.resize(static_cast<std::size_t>(queries.rows));
  most_.resize(least_.size());
  if (lying) {
    measure_lying(queries, keys, tile, stride);
  } else {
    kernels_->squared_distance(queries.rows, keys.columns, depth, left, right, queries.norms,
                               keys.norms, tile, stride, least_.data());
  }
  for (int r = 0; r < queries.rows; ++r) {
    T& least = least_[static_cast<std::size_t>(r)];
    if (least < perhaps_close<T> * queries.norms[r] &&
        measure_close_pairs(queries, r, keys, tile + r * stride)) {
      least = 0;
    }
    // |q - k|^2 <= 2 (|q|^2 + |k|^2), and a little more because of rounding.
    most_[static_cast<std::size_t>(r)] = T(2.01) * (queries.norms[r] + keys.largest_norm);
  }
  mark_non_finite_tokens(queries, keys, tile, stride);
}

template <class S>
void Tiles<S>::measure_lying(const QueryGroup<T>& queries, const KeyTile<T>& keys, T* tile,
                             std::ptrdiff_t stride) {
  const bool distances = plan_->similarity->info.measure == Measure::squared_distance;
  for (int r = 0; r < queries.rows; ++r) {
    T* row = tile + r * stride;
    rows_->products(queries.base + r * queries.stride, keys.lying, row);
    std::fill(row + keys.count, row + keys.columns, T(0));
    if (distances) {
      least_[static_cast<std::size_t>(r)] =
          rows_->distances({queries.norms[r], keys.norms, keys.factors}, keys.columns, row);
    }
  }
}

template <class T>
void mark_columns(const std::vector<std::int64_t>& keys, std::int64_t first, int count, int rows,
                  T* tile, std::ptrdiff_t stride) {
  const auto end = std::lower_bound(keys.begin(), keys.end(), first + count);
  for (auto key = std::lower_bound(keys.begin(), keys.end(), first); key != end; ++key) {
    for (int r = 0; r < rows; ++r) {
      tile[r * stride + (*key - first)] = std::numeric_limits<T>::quiet_NaN();
    }
  }
}

template <class S>
void Tiles<S>::mark_non_finite_tokens(const QueryGroup<T>& queries, const KeyTile<T>& keys, T* tile,
                                      std::ptrdiff_t stride) const {
  mark_columns(*keys.non_finite, keys.first, keys.count, queries.rows, tile, stride);
  for (const std::int64_t query : *queries.non_finite) {
    const std::int64_t r = query - queries.non_finite_offset;
    if (r < 0 || r >= queries.rows) continue;
    std::fill_n(tile + r * stride, keys.columns, std::numeric_limits<T>::quiet_NaN());
  }
}

template <class S>
bool Tiles<S>::measure_close_pairs(const QueryGroup<T>& queries, int row, const KeyTile<T>& keys,
                                   T* tile) {
  const std::size_t before = close_pairs_.size();
  find_close_pairs(queries, row, keys, tile);
  for (std::size_t i = before; i < close_pairs_.size(); ++i) {
    const int c = close_pairs_[i].column;
    tile[c] = static_cast<T>(kernels_->exact_distance2(queries.base + row * queries.stride,
                                                       placed_keys(keys) + c * queries.stride,
                                                       head_->base_size()));
  }
  return close_pairs_.size() > before;
}

template <class S>
void Tiles<S>::find_close_pairs(const QueryGroup<T>& queries, int row, const KeyTile<T>& keys,
                                const T* tile) {
  const auto is_close = [&](int c) {
    return tile[c] < close_ratio<T> * (queries.norms[row] + keys.norms[c]);
  };
  int any = 0;  // There is no early exit, so that the loop can be vectorised.
  for (int c = 0; c < keys.count; ++c) any |= static_cast<int>(is_close(c));
  for (int c = 0; any != 0 && c < keys.count; ++c) {
    if (is_close(c)) close_pairs_.push_back({row, c, T(0)});
  }
}

template <class S>
const Compute<S>* Tiles<S>::placed_keys(const KeyTile<T>& keys) {
  if (keys.base != nullptr) return keys.base;
  if (placed_first_ != keys.first || placed_count_ != keys.count) {
    head_->place(keys_.part(keys.first, keys.count), keys.count, "k", keys.first, kernels_->panel,
                 placed_);
    placed_first_ = keys.first;
    placed_count_ = keys.count;
  }
  return placed_.base.data();
}

template <class S>
bool Tiles<S>::sees_any(const QueryGroup<T>& queries, const KeyTile<T>& keys, Cover cover) {
  if (cover == Cover::all || !mask_->has_holes()) return true;
  sees_.resize(static_cast<std::size_t>(queries.rows) * static_cast<std::size_t>(keys.count));
  mask_->visible(
      {index_, queries.first, queries.first + queries.rows, keys.first, keys.first + keys.count},
      sees_.data());
  return std::ranges::find(sees_, 1) != sees_.end();
}

template <class S>
void Tiles<S>::subtract_columns(const KeyTile<T>& keys, T* row) const {
  const T* lse = column_lse_ + keys.first;
  for (int c = 0; c < keys.count; ++c) {
    // If all logits of a key are -inf, so are the differences.
    row[c] -= lse[c] == -std::numeric_limits<T>::infinity() ? T(0) : lse[c];
  }
}

template <class S>
void Tiles<S>::hide(const QueryGroup<T>& queries, int query, const KeyTile<T>& keys, T* row) const {
  constexpr T hidden = -std::numeric_limits<T>::infinity();
  if (mask_->has_holes()) {
    const std::uint8_t* sees = sees_.data() + static_cast<std::ptrdiff_t>(query) * keys.count;
    for (int c = 0; c < keys.count; ++c) row[c] = sees[c] != 0 ? row[c] : hidden;
    return;
  }
  const KeyRange seen = mask_->range(index_, queries.first + query);
  const auto begin = std::clamp<std::int64_t>(seen.begin - keys.first, 0, keys.count);
  const auto end = std::clamp<std::int64_t>(seen.end - keys.first, begin, keys.count);
  std::fill(row, row + begin, hidden);
  std::fill(row + end, row + keys.count, hidden);
}

template <class S>
Addend<Compute<S>> Tiles<S>::addend(const QueryGroup<T>& queries, const KeyTile<T>& keys,
                                    Cover cover) {
  const HeadBias<T>& bias = head_->bias();
  const bool subtracts = column_lse_ != nullptr && !capped_.exist();
  if (cover == Cover::all && !subtracts) {
    if (!bias.exists()) return {};
    if (const T* values = bias.values(queries.first, keys.first)) return {values, bias.stride()};
  }
  const auto width = static_cast<std::size_t>(keys.columns);
  addend_.resize(static_cast<std::size_t>(queries.rows) * width);
  for (int r = 0; r < queries.rows; ++r) {
    T* row = addend_.data() + static_cast<std::size_t>(r) * width;
    if (bias.exists()) {
      bias.fill(queries.first + r, keys.first, keys.count, row);
    } else {
      std::fill_n(row, keys.count, T(0));
    }
    if (subtracts) subtract_columns(keys, row);
    std::fill(row + keys.count, row + keys.columns, -std::numeric_limits<T>::infinity());
    if (cover != Cover::all) hide(queries, r, keys, row);
  }
  return {addend_.data(), keys.columns};
}

// There are no bounds for tiles with keys that some row does not see: the formulas for far pairs
// may round differently, and such a key must not decide whether they are used.
template <class S>
Bounds<Compute<S>> Tiles<S>::bounds(const KeyTile<T>& keys, Cover cover) const {
  if (plan_->similarity->info.measure != Measure::squared_distance || keys.narrow) return {};
  if (cover != Cover::all && !plan_->sees_all()) return {};
  return {least_.data(), most_.data()};
}

template <class S>
ScoreTile<Compute<S>> Tiles<S>::measured(const QueryGroup<T>& queries, const KeyTile<T>& keys,
                                         Cover cover, T* tile, bool for_slopes) {
  measure(queries, keys, tile, keys.columns);
  return scored(queries, keys, cover, tile, bounds(keys, cover), for_slopes);
}

template <class S>
ScoreTile<Compute<S>> Tiles<S>::scored(const QueryGroup<T>& queries, const KeyTile<T>& keys,
                                       Cover cover, T* tile, const Bounds<T>& known,
                                       bool for_slopes) {
  const Addend<T> bias = addend(queries, keys, cover);
  const ScoreTile<T> score{.tile = tile,
                           .stride = keys.columns,
                           .rows = queries.rows,
                           .columns = keys.columns,
                           .query_values = queries.values,
                           .query_stride = queries.value_stride,
                           .key_values = keys.values,
                           .key_stride = keys.value_stride,
                           .constants = head_->constants(),
                           .addend = bias.data,
                           .addend_stride = bias.stride,
                           .least = known.least,
                           .most = known.most};
  return capped_.logits(score, column_lse_ == nullptr ? nullptr : column_lse_ + keys.first,
                        keys.count, for_slopes);
}

template <class T>
bool is_narrow(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head) {
  return std::is_same_v<T, float> && plan.similarity->info.measure == Measure::squared_distance &&
         head.base_size() <= most_narrow && kernels.packed_steps == 1;
}

template <class T>
void pack_keys(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
               const Operand<T>& operand, std::int64_t begin, int columns, bool narrow, T* panels) {
  const bool doubled = plan.similarity->info.measure == Measure::squared_distance && !narrow;
  kernels.pack_panels(operand.base.data() + begin * operand.stride, operand.stride, columns,
                      head.base_size(), doubled ? T(-2) : T(1), panels);
}
template bool is_narrow(const Plan&, const Kernels<float>&, const Head<float>&);
template bool is_narrow(const Plan&, const Kernels<double>&, const Head<double>&);

template void mark_columns(const std::vector<std::int64_t>&, std::int64_t, int, int, float*,
                           std::ptrdiff_t);
template void mark_columns(const std::vector<std::int64_t>&, std::int64_t, int, int, double*,
                           std::ptrdiff_t);
#define CONELAB_TILES(S) template class Tiles<S>;
CONELAB_EACH_TYPE(CONELAB_TILES)
template void pack_keys(const Plan&, const Kernels<float>&, const Head<float>&,
                        const Operand<float>&, std::int64_t, int, bool, float*);
template void pack_keys(const Plan&, const Kernels<double>&, const Head<double>&,
                        const Operand<double>&, std::int64_t, int, bool, double*);

}  // namespace conelab
