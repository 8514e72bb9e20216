// The arithmetic of a consumer thread of the fast forward kernel between the two products of a
// tile: it computes levels from products and weights from levels.
//
// A thread holds 64 of the 64 × 128 products of its warpgroup: 32 columns of two rows. Between
// `score` and `weigh`, the four neighbouring threads that share these rows combine their extremes.
// The kernel calls these functions on the device, the tests call them in a loop over the threads;
// the arithmetic is the same.
//
// The number of instructions for a pair bounds the speed of a cone. Therefore the tile holds levels
// (fast_formula.h) in place of logits, a weight takes one multiply-add and one exp2, masks are read
// only in tiles that need them, and the output is rescaled once a tile, when the products of the
// tile before have arrived. A row's extreme is the level of its largest logit. A bias is added to
// the level, divided by the factor. Weights by sigmoid need no extremes; where all of a row are
// below 2^-126, its log-sum-exp is -infinity.
#pragma once

#include <limits>

#include "gpu/hopper/fast_formula.h"
#include "gpu/hopper/measure.h"

namespace conelab::gpu::hopper {

/// Says where a consumer's tile lies in shared memory.
struct TileView {
  const unsigned char* query;  ///< [64 × width] swizzled
  const unsigned char* key;    ///< [128 × width] swizzled
  const float* facts;          ///< [1 + values][128] the keys' offsets, then their values.
  int key_begin;               ///< The first key of the tile.
  bool whole;                  ///< Whether every query of the warpgroup sees every key of the tile.
  /// [rows] those of the warpgroup's queries; read only if not `whole`.
  const KeySpan* span;
  int rows;           ///< The number of queries from the warpgroup's first one on; may exceed 64.
  const float* bias;  ///< [column - row] of the warpgroup's pairs.
};

/// The state of one thread for similarity S, 16-bit type `Type` and rows of `width` numbers.
template <class S, class Type, int width, Law law = Law::softmax>
class ForwardTail {
 public:
  using Number = Type;
  static constexpr bool refers = law != Law::sigmoid;  ///< Whether rows have a reference.
  static constexpr int products = key_tile / 2;
  static constexpr int steps = key_tile / 16;
  static constexpr float infinity = std::numeric_limits<float>::infinity();

  float tile[products];           ///< Products, then levels, then weights.
  std::uint32_t left[4 * steps];  ///< The weights as left operand: four registers for 16 keys.
  float output[width / 2];        ///< Sums of weight * value.
  float extreme[2];               ///< The level of the tile's largest logit in each of two rows.
  float sum[2];                   ///< The sums of weights over this thread's columns.

  /// Returns the one of two levels that belongs to the larger logit.
  CONELAB_TILE static float farther(float a, float b) { return least ? fminf(a, b) : fmaxf(a, b); }

  /// Clears the sums and reads the numbers of the thread's two rows. `row` is the first query of
  /// the warpgroup.
  CONELAB_TILE void start(int thread, const Problem<float>& p, int group, int row) {
#pragma unroll
    for (int n = 0; n < S::constants; ++n) {
      constants_[n] = p.constants[group % p.heads * S::constants + n];
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = row + accumulator_row(thread, 2 * h);
      offset_[h] = offset_of(p.query, group, r);
      values_[h] = token_values<S>(p.query, group, r);
      running_[h] = hidden;
      sum[h] = 0;
    }
#pragma unroll
    for (float& o : output) o = 0;
  }

  /// Turns products into levels, and sets `extreme` to that of this thread's columns in each row.
  /// Pairs that are not seen get the level of the logit -infinity.
  CONELAB_TILE void score(int thread, const TileView& view) {
    measure(thread, view);
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
      N key[S::values + 1];
#pragma unroll
      for (int v = 0; v < S::values; ++v) {
        const float* facts = view.facts + (1 + v) * key_tile;
        key[v] = load_pairs<lanes>([&](int l) { return facts + column(thread, c, l); });
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) score_lanes(thread, view, c, h, key);
    }
    if (!view.whole) hide(thread, view);
    if constexpr (refers) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        extreme[h] = hidden;
#pragma unroll
        for (int e = 0; e < products / 2; e += 2) {
          const float a = tile[accumulator(h, e)], b = tile[accumulator(h, e + 1)];
          // A level is not negative where the smallest is sought, unless a bias was added.
          extreme[h] = least && law == Law::softmax ? least_of(extreme[h], a, b)
                                                    : farther(farther(extreme[h], a), b);
        }
      }
    }
  }

  /// Turns levels into weights exp(logit - m), given in `extreme` the level of the largest logit of
  /// the whole row of the tile. m is the largest logit of all tiles so far, 0 if the row has seen
  /// no key. Without references turns them into weights 1 / (1 + exp(-logit)).
  CONELAB_TILE void weigh() {
    const float factor = rate * constants_[0] * log2e;
    if constexpr (refers) {
      weigh_by_reference(factor);
    } else {
#pragma unroll
      for (int i = 0; i < products; ++i) {
        tile[i] = fast_inverse(1.0f + fast_exp2(tile[i] * -factor));
        sum[i / 2 % 2] += tile[i];
      }
    }
  }

  /// Multiplies the output, which holds the sums of earlier tiles, by exp(m before - m now), unless
  /// that is 1 for all rows of the warp, as it soon is for most tiles.
  CONELAB_TILE void rescale() {
    if constexpr (refers) {
      if (!any(LaneMask<1>{!(scale_[0] == 1 && scale_[1] == 1)})) return;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
#pragma unroll
        for (int e = 0; e < width / 4; ++e) output[accumulator(h, e)] *= scale_[h];
      }
    }
  }

  /// Rounds the weights to 16 bits and packs them as the left operand of the second product.
  CONELAB_TILE void pack() {
#pragma unroll
    for (int r = 0; r < 4 * steps; ++r) left[r] = Type::pack(tile[2 * r], tile[2 * r + 1]);
  }

  /// Writes the two rows of output, largest logit and sum. `sum` must hold the sums of the whole
  /// rows.
  CONELAB_TILE void write(int thread, const Problem<float>& p, const ForwardResult<float>& result,
                          int group, int row) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = row + accumulator_row(thread, 2 * h);
      if (r >= p.query.count) continue;
      const std::int64_t at = static_cast<std::int64_t>(group) * p.query.count + r;
      // If the similarity measures products, a query that is not finite makes its row NaN here; its
      // offset is NaN.
      const float all = differences ? sum[h] : sum[h] + offset_[h];
      if (thread % 4 == 0) {
        result.sum[at] = all;
        result.maximum[at] = !refers                 ? 0.0f * all
                             : running_[h] == hidden ? 0.0f
                                                     : running_[h] * (rate * constants_[0]);
      }
      const float scale = !refers       ? 1.0f + 0.0f * all  // NaN if the row has a NaN.
                          : all == 0.0f ? 0.0f
                                        : fast_inverse(all);
#pragma unroll
      for (int e = 0; e < width / 4; ++e) {
        const int i = accumulator(h, e);
        const int column = accumulator_column(thread, i);
        if (column < p.width) result.output[at * p.width + column] = output[i] * scale;
      }
    }
  }

 private:
  // With 128 numbers there are only four lanes, because the output needs the registers.
  static constexpr int lanes = width == 64 ? 8 : 4;
  static constexpr int chunks = products / 2 / lanes;
  using N = Lanes<lanes>;
  static constexpr float rate = FastPair<S, N>::rate;
  static constexpr bool least = rate < 0;
  static constexpr float hidden = least ? infinity : -infinity;  ///< Its logit is -infinity.
  static constexpr bool differences = S::info.measure == Measure::squared_distance;

  float constants_[S::constants];
  float offset_[2];
  float running_[2];  ///< The level of the largest logit of all tiles so far.
  float scale_[2];    ///< exp(largest logit before - largest logit now)
  TokenValues<S, float> values_[2];

  CONELAB_TILE static constexpr int column(int thread, int chunk, int lane) {
    return accumulator_column(thread, accumulator(0, chunk * lanes + lane));
  }

  /// Replaces products by squared distances where the similarity measures these. A key that is not
  /// finite has a NaN among its numbers (pack.cpp) or in its offset.
  CONELAB_TILE void measure(int thread, const TileView& view) {
    if constexpr (differences) {
      SquaredDistances<Type, width, products>{
          thread, offset_, view.facts, {view.query, group_rows}, {view.key, key_tile}, 0}
          .replace(tile);
    }
  }

  CONELAB_TILE void score_lanes(int thread, const TileView& view, int c, int h, const N* key) {
    const N x = N::make([&](int l) { return tile[accumulator(h, c * lanes + l)]; });
    N query[S::values + 1];
#pragma unroll
    for (int v = 0; v < S::values; ++v) query[v] = N(values_[h].at[v]);
    const FastPair<S, N> pair(x, query, key, constants_);
#pragma unroll
    for (int l = 0; l < lanes; ++l) {
      const int i = accumulator(h, c * lanes + l);
      tile[i] = pair.level.at[l];
      if constexpr (law != Law::softmax) tile[i] += view.bias[accumulator_offset(thread, i)];
    }
  }

  CONELAB_TILE void weigh_by_reference(float factor) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float level = farther(running_[h], extreme[h]);
      const float reference = level == hidden ? 0.0f : level * factor;
      scale_[h] = level == running_[h] ? 1.0f : fast_exp2(fmaf(running_[h], factor, -reference));
      running_[h] = level;
      float total = 0;
#pragma unroll
      for (int e = 0; e < products / 2; ++e) {
        float& t = tile[accumulator(h, e)];
        t = fast_exp2(fmaf(t, factor, -reference));
        total += t;
      }
      sum[h] = sum[h] * scale_[h] + total;
    }
  }

  /// Gives pairs that are not seen the level of the logit -infinity. Spans are read again in each
  /// such tile, because four registers to keep them would be too many.
  CONELAB_TILE void hide(int thread, const TileView& view) {
    const KeySpan* spans = read_late(view.span);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = accumulator_row(thread, 2 * h);
      const KeySpan span = row < view.rows ? spans[row] : KeySpan{0, 0};
#pragma unroll
      for (int e = 0; e < products / 2; ++e) {
        const int i = accumulator(h, e);
        const int k = view.key_begin + accumulator_column(thread, i);
        if (k < span.begin || k >= span.end) tile[i] = hidden;
      }
    }
  }
};

}  // namespace conelab::gpu::hopper
