// What a consumer thread does between the two products of a tile: products -> logits -> weights.
//
// A thread holds 64 of the 64 × 128 products of its warpgroup: 32 columns of two rows. Between the
// steps, four neighbouring threads (which share the rows) agree on the rows' maxima. Device code
// calls the steps from a kernel, tests from a loop over the threads; the arithmetic is the same.
//
// What bounds a cone here is how many instructions a pair takes: 15 at the speed aimed at. Hence a
// weight is one multiply-add and one exp2, masks are looked at only in tiles that have any, and the
// output is rescaled once a tile, when the products of the tile before have arrived.
#pragma once

#include <limits>

#include "gpu/hopper/measure.h"

namespace conelab::gpu::hopper {

/// Where a consumer finds the tile in shared memory.
struct TileView {
  const unsigned char* query;  ///< [64 × width] swizzled
  const unsigned char* key;    ///< [128 × width] swizzled
  const float* facts;          ///< [1 + values][128] offsets, then values of the keys
  int key_begin;
  bool whole;           ///< Every query of the warpgroup sees every key of the tile.
  const KeySpan* span;  ///< [rows] of the warpgroup's queries; read only where not `whole`
  int rows;             ///< Queries from the warpgroup's first on, may be more than it has.
};

template <class S, class Type, int width>
class ForwardTail {
 public:
  using Number = Type;
  static constexpr int products = key_tile / 2;
  static constexpr int steps = key_tile / 16;
  static constexpr float lowest = -std::numeric_limits<float>::infinity();

  float tile[products];           ///< Products, then logits, then weights; see the steps.
  std::uint32_t left[4 * steps];  ///< The weights as left operand: four registers for 16 keys.
  float output[width / 2];
  float maximum[2];  ///< Of the tile, to be shared by the row's threads.
  float sum[2];      ///< Of this thread's columns.

  /// Reads the two rows' numbers; `row` is the first query of the warpgroup.
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
      running_[h] = lowest;
      sum[h] = 0;
    }
#pragma unroll
    for (float& o : output) o = 0;
  }

  /// Products -> logits; `maximum` becomes the largest of this thread's columns of each row.
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
      for (int h = 0; h < 2; ++h) score_lanes(c, h, key);
    }
    if (!view.whole) hide(thread, view);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      maximum[h] = lowest;
#pragma unroll
      for (int e = 0; e < products / 2; ++e) {
        maximum[h] = fmaxf(maximum[h], tile[accumulator(h, e)]);
      }
    }
  }

  /// Logits -> weights, given the rows' maxima over the tile.
  CONELAB_TILE void weigh() {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float largest = fmaxf(running_[h], maximum[h]);
      const float reference = largest == lowest ? 0.0f : largest * log2e;
      scale_[h] = fast_exp2(running_[h] * log2e - reference);
      running_[h] = largest;
      float total = 0;
#pragma unroll
      for (int e = 0; e < products / 2; ++e) {
        float& t = tile[accumulator(h, e)];
        t = fast_exp2(t * log2e - reference);
        total += t;
      }
      sum[h] = sum[h] * scale_[h] + total;
    }
  }

  /// What the output holds of the tiles before, moved to the reference of this one.
  CONELAB_TILE void rescale() {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int e = 0; e < width / 4; ++e) output[accumulator(h, e)] *= scale_[h];
    }
  }

  /// Weights -> the left operand of the second product.
  CONELAB_TILE void pack() {
#pragma unroll
    for (int r = 0; r < 4 * steps; ++r) left[r] = Type::pack(tile[2 * r], tile[2 * r + 1]);
  }

  /// Writes the two rows, `sum` being that of the whole row.
  CONELAB_TILE void write(int thread, const Problem<float>& p, const ForwardResult<float>& result,
                          int group, int row) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = row + accumulator_row(thread, 2 * h);
      if (r >= p.query.count) continue;
      const std::int64_t at = static_cast<std::int64_t>(group) * p.query.count + r;
      // Under products a query that is not finite shows here, not in each of its pairs.
      const float all = S::info.measure == Measure::product ? sum[h] + offset_[h] : sum[h];
      if (thread % 4 == 0) {
        result.sum[at] = all;
        result.maximum[at] = running_[h] == lowest ? 0.0f : running_[h];
      }
      const float scale = all == 0.0f ? 0.0f : 1.0f / all;
#pragma unroll
      for (int e = 0; e < width / 4; ++e) {
        const int i = accumulator(h, e);
        const int column = accumulator_column(thread, i);
        if (column < p.width) result.output[at * p.width + column] = output[i] * scale;
      }
    }
  }

 private:
  // Four in a row of 128 numbers: the output takes the registers that more would need.
  static constexpr int lanes = width == 64 ? 8 : 4;
  static constexpr int chunks = products / 2 / lanes;
  using N = Lanes<lanes>;
  static constexpr float log2e = 1.44269504088896341f;

  float constants_[S::constants];
  float offset_[2];
  float running_[2];  ///< Maximum of all tiles so far.
  float scale_[2];    ///< exp(maximum before - maximum now)
  TokenValues<S, float> values_[2];

  /// Accumulator of this thread's e-th column of row h.
  CONELAB_TILE static constexpr int accumulator(int h, int e) { return e / 2 * 4 + h * 2 + e % 2; }
  CONELAB_TILE static constexpr int column(int thread, int chunk, int lane) {
    return accumulator_column(thread, accumulator(0, chunk * lanes + lane));
  }

  /// Products -> what the similarity measures.
  CONELAB_TILE void measure(int thread, const TileView& view) {
    if constexpr (S::info.measure == Measure::product) {
      // The query's own offset is for `write`.
#pragma unroll
      for (int i = 0; i < products; ++i) tile[i] += view.facts[accumulator_column(thread, i)];
    } else {
      SquaredDistances<Type, width, products>{
          thread, offset_, view.facts, {view.query, group_rows}, {view.key, key_tile}, 0}
          .replace(tile);
    }
  }

  CONELAB_TILE void score_lanes(int c, int h, const N* key) {
    const N x = N::make([&](int l) { return tile[accumulator(h, c * lanes + l)]; });
    N query[S::values + 1];
#pragma unroll
    for (int v = 0; v < S::values; ++v) query[v] = N(values_[h].at[v]);
    N constant[S::constants];
#pragma unroll
    for (int n = 0; n < S::constants; ++n) constant[n] = N(constants_[n]);
    const N logit = S::score(x, query, key, constant);
#pragma unroll
    for (int l = 0; l < lanes; ++l) tile[accumulator(h, c * lanes + l)] = logit.at[l];
  }

  /// Takes out the pairs that are not seen. Spans are read again in each of the few such tiles:
  /// kept, they would take four registers that the widest cone does not have.
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
        if (k < span.begin || k >= span.end) tile[i] = lowest;
      }
    }
  }
};

}  // namespace conelab::gpu::hopper
