// The inner loops of attention, compiled once for each SIMD target and chosen at run time.
//
// A tile is a rectangle of pairs, `rows` queries × `columns` keys, row-major with leading dimension
// `stride`. `columns` is a multiple of `column_multiple`; the drivers pad. No kernel allocates,
// throws or knows of heads, masks or maps. T is float or double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/half.h"

namespace conelab {

/// The most that any target's `forward_rows` is: sizes of fixed arrays.
constexpr int most_forward_rows = 64;

/// Left operand of a product: element (row, step) at data[row * row_stride + step * step_stride].
/// One of the strides is 1.
template <class T>
struct LeftOperand {
  const T* data;
  std::ptrdiff_t row_stride;
  std::ptrdiff_t step_stride;
};

/// Right operand: packed panels of `panel` columns, `stride` numbers from one to the next, which
/// only the kernels that packed them can read; or row-major rows [depth × stride], which serve as
/// they are where they are few. (Walking down many rows would stay in a few sets of the cache.)
template <class T>
struct RightOperand {
  const T* data;
  std::ptrdiff_t stride;
  bool packed;
};

/// What a product does with the tile that it writes to. What it adds to may be larger than many of
/// its terms: they are summed by themselves first, some at a time.
enum class Store { replace, add };

/// A tile of logits in the making.
template <class T>
struct ScoreTile {
  T* tile;  ///< In: the measure. Out: the logits; within the tiles below the weights.
  std::ptrdiff_t stride;
  int rows;
  int columns;
  const T* query_values;  ///< Value v of row r at [v * query_stride + r].
  std::ptrdiff_t query_stride;
  const T* key_values;  ///< Value v of column c at [v * key_stride + c].
  std::ptrdiff_t key_stride;
  const T* constants;
  const T* addend;               ///< Bias and mask of row r at [r * addend_stride + c], -inf where
  std::ptrdiff_t addend_stride;  ///< masked; null: none.
  const T* least;                ///< Per row: no measure is less ...
  const T* most;                 ///< ... and none is more. Both null: unknown.
};

/// What becomes of a tile of measures on the way forward: exp(logit - reference), or
/// sigmoid(logit).
template <class T>
struct WeightTile {
  ScoreTile<T> score;
  /// Per row, see row_reference.h: it moves as the tile's logits ask. Where it is_lost afterwards,
  /// the row is to be weighed again from its measures, by logits, with no_reference. Unused by the
  /// sigmoid.
  T* reference;
  T* row_sum;  ///< Per row, out: the sum of its weights.
  /// Per row, out: its largest logit, to 2 ulp; +inf where e^logit does not hold it.
  T* row_maximum;
  bool by_logits = false;  ///< Whether no closed form of e^logit is to be taken.
};

/// A tile of the backward pass.
template <class T>
struct SlopeTile {
  ScoreTile<T> score;      ///< Its tile: in the measures, out the weights.
  T* slope;                ///< In: dL/dweight. Out: dL/dmeasure. Addressed as the tile.
  const T* reference;      ///< Per row: m, so that weight = exp(logit - m) * inverse_sum.
  const T* inverse_sum;    ///< Per row: of a softmax; else the scale of its weights.
  const T* delta;          ///< Per row: what is taken from dL/dweight.
  T* query_slope;          ///< Per row: dL/dpotential is added. Unused without token slopes.
  T* key_slope;            ///< Per column: likewise.
  T* far_key_slope;        ///< [columns] room of the kernel's own. Unused where `least` is null.
  double* constant_slope;  ///< [constants]: dL/dconstant is added.
  T* logit_slope;          ///< Out: dL/dlogit, addressed as the tile; null: not wanted.
};

/// From the logit of a pair to a number: exp(logit - m) with the reference m of its row, or
/// sigmoid(logit). Every law of weights is one of them (core/tiles/row_weights.h).
enum PairLaw { referred_exponential, pair_sigmoid, pair_laws };

/// The part of the kernels that differs from similarity to similarity.
template <class T>
struct Tail {
  void (*score)(const ScoreTile<T>&);
  void (*weight[pair_laws])(const WeightTile<T>&);  ///< By PairLaw.
  void (*slope[pair_laws])(const SlopeTile<T>&);    ///< Likewise.
};

template <class T>
struct Kernels {
  const char* name;     ///< "avx2", ...
  int panel;            ///< Columns of a panel of a right operand.
  int column_multiple;  ///< Of a tile's columns; a multiple of `panel` and `packed_steps`.
  int packed_steps;     ///< Steps of a unit of a packed panel.
  int packed_numbers;   ///< What a unit takes, in numbers.
  int forward_rows;     ///< Queries that the drivers take at a time on the way forward: a multiple
                        ///< of the rows that the product kernels take, at most most_forward_rows.
  int backward_rows;    ///< On the way back: deep enough for the products over queries.

  /// c[rows × columns] (+)= left[rows × depth] right[depth × columns]; columns a multiple of panel.
  void (*product)(int rows, int columns, int depth, LeftOperand<T> left, RightOperand<T> right,
                  T* c, std::ptrdiff_t stride, Store store);
  /// c = query_norm[r] + key_norm[c] + left right, where right is packed and holds -2 k. Sets
  /// least[r] to the smallest of a row: perhaps less than 0, where a squared distance has
  /// cancelled.
  void (*squared_distance)(int rows, int columns, int depth, LeftOperand<T> left,
                           RightOperand<T> right, const T* query_norm, const T* key_norm, T* c,
                           std::ptrdiff_t stride, T* least);
  /// c = sum_f k_{size+f} tanh(q_f + k_f) of queries [rows x q_stride] and keys
  /// [columns x k_stride], see Measure::tanh_sum. `size` is a multiple of tanh_sum_multiple.
  void (*tanh_sum)(int rows, int columns, int size, const T* q, std::ptrdiff_t q_stride, const T* k,
                   std::ptrdiff_t k_stride, T* c, std::ptrdiff_t stride);
  /// Adds to dq and dk, laid out as q and k, what follows from dL/dc `slope`, addressed as c.
  void (*tanh_sum_slopes)(int rows, int columns, int size, const T* q, std::ptrdiff_t q_stride,
                          const T* k, std::ptrdiff_t k_stride, const T* slope,
                          std::ptrdiff_t stride, T* dq, T* dk);
  /// Adds the sums of a tile's rows and columns.
  void (*margins)(const T* tile, std::ptrdiff_t stride, int rows, int columns, T* row_sum,
                  T* column_sum);
  /// Adds the sums of exp(logit - reference[c]) over a tile's rows to sum[c]. No logit exceeds its
  /// column's reference.
  void (*add_exponentials)(const T* logits, std::ptrdiff_t stride, int rows, int columns,
                           const T* reference, T* sum);
  /// Rounds factor x - centre [size] into a row; returns the squared norm of what is rounded.
  double (*store_scaled)(const T* x, double factor, const double* centre, int size, T* row);
  /// Rows [count × stride], `count` a multiple of `panel`, times `factor` into packed panels of
  /// their first `depth` numbers, packed_size(depth) apart.
  void (*pack_panels)(const T* rows, std::ptrdiff_t stride, int count, int depth, T factor, T* out);
  /// Rows [count × stride], `stride` a multiple of `panel`, into packed panels of their columns.
  /// Returns whether all numbers are finite.
  bool (*split_panels)(const T* rows, std::ptrdiff_t stride, int count, T* out,
                       std::ptrdiff_t panel_stride);
  /// The product and the squared distance of two vectors in double.
  double (*exact_product)(const T* a, const T* b, int size);
  double (*exact_distance2)(const T* a, const T* b, int size);
  /// A loop of independent multiply-adds on registers, `steps` × peak_flops operations: what the
  /// machine can do at most. Returns a number that depends on all of them.
  T (*peak)(long steps);
  int peak_flops;
  const Tail<T>* tails;  ///< Indexed as similarity_table().

  /// Numbers that so many steps of a packed panel take.
  [[nodiscard]] std::ptrdiff_t packed_size(std::ptrdiff_t steps) const {
    return (steps + packed_steps - 1) / packed_steps * packed_numbers;
  }
};

/// More queries than any threshold of `kernels`.
constexpr std::int64_t many_queries = 1 << 20;
/// The kernels of a target for tensors of S, by name, or where `name` is empty the best that this
/// machine runs for so many queries: keys that few queries share are not worth packing for a tile
/// unit. (Forward, backward and maps of a call ask for the same: logits of a thousand rounded
/// otherwise are other weights.) S is float, double, Float16 or Bfloat16; "amx" does not serve
/// double. Throws misuse for a target that is unknown or that cannot run here.
template <class S>
[[nodiscard]] const Kernels<Compute<S>>& kernels(const std::string& name = {},
                                                 std::int64_t queries = many_queries);

/// Targets that this machine can run for tensors of S, the best first.
template <class S = float>
[[nodiscard]] std::vector<std::string> simd_targets();

/// The best targets in words: "avx2", or "amx, avx512 for f64".
[[nodiscard]] std::string simd_summary();

}  // namespace conelab
