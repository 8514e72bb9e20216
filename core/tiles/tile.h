// The tiles of one head: the measure of every pair, and the bias and mask that the kernels add. The
// forward pass, the backward pass and the maps for figures share them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/call/plan.h"
#include "core/pair/mask.h"
#include "core/simd/kernels.h"
#include "core/simd/narrow.h"
#include "core/tiles/capped_pairs.h"
#include "core/tiles/head.h"

namespace conelab {

/// A pair is close if its squared distance is below this times |q|^2 + |k|^2. The expression |q|^2
/// + |k|^2 - 2 q.k cancels then, and the distance is computed from differences instead.
template <class T>
constexpr T close_ratio = T(1) / T(16);
/// A row can have close pairs only if a squared distance is below this times the query's squared
/// norm. With t = |k| / |q| the distance is at least (1 - t)^2 |q|^2, which is less than
/// close_ratio (1 + t^2) |q|^2 only if t^2 < 2.07. The number is a little larger to allow for
/// rounding.
template <class T>
constexpr T perhaps_close = T(0.2);

/// A group of placed queries. The first one is query `first` of the head.
template <class T>
struct QueryGroup {
  const T* base;  ///< [rows × stride] Base coordinates.
  std::ptrdiff_t stride;
  const T* values;
  std::ptrdiff_t value_stride;
  const T* norms;
  std::int64_t first;
  int rows;
  const std::vector<std::int64_t>* non_finite;  ///< Operand::non_finite of all placed queries.
  /// Index of the group's first row in these queries.
  std::int64_t non_finite_offset;

  /// Returns the group of one of its rows.
  [[nodiscard]] QueryGroup row(int r) const {
    return {base + r * stride, stride, values + r, value_stride,         norms + r,
            first + r,         1,      non_finite, non_finite_offset + r};
  }
};

/// A tile of packed keys. The first one is key `first` of the head.
template <class T>
struct KeyTile {
  /// Packed keys, `panel` keys in each panel; multiplied by -2 for squared distances.
  const T* panels;
  const T* values;
  std::ptrdiff_t value_stride;
  const T* norms;
  T largest_norm;  ///< Upper bound of the norms. seen_part keeps the one of the whole tile.
  std::int64_t first;
  int count;    ///< Number of keys.
  int columns;  ///< `count`, rounded up to the kernels' column_multiple.
  /// Those of its keys that are not finite, numbered as in the head, ascending.
  const std::vector<std::int64_t>* non_finite;
  const T* base = nullptr;  ///< [count × operand stride] The placed keys, or null.
  /// Says whether the distances are computed from differences (is_narrow): the panels hold the
  /// keys.
  bool narrow = false;
  /// The keys where they lie and their Operand::factors [columns], in place of panels
  /// (Head::uses_lying_keys).
  LyingTokens<T> lying = {};
  const T* factors = nullptr;
};

/// Returns `rows` queries of `operand` from row `begin` on. Row 0 of it is query `first` of the
/// head.
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

/// The array of biases that the kernels add, -inf for masked pairs; null: none.
template <class T>
struct Addend {
  const T* data = nullptr;
  std::ptrdiff_t stride = 0;
};

/// [rows] Bounds of the measures of each row of a tile. Null if unknown.
template <class T>
struct Bounds {
  const T *least = nullptr, *most = nullptr;
};

/// Sets the columns of those of the keys [first, first + count) that are in `keys` (ascending) to
/// NaN.
template <class T>
void mark_columns(const std::vector<std::int64_t>& keys, std::int64_t first, int count, int rows,
                  T* tile, std::ptrdiff_t stride);

/// A pair whose squared distance and gradient are computed from differences (close_ratio).
template <class T>
struct ClosePair {
  int row, column;
  T slope;  ///< dL/d(measure), which the backward pass sets.
};

/// The tiles of one head. S is the type of the tensors. An object serves one thread: it owns
/// buffers, and its results are those of the tile that was measured last.
template <class S>
class Tiles {
  using T = Compute<S>;

 public:
  /// `keys` are those of the call; `index` is batch * heads + head. `column_lse`
  /// (Forward::column_lse) is subtracted from the logits unless it is empty.
  Tiles(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head, const Mask& mask,
        const StridedTensor4<S>& keys, std::int64_t index, const Tensor4<T>& column_lse)
      : plan_(&plan),
        kernels_(&kernels),
        narrow_(&narrow_kernels<T>(kernels.name)),
        rows_(&row_kernels<T>(kernels.name)),
        head_(&head),
        mask_(&mask),
        index_(index),
        keys_(keys.tokens(index / plan.extents.head, index % plan.extents.head, plan.extents.head)),
        column_lse_(column_lse.empty()
                        ? nullptr
                        : column_lse.row(index / plan.extents.head, index % plan.extents.head, 0)),
        capped_(kernels, kernels.similarities[plan.similarity - similarity_table().data()],
                head.soft_cap()) {}

  [[nodiscard]] Cover cover(std::int64_t query_begin, std::int64_t query_end,
                            const KeyTile<T>& keys) const;
  /// Returns the part of a tile, in whole packs, outside which the queries see none of its keys.
  /// Its `count` is 0 if they see none at all.
  [[nodiscard]] KeyTile<T> seen_part(const QueryGroup<T>& queries, const KeyTile<T>& keys) const;
  /// Finds which pairs of a partly covered tile are visible. Returns false if it finds none;
  /// masks without holes are not searched. The next call must be `measured` for the same tile,
  /// which uses the result.
  [[nodiscard]] bool sees_any(const QueryGroup<T>& queries, const KeyTile<T>& keys, Cover cover);
  /// Computes the measures of a tile [rows × columns of the keys], or the logits before a soft cap,
  /// and returns the arguments of `similarity`. Close pairs are computed from differences; pairs
  /// with a token that is not finite are NaN. The biases, masks and bounds in the result are valid
  /// until the next call. `slopes` may follow if `for_slopes`.
  [[nodiscard]] ScoreTile<T> measured(const QueryGroup<T>& queries, const KeyTile<T>& keys,
                                      Cover cover, T* tile, bool for_slopes = false);
  /// Returns the same arguments for measures that the caller has computed, whose bounds are `known`
  /// to it or not.
  [[nodiscard]] ScoreTile<T> scored(const QueryGroup<T>& queries, const KeyTile<T>& keys,
                                    Cover cover, T* tile, const Bounds<T>& known = {},
                                    bool for_slopes = false);
  /// Computes the weights and dL/d(measure) of the tile that was measured last, and adds dL/d(cap).
  void slopes(PairLaw law, const SlopeTile<T>& tile, double& cap_slope) {
    capped_.slopes(law, tile, cap_slope);
  }
  /// Returns the close pairs of the tile that was measured last. Their gradients must be computed
  /// from differences as well; the backward pass stores their dL/d(measure) here.
  [[nodiscard]] std::vector<ClosePair<T>>& close_pairs() { return close_pairs_; }
  /// Returns the kernels of the plan's similarity, or those of its soft cap.
  [[nodiscard]] const SimilarityKernels<T>& similarity() const { return capped_.kernels(); }

 private:
  const Plan* plan_;
  const Kernels<T>* kernels_;
  const NarrowKernels<T>* narrow_;
  const RowKernels<T>* rows_;
  const Head<T>* head_;
  const Mask* mask_;
  std::int64_t index_;       ///< batch * heads + head
  TokenRows<const S> keys_;  ///< [n_k × d]
  const T* column_lse_;      ///< [n_k] or null.
  CappedPairs<T> capped_;
  Buffer<T> addend_;
  /// [rows × keys] Which pairs of a partly covered tile are visible.
  std::vector<std::uint8_t> sees_;
  Buffer<T> least_, most_;
  std::vector<ClosePair<T>> close_pairs_;
  Operand<T> placed_;  ///< Keys [placed_first_, placed_first_ + placed_count_), see `placed_keys`.
  std::int64_t placed_first_ = 0;
  int placed_count_ = 0;

  void measure(const QueryGroup<T>& queries, const KeyTile<T>& keys, T* tile,
               std::ptrdiff_t stride);
  /// Computes the products of queries with keys where they lie or, for squared distances, these
  /// and least_.
  void measure_lying(const QueryGroup<T>& queries, const KeyTile<T>& keys, T* tile,
                     std::ptrdiff_t stride);
  /// Subtracts the columns' log-sum-exps from a row of biases.
  void subtract_columns(const KeyTile<T>& keys, T* row) const;
  /// Sets the numbers of the keys that a query of the tile does not see to -inf.
  void hide(const QueryGroup<T>& queries, int query, const KeyTile<T>& keys, T* row) const;
  /// Returns the biases and masks of a tile.
  [[nodiscard]] Addend<T> addend(const QueryGroup<T>& queries, const KeyTile<T>& keys, Cover cover);
  /// Returns bounds of the last measures, which were those of this tile with this cover.
  [[nodiscard]] Bounds<T> bounds(const KeyTile<T>& keys, Cover cover) const;
  void mark_non_finite_tokens(const QueryGroup<T>& queries, const KeyTile<T>& keys, T* tile,
                              std::ptrdiff_t stride) const;
  void find_close_pairs(const QueryGroup<T>& queries, int row, const KeyTile<T>& keys,
                        const T* tile);
  /// Computes the distances of a row's close pairs from differences. Returns whether there were
  /// any.
  bool measure_close_pairs(const QueryGroup<T>& queries, int row, const KeyTile<T>& keys, T* tile);
  /// Returns the placed keys of a tile [count × operand stride]. If the tile has only panels, its
  /// keys are placed again.
  [[nodiscard]] const T* placed_keys(const KeyTile<T>& keys);
};

/// Returns whether the distances of a head are computed from differences, which takes less time for
/// few base coordinates. Close pairs are then found for their gradients only.
template <class T>
[[nodiscard]] bool is_narrow(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head);

/// Packs the placed keys [begin, begin + columns) as panels of a tile, packed_size(base_size)
/// numbers each.
template <class T>
void pack_keys(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
               const Operand<T>& operand, std::int64_t begin, int columns, bool narrow, T* panels);

}  // namespace conelab
