// The arithmetic of a consumer thread of the fast backward kernel between products: it
// differentiates the pairs of the consumer's 64 own tokens and a part of a tile of 64 tokens of the
// other side.
//
//   from the products  S = own other^T  and  dP = own_value other_value^T
//   it computes the weights P and W = dL/d(measure), up to a factor of the head (fast_formula.h);
//   then  base += W other,  value += P other_value,
//   dL/d(own) = 2 (own sum_j W_j - base)  for squared distances,  base  for products.
// After the last part, `scale` multiplies the sums by the factors.
//
// If the owner is the query, own values are upstream gradients and the other values are values; if
// it is the key, the reverse. W and P are rounded to 16 bits for the products. `margin`, the sum of
// W, adds the rounded numbers, so that own * margin and base cancel as exactly as float allows.
// Every token has one owner, so that equal input gives equal bits.
//
// If there is a bias, the threads of the queries' kernel write dL/dlogit to shared memory, with two
// of their rows added. Each thread then sums a diagonal of it.
//
// A part is a whole tile; for keys of 128 numbers it is half a tile, because these keep 128 sums in
// each thread's 240 registers and whole tiles would take 96 more.
#pragma once

#include "gpu/hopper/fast.h"
#include "gpu/hopper/fast_formula.h"
#include "gpu/hopper/measure.h"
#include "gpu/tile/gradient.h"

namespace conelab::gpu::hopper {

/// Says where a consumer's own tile and a tile of the other side lie in shared memory.
struct GradientView {
  const unsigned char* own;    ///< [64 × width] base, swizzled
  const unsigned char* other;  ///< [64 × width] base, swizzled
  const float* facts;          ///< [values + 3][64] those of the other side, see FastGradient.
  int begin;                   ///< The first token of the other side's tile.
  bool whole;                  ///< Whether every query sees every key of the tile.
  int first;                   ///< The first column of the tile that belongs to the part.
  const float* bias;           ///< [key - query] of the pairs of the part.
  float* diagonals;            ///< [diagonal_numbers] dL/dlogit is added here.
};

/// The state of one thread for similarity S, 16-bit type `Type` and rows of `width` numbers.
template <class S, class Type, int width, Owner owner, Law law = Law::softmax>
class GradientTail {
 public:
  static constexpr bool biased = law != Law::softmax;
  static constexpr bool sums_offsets = biased && owner == Owner::query;
  /// The numbers that `diagonals` takes: 32 rows of 72, each with zeros on both sides that are read
  /// in place of pairs outside the tile.
  static constexpr int diagonal_stride = 136;
  static constexpr int diagonal_numbers =
      sums_offsets ? group_rows + group_rows / 2 * diagonal_stride : 0;
  static constexpr int columns = owner == Owner::key && width == 128 ? 32 : 64;
  static constexpr int parts = group_rows / columns;
  static constexpr int products = columns / 2;
  static constexpr int steps = columns / 16;
  static constexpr int value_numbers = owner == Owner::key ? width / 2 : 1;

  float tile[products];   ///< S before `differentiate`; afterwards undefined.
  float slope[products];  ///< dP before `differentiate`.
  float base[width / 2];
  float value[value_numbers];
  float margin[2];     ///< The sums of W over this thread's columns, of two rows.
  float potential[2];  ///< The sums of dL/d(potential) over them.
  double sums[S::constants];
  std::uint32_t by_measure[products / 2];                        ///< W as left operand.
  std::uint32_t weight[owner == Owner::key ? products / 2 : 1];  ///< P as left operand.

  /// Clears the sums and reads the numbers of the thread's two rows. `row` is the consumer's first
  /// token.
  CONELAB_TILE void start(int thread, const FastGradient& g, int group, int row) {
    const Problem<float>& p = g.call;
    problem_ = &p;
    batch_ = group / p.heads;
    row_ = row;
#pragma unroll
    for (int n = 0; n < S::constants; ++n) {
      constants_[n] = p.constants[group % p.heads * S::constants + n];
    }
    const Side<float>& side = owner == Owner::query ? p.query : p.key;
    const float* facts = owner == Owner::query ? g.query_facts : g.key_facts;
    const std::int64_t at = side.of(group) * ceil_div(side.count, group_rows) + row / group_rows;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float* own = facts + at * fact_rows * group_rows + accumulator_row(thread, 2 * h);
#pragma unroll
      for (int f = 0; f < fact_rows; ++f) facts_[h][f] = own[f * group_rows];
      margin[h] = potential[h] = 0;
    }
#pragma unroll
    for (float& b : base) b = 0;
#pragma unroll
    for (float& v : value) v = 0;
#pragma unroll
    for (double& s : sums) s = 0;
  }

  /// Turns the products of one part into `by_measure` and `weight`, and adds to `margin`,
  /// `potential` and the parameters' `sums`.
  CONELAB_TILE void differentiate(int thread, const GradientView& view) {
    float tile_sums[S::constants] = {};
    const bool close = measure(thread, view);
    // The pairs are compiled in two versions, so that most tiles test neither masks nor distances.
    if (view.whole && !close) {
      pairs<true>(thread, view, 0, tile_sums);
    } else {
      pairs<false>(thread, view, view.whole ? ~0u : seen_pairs(thread, view), tile_sums);
    }
    if constexpr (owner == Owner::query) {
#pragma unroll
      for (int n = 0; n < S::constants; ++n) sums[n] += static_cast<double>(tile_sums[n]);
    }
  }

  /// Clears this thread's share of `diagonals`.
  CONELAB_TILE static void clear_diagonals(int thread, float* diagonals) {
    for (int i = thread; i < diagonal_numbers; i += group_threads) diagonals[i] = 0;
  }
  /// Returns the sum of dL/dlogit over the pairs of the tile with key - query = thread - 64,
  /// counted from the first of both.
  CONELAB_TILE static float diagonal_sum(int thread, const float* diagonals) {
    float sum = 0;
#pragma unroll
    for (int row = 0; row < group_rows / 2; ++row) {
      const int column = 8 + accumulator_row(row * 4, 0) + thread - group_rows;
      sum += diagonals[group_rows + row * diagonal_stride + column];
    }
    return sum;
  }

  /// Multiplies the finished sums by the factors of the head.
  CONELAB_TILE void scale() {
    const float factor = Pair::rate * constants_[0];
    const float by_x = differences ? factor * Pair::x_scale(constants_) : factor;
#pragma unroll
    for (float& b : base) b *= by_x;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      margin[h] *= by_x;
      potential[h] *= factor;
    }
    sums[0] *= static_cast<double>(Pair::rate);
    if constexpr (S::constants > 1) {
      sums[1] *= static_cast<double>(factor * Pair::constant_scale(constants_));
    }
  }

 private:
  static constexpr int lanes = 4;
  static constexpr int chunks = products / 2 / lanes;
  static constexpr int fact_rows = S::values + 3;
  static constexpr bool differences = S::info.measure == Measure::squared_distance;
  using N = Lanes<lanes>;
  using Pair = FastPair<S, N>;

  const Problem<float>* problem_;
  float constants_[S::constants];
  int batch_, row_;
  float facts_[2][fact_rows];

  CONELAB_TILE static constexpr int column(int thread, int chunk, int lane) {
    return accumulator_column(thread, accumulator(0, chunk * lanes + lane));
  }

  /// Returns the keys that a query sees, none for one beyond the last.
  CONELAB_TILE KeySpan span_of(int query) const {
    if (query >= problem_->query.count) return {0, 0};
    return problem_->span[static_cast<std::int64_t>(batch_) * problem_->query.count + query];
  }
  CONELAB_TILE static std::uint32_t bit(KeySpan span, int key, int i) {
    return static_cast<std::uint32_t>(span.begin <= key && key < span.end) << i;
  }

  /// Replaces products by the measures of the similarity, and returns whether any pair is close.
  /// For products nothing is added: offsets are 0, except for tokens that are not finite, which
  /// make the log-sum-exp of every row that sees them NaN.
  CONELAB_TILE bool measure(int thread, const GradientView& view) {
    if constexpr (differences) {
      const float own[2] = {facts_[0][0], facts_[1][0]};
      return SquaredDistances<Type, width, products>{
          thread,    own, view.facts + view.first, {view.own, group_rows}, {view.other, group_rows},
          view.first}
          .replace(tile);
    }
    return false;
  }

  /// Returns a mask whose bit i says whether the pair of accumulator i is seen.
  CONELAB_TILE std::uint32_t seen_pairs(int thread, const GradientView& view) const {
    static_assert(products <= 32);
    const int first = view.begin + view.first;
    const int own[2] = {row_ + accumulator_row(thread, 0), row_ + accumulator_row(thread, 2)};
    std::uint32_t seen = 0;
    if constexpr (owner == Owner::query) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const KeySpan span = span_of(own[h]);
#pragma unroll
        for (int e = 0; e < products / 2; ++e) {
          const int i = accumulator(h, e);
          seen |= bit(span, first + accumulator_column(thread, i), i);
        }
      }
    } else {
#pragma unroll 4
      for (int e = 0; e < products / 2; ++e) {
        const int i = accumulator(0, e);
        const KeySpan span = span_of(first + accumulator_column(thread, i));
        seen |= bit(span, own[0], i) | bit(span, own[1], accumulator(1, e));
      }
    }
    return seen;
  }

  template <bool whole>
  CONELAB_TILE void pairs(int thread, const GradientView& view, std::uint32_t seen,
                          float* tile_sums) {
    static_assert(lanes == 4);
    float before[2] = {};  // Of the last two columns of the upper row.
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
      const N upper = lanes_of<whole>(thread, view, seen, c, 0, tile_sums);
      const N lower = lanes_of<whole>(thread, view, seen, c, 1, tile_sums);
      if constexpr (sums_offsets) {
        // The lower row is 8 rows below, so that its diagonals are those of the upper row 8 columns
        // before.
        put_pair(thread, view, 2 * c, before[0] + lower.at[0], before[1] + lower.at[1]);
        put_pair(thread, view, 2 * c + 1, upper.at[0] + lower.at[2], upper.at[1] + lower.at[3]);
        before[0] = upper.at[2];
        before[1] = upper.at[3];
      }
    }
    if constexpr (sums_offsets) put_pair(thread, view, 2 * chunks, before[0], before[1]);
  }

  /// Stores dL/dlogit of two columns from 8 (step - 1) on.
  CONELAB_TILE static void put_pair(int thread, const GradientView& view, int step, float first,
                                    float second) {
    struct alignas(8) Pair {
      float first, second;
    };
    const int place = thread / 4 * diagonal_stride + step * 8 + thread % 4 * 2;
    *reinterpret_cast<Pair*>(view.diagonals + group_rows + place) = {first, second};
  }

  /// Differentiates the pairs of chunk c and row h. Returns dL/dlogit, 0 of pairs that are not
  /// seen.
  template <bool whole>
  CONELAB_TILE N lanes_of(int thread, const GradientView& view, std::uint32_t seen, int c, int h,
                          float* tile_sums) {
    N own[fact_rows];
    N other[fact_rows];
#pragma unroll
    for (int f = 1; f < fact_rows; ++f) {
      own[f] = N(facts_[h][f]);
      const float* facts = view.facts + f * group_rows + view.first;
      other[f] = load_pairs<lanes>([&](int l) { return facts + column(thread, c, l); });
    }
    const Pair pair(pick(tile, c, h), own + 1, other + 1, constants_);
    // The query's facts end with its log-sum-exp in units of ln 2 and its delta.
    const N* query = owner == Owner::query ? own : other;
    const N weights = weights_of(with_bias(thread, view, pair.level, c, h), query[S::values + 1]);
    N by_logit;
    if constexpr (law == Law::sigmoid) {
      by_logit = (weights - weights * weights) * pick(slope, c, h);
    } else {
      by_logit = weights * (pick(slope, c, h) - query[S::values + 2]);
    }
    set_operand<whole>(seen, c, h, pair.by_x(by_logit));
    if constexpr (owner == Owner::key) set_weights(c, h, only_seen<whole>(seen, c, h, weights));
    if constexpr (S::token_slope) add<whole>(potential[h], seen, c, h, pair.by_own(by_logit));
    if constexpr (owner == Owner::query) {
      add<whole>(tile_sums[0], seen, c, h, by_logit * pair.level);
      if constexpr (S::constants > 1) {
        add<whole>(tile_sums[1], seen, c, h, pair.by_constant(by_logit));
      }
    }
    constexpr bool as_they_are = whole || !sums_offsets;
    return only_seen<as_they_are>(seen, c, h, by_logit);
  }

  /// Returns the numbers of chunk c and row h among all of the thread's products.
  CONELAB_TILE static N pick(const float* from, int c, int h) {
    return N::make([&](int l) { return from[accumulator(h, c * lanes + l)]; });
  }

  CONELAB_TILE static N with_bias(int thread, const GradientView& view, N level, int c, int h) {
    if constexpr (!biased) return level;
    return level + N::make([&](int l) {
             const int offset = accumulator_offset(thread, accumulator(h, c * lanes + l));
             return view.bias[owner == Owner::query ? offset : -offset];
           });
  }

  /// Returns the weights, given the log-sum-exps of the queries' rows.
  CONELAB_TILE N weights_of(N level, N lse) const {
    const N exponent = level * N(Pair::rate * constants_[0] * log2e) - lse;
    return N::make([&](int l) {
      return law == Law::sigmoid ? fast_inverse(1.0f + fast_exp2(-exponent.at[l]))
                                 : fast_exp2(exponent.at[l]);
    });
  }

  /// Sets W as left operand, 0 of pairs that are not seen and at distance 0, and adds the rounded
  /// numbers to `margin`.
  template <bool whole>
  CONELAB_TILE void set_operand(std::uint32_t seen, int c, int h, N w) {
    if constexpr (!whole) {
#pragma unroll
      for (int l = 0; l < lanes; ++l) {
        const bool twin = differences && tile[accumulator(h, c * lanes + l)] == 0;
        if (!sees(seen, c, h, l) || twin) w.at[l] = 0;
      }
    }
#pragma unroll
    for (int l = 0; l < lanes; l += 2) {
      const std::uint32_t both = Type::pack(w.at[l], w.at[l + 1]);
      by_measure[accumulator(h, c * lanes + l) / 2] = both;
      if constexpr (differences) {
        margin[h] += Type::widen(static_cast<std::uint16_t>(both)) +
                     Type::widen(static_cast<std::uint16_t>(both >> 16));
      }
    }
  }
  /// Sets P likewise.
  CONELAB_TILE void set_weights(int c, int h, N p) {
#pragma unroll
    for (int l = 0; l < lanes; l += 2) {
      weight[accumulator(h, c * lanes + l) / 2] = Type::pack(p.at[l], p.at[l + 1]);
    }
  }

  /// Adds the terms of pairs that are seen to `sum`.
  template <bool whole>
  CONELAB_TILE static void add(float& sum, std::uint32_t seen, int c, int h, N term) {
#pragma unroll
    for (int l = 0; l < lanes; ++l) {
      if (whole || sees(seen, c, h, l)) sum += term.at[l];
    }
  }
  template <bool whole>
  CONELAB_TILE static N only_seen(std::uint32_t seen, int c, int h, N numbers) {
    if constexpr (!whole) {
#pragma unroll
      for (int l = 0; l < lanes; ++l) {
        if (!sees(seen, c, h, l)) numbers.at[l] = 0;
      }
    }
    return numbers;
  }

  CONELAB_TILE static bool sees(std::uint32_t seen, int c, int h, int l) {
    return (seen >> accumulator(h, c * lanes + l) & 1) != 0;
  }
};

}  // namespace conelab::gpu::hopper
