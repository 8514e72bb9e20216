// Tiles of one head: the measure of every pair, and the bias and mask that the similarity's kernels
// are to add. Shared by forward, backward and the maps for figures.
#pragma once

#include <cstdint>
#include <vector>

#include "core/call/plan.h"
#include "core/pair/mask.h"
#include "core/simd/kernels.h"
#include "core/tiles/head.h"

namespace conelab {

/// Squared distances below this, relative to the squared norms, are recomputed as sums of squared
/// differences: |q|^2 + |k|^2 - 2 q.k cancels there.
template <class T>
constexpr T close_ratio = T(1) / T(16);
/// Of the query's squared norm: what a squared distance falls below where the pair is close. With t
/// = |k| / |q| it is at least (1 - t)^2 |q|^2, which is less than close_ratio (1 + t^2) |q|^2 only
/// for t^2 < 2.07. The rest is room for rounding.
template <class T>
constexpr T perhaps_close = T(0.2);

/// A group of placed queries, the first of which is query `first` of the head.
template <class T>
struct QueryGroup {
  const T* base;  ///< [rows × stride]
  std::ptrdiff_t stride;
  const T* values;
  std::ptrdiff_t value_stride;
  const T* norms;
  std::int64_t first;
  int rows;
  const std::vector<std::int64_t>* non_finite;  ///< Operand::non_finite ...
  std::int64_t non_finite_offset;  ///< ... in which this group's first row has this index.
};

/// A tile of packed keys, the first of which is key `first` of the head.
template <class T>
struct KeyTile {
  const T* panels;  ///< Packed, one per `panel` columns, times -2 for distances
  const T* values;
  std::ptrdiff_t value_stride;
  const T* norms;
  T largest_norm;  ///< A bound: of seen_part it is still that of the whole tile.
  std::int64_t first;
  int count;    ///< Keys.
  int columns;  ///< Keys rounded up to the kernels' multiple.
  const std::vector<std::int64_t>*
      non_finite;  ///< Its keys that are not finite, as in the head, ascending.
  const T* base =
      nullptr;  ///< [count × operand stride] placed keys where they are at hand, else null.
};

/// The part of `operand` from row `begin`.
template <class T>
[[nodiscard]] QueryGroup<T> query_group(const Operand<T>& operand, std::int64_t first,
                                        std::int64_t begin, int rows) {
  return {operand.base.data() + begin * operand.stride,
          operand.stride,
          operand.values.data() + begin,
          operand.value_stride,
          operand.norms.data() + begin,
          first + begin,
          rows,
          &operand.non_finite,
          begin};
}

/// Which bias table or mask buffer the kernels add.
template <class T>
struct Addend {
  const T* data = nullptr;
  std::ptrdiff_t stride = 0;
};

/// Of each row of a tile: no pair's measure is less, or more. Null where nothing is known.
template <class T>
struct Bounds {
  const T *least = nullptr, *most = nullptr;
};

/// Sets the columns of keys [first, first + count) that are in `keys` (ascending) to NaN.
template <class T>
void mark_columns(const std::vector<std::int64_t>& keys, std::int64_t first, int count, int rows,
                  T* tile, std::ptrdiff_t stride);

/// A pair whose tokens are so close that the products of its distance and its gradient would
/// cancel.
template <class T>
struct ClosePair {
  int row, column;
  T slope;  ///< dL/dmeasure, set by backward.
};

/// The tiles of one head. An object serves one thread: it owns buffers, and answers for the tile
/// that was measured last. S is the type of the tensors' numbers.
template <class S>
class Tiles {
  using T = Compute<S>;

 public:
  /// `keys` are those of the call; `index` is batch * heads + head. Where `column_lse`
  /// (Forward::column_lse) is not empty, it is taken from the logits.
  Tiles(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head, const Mask& mask,
        const Tensor4<S>& keys, std::int64_t index, const Tensor4<T>& column_lse)
      : plan_(&plan),
        kernels_(&kernels),
        head_(&head),
        mask_(&mask),
        batch_(index / plan.extents.head),
        keys_(keys.row(batch_, index % plan.extents.head, 0)),
        column_lse_(column_lse.empty() ? nullptr
                                       : column_lse.row(batch_, index % plan.extents.head, 0)) {}

  [[nodiscard]] Cover cover(std::int64_t query_begin, std::int64_t query_end,
                            const KeyTile<T>& keys) const;
  /// The part of a tile, in whole packs, outside which the queries see none of its keys.
  [[nodiscard]] KeyTile<T> seen_part(const QueryGroup<T>& queries, const KeyTile<T>& keys) const;
  /// Looks which pairs of a partly covered tile are seen; false where there are none. The result is
  /// used by `measured` for the same tile, which must follow.
  [[nodiscard]] bool sees_any(const QueryGroup<T>& queries, const KeyTile<T>& keys, Cover cover);
  /// Measures into tile [rows × columns of the keys], as what the similarity's kernels take;
  /// distances of close pairs are recomputed from differences, pairs of tokens that are not finite
  /// are NaN. Bias, mask and bounds of the result are valid until the next call.
  [[nodiscard]] ScoreTile<T> measured(const QueryGroup<T>& queries, const KeyTile<T>& keys,
                                      Cover cover, T* tile);
  /// The close pairs of the tile that was measured last: their gradients have to be taken from
  /// differences as well. Backward keeps their slopes here.
  [[nodiscard]] std::vector<ClosePair<T>>& close_pairs() { return close_pairs_; }
  /// The kernels of the plan's similarity.
  [[nodiscard]] const Tail<T>& tail() const;

 private:
  const Plan* plan_;
  const Kernels<T>* kernels_;
  const Head<T>* head_;
  const Mask* mask_;
  std::int64_t batch_;
  const S* keys_;        ///< [n_k × d]
  const T* column_lse_;  ///< [n_k], or null.
  Buffer<T> addend_;
  std::vector<std::uint8_t> sees_;  ///< [rows × keys] of a partly covered tile.
  Buffer<T> least_, most_;
  std::vector<ClosePair<T>> close_pairs_;
  Operand<T> placed_;  ///< Keys [placed_first_, placed_first_ + placed_count_), see `placed_keys`.
  std::int64_t placed_first_ = 0;
  int placed_count_ = 0;

  void measure(const QueryGroup<T>& queries, const KeyTile<T>& keys, T* tile,
               std::ptrdiff_t stride);
  /// Takes the columns' log-sum-exps from a row of addends.
  void subtract_columns(const KeyTile<T>& keys, T* row) const;
  /// What to add to the logits.
  [[nodiscard]] Addend<T> addend(const QueryGroup<T>& queries, const KeyTile<T>& keys, Cover cover);
  /// Of each row of the last measure, made of a tile of this cover.
  [[nodiscard]] Bounds<T> bounds(Cover cover) const;
  void mark_non_finite_tokens(const QueryGroup<T>& queries, const KeyTile<T>& keys, T* tile,
                              std::ptrdiff_t stride) const;
  /// Recomputes the distances of a row's close pairs. Returns whether there were any.
  bool measure_close_pairs(const QueryGroup<T>& queries, int row, const KeyTile<T>& keys, T* tile);
  /// Placed keys of a tile [count × operand stride]; they are placed again where the tile has only
  /// its panels.
  [[nodiscard]] const T* placed_keys(const KeyTile<T>& keys);
};

/// Packs placed keys [columns × stride] as a tile's panels, packed_size(base_size) numbers each.
template <class T>
void pack_keys(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
               const Operand<T>& operand, std::int64_t begin, int columns, T* panels);

}  // namespace conelab
