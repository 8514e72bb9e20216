// The inner loops of attention, compiled once for each SIMD target and selected at run time.
//
// A tile is a rectangle of pairs, `rows` queries × `columns` keys, row-major with leading dimension
// `stride`. `columns` is a multiple of `column_multiple`, to which the drivers pad. For each pair
// the kernels turn the measure x (`Measure` in similarity.h) into a logit, a weight or derivatives.
// No kernel allocates, throws or knows of heads, masks or maps. T is float or double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/half.h"

namespace conelab {

/// The maximum of `forward_rows` over all targets. It is the size of arrays.
constexpr int most_forward_rows = 64;

/// Left operand of a product. Element (row, step) is data[row * row_stride + step * step_stride].
/// One of the two strides is 1.
template <class T>
struct LeftOperand {
  const T* data;
  std::ptrdiff_t row_stride;
  std::ptrdiff_t step_stride;
};

/// Right operand of a product. If `packed`, data holds panels of `panel` columns, `stride` numbers
/// from one panel to the next, in a format that only the kernels that packed them can read.
/// Otherwise data is [depth × stride], row-major, which suits few rows. (Many rows would map to a
/// few sets of the cache.)
template <class T>
struct RightOperand {
  const T* data;
  std::ptrdiff_t stride;
  bool packed;
};

/// Says whether a product overwrites its result or is added to it. When it is added, partial sums
/// over a part of the depth are formed first, because the result may be much larger than single
/// terms.
enum class Store { replace, add };

/// A tile of measures that a kernel turns into logits. The tensors of the tokens' values and of the
/// constants are described in similarity.h.
template <class T>
struct ScoreTile {
  T* tile;  ///< [rows × columns] In: the measures. Out: the logits; the weights for WeightTile and
            ///< SlopeTile.
  std::ptrdiff_t stride;
  int rows;
  int columns;
  const T* query_values;  ///< Value v of row r is at [v * query_stride + r].
  std::ptrdiff_t query_stride;
  const T* key_values;  ///< Value v of column c is at [v * key_stride + c].
  std::ptrdiff_t key_stride;
  const T* constants;
  /// Bias of the pair (r, c) at [r * addend_stride + c], -inf for a masked pair. Null: none.
  const T* addend;
  std::ptrdiff_t addend_stride;
  const T* least;  ///< [rows] Lower bound of the measures of each row. Null: unknown.
  const T* most;   ///< [rows] Upper bound of the measures of each row. Null if `least` is null.
};

/// A tile of the forward pass. The kernel computes the weights exp(logit - reference) or
/// sigmoid(logit) e^-reference from measures.
template <class T>
struct WeightTile {
  ScoreTile<T> score;
  /// [rows] In and out: the reference of each row (row_reference.h), which rises as the logits of
  /// the tile require. If is_lost is true of a row afterwards, its weights are unusable. The driver
  /// must then measure the row again and call the kernel with no_reference and by_logits. That of a
  /// sigmoid is at most 0.
  T* reference;
  T* row_sum;  ///< [rows] Out: the sum of the weights of each row.
  /// [rows] Out: the largest logit of each row, to 2 ulp; +inf if the closed form cannot represent
  /// it. For a sigmoid it is at most 0.
  T* row_maximum;
  bool by_logits = false;  ///< Whether the closed form of e^logit must not be used.
};

/// A tile of the backward pass. The kernel computes the weights and the derivatives of the loss L.
template <class T>
struct SlopeTile {
  ScoreTile<T> score;  ///< `score.tile`: in the measures, out the weights.
  T* slope;  ///< In: dL/d(weight). Out: dL/d(measure). The layout is that of `score.tile`.
  const T* reference;    ///< [rows] m, so that weight = exp(logit - m) * inverse_sum, or
                         ///< sigmoid(logit) e^-m * inverse_sum.
  const T* inverse_sum;  ///< [rows] 1 / sum for a softmax, otherwise the scale of the weights.
  const T* delta;    ///< [rows] What is subtracted from dL/d(weight). For the sigmoid the factor
                     ///< that turns the weight into sigmoid(logit).
  T* query_slope;    ///< [rows] Accumulates dL/d(potential). Unused if S::token_slope is false.
  T* key_slope;      ///< [columns] Accumulates dL/d(potential). Unused if S::token_slope is false.
  T* far_key_slope;  ///< [columns] Workspace of the kernel. Unused if `score.least` is null.
  double* constant_slope;  ///< [constants] Accumulates dL/d(constant).
  T* logit_slope;  ///< Out: dL/dlogit, in the layout of `score.tile`. Null: not wanted. Written
                   ///< only with an addend.
};

/// The function that turns a logit into a number, with the reference m of the row: exp(logit - m),
/// or sigmoid(logit) e^-m. Every law of weights is one of them times a scale
/// (core/tiles/row_weights.h).
enum PairLaw { referred_exponential, pair_sigmoid, pair_laws };

/// The kernels of one similarity.
template <class T>
struct SimilarityKernels {
  void (*score)(const ScoreTile<T>&);
  void (*weight[pair_laws])(const WeightTile<T>&);  ///< Indexed by PairLaw.
  void (*slope[pair_laws])(const SlopeTile<T>&);    ///< Indexed by PairLaw.
};

template <class T>
struct Kernels {
  const char* name;     ///< "avx2", ...
  int panel;            ///< Number of columns of a panel of a right operand.
  int column_multiple;  ///< Tiles have a multiple of this many columns. It is a multiple of `panel`
                        ///< and `packed_steps`.
  int packed_steps;     ///< Number of steps of the depth in a unit of a packed panel.
  int packed_numbers;   ///< Size of such a unit, in numbers of T.
  int forward_rows;  ///< Number of queries in a tile of the forward pass, a multiple of the rows of
                     ///< the product kernels, at most most_forward_rows.
  int backward_rows;  ///< Number of queries in a tile of the backward pass, enough for the products
                      ///< over queries.

  /// Computes c[rows × columns] (+)= left[rows × depth] right[depth × columns]. `columns` is a
  /// multiple of `panel`; `stride` is the leading dimension of c here and below.
  void (*product)(int rows, int columns, int depth, LeftOperand<T> left, RightOperand<T> right,
                  T* c, std::ptrdiff_t stride, Store store);
  /// Computes c = query_norm[r] + key_norm[c] + left right, where `right` is packed and holds -2 k.
  /// Sets least[r] to the smallest number of row r, ignoring NaN. Cancellation may make a squared
  /// distance negative.
  void (*squared_distance)(int rows, int columns, int depth, LeftOperand<T> left,
                           RightOperand<T> right, const T* query_norm, const T* key_norm, T* c,
                           std::ptrdiff_t stride, T* least);
  /// Computes c[rows × columns] = sum_f k_{size+f} tanh(q_f + k_f) for queries [rows × q_stride]
  /// and keys [columns × k_stride] (Measure::tanh_sum). `size` is a multiple of tanh_sum_multiple.
  void (*tanh_sum)(int rows, int columns, int size, const T* q, std::ptrdiff_t q_stride, const T* k,
                   std::ptrdiff_t k_stride, T* c, std::ptrdiff_t stride);
  /// Adds the derivatives of L to dq and dk, which have the layouts of q and k, given dL/dc in
  /// `slope` [rows × columns] with leading dimension `stride`. Pairs with dL/dc = 0 are skipped.
  void (*tanh_sum_slopes)(int rows, int columns, int size, const T* q, std::ptrdiff_t q_stride,
                          const T* k, std::ptrdiff_t k_stride, const T* slope,
                          std::ptrdiff_t stride, T* dq, T* dk);
  /// Adds the sums over each row to row_sum [rows] and over each column to column_sum [columns].
  void (*margins)(const T* tile, std::ptrdiff_t stride, int rows, int columns, T* row_sum,
                  T* column_sum);
  /// Adds the sums over rows of exp(logit - reference[c]) to sum [columns]. No logit may exceed the
  /// reference of its column.
  void (*add_exponentials)(const T* logits, std::ptrdiff_t stride, int rows, int columns,
                           const T* reference, T* sum);
  /// Rounds factor * x - centre to T and stores it in `row`; all vectors have length `size`. The
  /// centre is 0 if it is null. Returns the squared norm of the rounded vector, to 4 ulp of T.
  double (*store_scaled)(const T* x, double factor, const double* centre, int size, T* row);
  /// Packs the first `depth` columns of `rows` [count × stride], times `factor`, as a transposed
  /// right operand: each panel holds `panel` rows and takes packed_size(depth) numbers. `count` is
  /// a multiple of `panel`.
  void (*pack_panels)(const T* rows, std::ptrdiff_t stride, int count, int depth, T factor, T* out);
  /// Packs `rows` [count × stride] as a right operand: each panel holds `panel` columns and starts
  /// `panel_stride` numbers after the one before. `stride` is a multiple of `panel`. Returns
  /// whether all numbers are finite.
  bool (*split_panels)(const T* rows, std::ptrdiff_t stride, int count, T* out,
                       std::ptrdiff_t panel_stride);
  /// Return the product, and the squared distance, of two vectors, computed in double.
  double (*exact_product)(const T* a, const T* b, int size);
  double (*exact_distance2)(const T* a, const T* b, int size);
  /// Adds the numbers [count] to sums [count].
  void (*add_to_sums)(const T* numbers, std::ptrdiff_t count, double* sums);
  /// Runs independent multiply-adds on registers, `steps` × peak_flops operations, to measure the
  /// peak throughput of the machine. Returns a number that depends on all of them.
  T (*peak)(long steps);
  int peak_flops;
  const SimilarityKernels<T>* similarities;  ///< Indexed like similarity_table().

  /// Returns how many numbers of T `steps` steps of a packed panel take.
  [[nodiscard]] std::ptrdiff_t packed_size(std::ptrdiff_t steps) const {
    return (steps + packed_steps - 1) / packed_steps * packed_numbers;
  }
};

/// A number of queries above every threshold of `kernels`.
constexpr std::int64_t many_queries = 1 << 20;
/// Returns the kernels of the target `name` for tensors of S (float, double, Float16 or Bfloat16).
/// If `name` is empty, returns the best ones that this machine can run for this number of queries:
/// for few queries the tile unit does not repay packing the keys for it. Forward pass, backward
/// pass and maps of one call must pass the same number of queries, because weights of large logits
/// depend on how these are rounded. The target "amx" does not serve double. Throws misuse for a
/// target that is unknown or that cannot run here.
template <class S>
[[nodiscard]] const Kernels<Compute<S>>& kernels(const std::string& name = {},
                                                 std::int64_t queries = many_queries);

/// Returns the targets that this machine can run for tensors of S, best first.
template <class S = float>
[[nodiscard]] std::vector<std::string> simd_targets();

/// Returns the best targets as text: "avx2", or "amx, avx512 for f64".
[[nodiscard]] std::string simd_summary();

}  // namespace conelab
