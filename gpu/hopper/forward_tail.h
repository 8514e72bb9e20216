// What a consumer thread does between the two products of a tile: products -> logits -> weights.
//
// A thread holds 64 of the 64 × 128 products of its warpgroup: 32 columns of two rows. Between the
// steps, four neighbouring threads (which share the rows) agree on the rows' maxima. Device code
// calls the steps from a kernel, tests from a loop over the threads; the arithmetic is the same.
// Logits are in units of ln 2, so that a weight is one exp2.
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
  bool whole;  ///< Every query of the warpgroup sees every key of the tile.
};

template <class S, class Type, int width>
class ForwardTail {
 public:
  static constexpr int products = key_tile / 2;
  static constexpr int steps = key_tile / 16;
  static constexpr float lowest = -std::numeric_limits<float>::infinity();

  float tile[products];
  float output[width / 2];
  float maximum[2];  ///< Of the tile first, then of all tiles so far; see the steps.
  float sum[2];

  /// Reads the two rows' numbers; `row` is the first query of the warpgroup.
  CONELAB_TILE void start(int thread, const Problem<float>& p, int group, int row) {
    const int batch = group / p.heads;
    constants_ = p.constants + group % p.heads * S::constants;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = row + accumulator_row(thread, 2 * h);
      offset_[h] = offset_of(p.query, group, r);
      values_[h] = token_values<S>(p.query, group, r);
      span_[h] = r < p.query.count ? p.span[static_cast<std::int64_t>(batch) * p.query.count + r]
                                   : KeySpan{0, 0};
      running_[h] = lowest;
      sum[h] = 0;
    }
#pragma unroll
    for (float& o : output) o = 0;
  }

  /// Products -> logits; `maximum` becomes the largest of this thread's columns of each row.
  CONELAB_TILE void score(int thread, const TileView& view) {
    maximum[0] = maximum[1] = lowest;
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
      N key[S::values + 1];
#pragma unroll
      for (int v = 0; v <= S::values; ++v) {
        key[v] = N::make([&](int l) { return view.facts[v * key_tile + column(thread, c, l)]; });
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) score_lanes(thread, view, c, h, key);
    }
  }

  /// Logits -> weights, given the rows' maxima over the tile; rescales what was summed so far.
  CONELAB_TILE void weigh() {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float largest = fmaxf(running_[h], maximum[h]);
      const float reference = largest == lowest ? 0.0f : largest;
      const float scale = fast_exp2(running_[h] - reference);
      running_[h] = largest;
      float total = 0;
#pragma unroll
      for (int e = 0; e < products / 2; ++e) {
        float& t = tile[accumulator(h, e)];
        t = fast_exp2(t - reference);
        total += t;
      }
      sum[h] = sum[h] * scale + total;
#pragma unroll
      for (int e = 0; e < width / 4; ++e) output[accumulator(h, e)] *= scale;
    }
  }

  /// Weights as the left operand of the second product: four registers for every 16 keys.
  CONELAB_TILE void pack(std::uint32_t (&left)[4 * steps]) const {
#pragma unroll
    for (int r = 0; r < 4 * steps; ++r) left[r] = Type::pack(tile[2 * r], tile[2 * r + 1]);
  }

  /// The reference m of row h in natural units, 0 where the row saw nothing.
  [[nodiscard]] CONELAB_TILE float reference(int h) const {
    constexpr float ln2 = 0.693147180559945309f;
    return running_[h] == lowest ? 0.0f : running_[h] * ln2;
  }

 private:
  // Four in a row of 128 numbers: the output takes the registers that more would need.
  static constexpr int lanes = width == 64 ? 8 : 4;
  static constexpr int chunks = products / 2 / lanes;
  using N = Lanes<lanes>;

  const float* constants_;
  float offset_[2];
  float running_[2];
  TokenValues<S, float> values_[2];
  KeySpan span_[2];

  /// Accumulator of this thread's e-th column of row h.
  CONELAB_TILE static constexpr int accumulator(int h, int e) { return e / 2 * 4 + h * 2 + e % 2; }
  CONELAB_TILE static constexpr int column(int thread, int chunk, int lane) {
    return accumulator_column(thread, accumulator(0, chunk * lanes + lane));
  }

  CONELAB_TILE void score_lanes(int thread, const TileView& view, int c, int h, const N* key) {
    constexpr float log2e = 1.44269504088896341f;
    const N product = N::make([&](int l) { return tile[accumulator(h, c * lanes + l)]; });
    const N x = PairMeasure<S, Type, width, lanes>::of(
        product, offset_[h], key[0], {view.query, group_rows}, accumulator_row(thread, 2 * h),
        {view.key, key_tile}, [&](int l) { return column(thread, c, l); });
    N query[S::values + 1];
#pragma unroll
    for (int v = 0; v < S::values; ++v) query[v] = N(values_[h].at[v]);
    N constant[S::constants];
#pragma unroll
    for (int n = 0; n < S::constants; ++n) constant[n] = N(constants_[n]);
    const N logit = S::score(x, query, key + 1, constant) * N(log2e);
#pragma unroll
    for (int l = 0; l < lanes; ++l) {
      float t = logit.at[l];
      const int k = view.key_begin + column(thread, c, l);
      if (!view.whole && (k < span_[h].begin || k >= span_[h].end)) t = lowest;
      tile[accumulator(h, c * lanes + l)] = t;
      maximum[h] = fmaxf(maximum[h], t);
    }
  }
};

}  // namespace conelab::gpu::hopper
