// Products on a unit that multiplies tiles of bf16 numbers (AMX), over the panels of kernels.h.
//
//   x = high + low + e,  high and low bf16,  |e| <= 2^-17 |x|
//   a b = sum of (high_a + low_a) (high_b + low_b), accumulated in float
//
// Both operands are split on the fly. The four products keep 16 bits of each factor, so that f16
// and bf16 numbers are multiplied exactly and only computed ones (weights, slopes, mapped and
// centred tokens) are rounded, to 2^-17: too little for float tensors, enough for results that are
// rounded to 11 or 8 bits. Where all low terms of a part are 0 (bf16 tensors as they are) their
// products are left out, which changes no bit.
//
// The unit takes numbers below 2^-126 for 0 and writes none: a low term is lost where |x| < 2^-109,
// so that products err by up to 2^-126 times the larger factor more than said above. It does not
// see NaN and infinities here either: what holds one (or a number that rounds to one) goes to the
// vector kernels, a row of the left operand by itself, a panel of the right one for all rows. What
// a row receives depends on no other row.
//
// An `Engine` is a thread's tile unit, set up by its constructor and released by its destructor,
// with an accumulator of 32 × 32 floats:
//   zero()                       accumulator = 0
//   multiply(l0, l1, r0, r1)     accumulator += [l0; l1] [r0 r1], left tiles 16 rows × 32 steps,
//                                right tiles 32 steps × 16 columns
//   store(out)                   accumulator -> row-major out [32 × 32]
// A tile is 16 × 16 words, a word the bf16 numbers of two consecutive steps, the first one in its
// low half: word [row][step / 2] of a left tile, [step / 2][column] of a right one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/simd/kernels.h"

namespace conelab {

template <class Engine>
class TileProducts {
 public:
  /// `vector` with its products replaced; its panels have 32 columns. One table per engine.
  static Kernels<float> make(const char* name, const Kernels<float>& vector) {
    vector_ = vector;
    Kernels<float> k = vector;
    k.name = name;
    k.forward_rows = k.backward_rows = group_rows;
    k.product = &product;
    k.squared_distance = &squared_distance;
    k.peak = &peak;
    k.peak_flops = 2 * block * block * steps;
    return k;
  }

 private:
  using Word = std::uint32_t;
  static constexpr int size = 16;         ///< Rows of a left tile, columns of a right one, pairs.
  static constexpr int steps = 2 * size;  ///< Of a tile.
  static constexpr int block = 2 * size;  ///< Rows and columns of the accumulator; a panel.
  /// Queries of a group: splitting the keys is shared by all of them. Never tuned on a processor.
  static constexpr int group_rows = 64;
  /// Tiles of the depth that are packed at a time, whose 256 terms are summed by themselves.
  static constexpr int most_deep = 8;
  static constexpr int most_tiles = 32;  ///< Left tiles that are packed at a time.

  struct Tile {
    Word word[size][size];
  };

  /// A part of the left operand: tile (r, k) of each term at [r * deep + k].
  struct Left {
    alignas(64) Tile term[2][most_tiles];
    int terms;
    bool wild[most_tiles * size];  ///< Rows that hold what is not finite; packed as zeros.
  };

  /// A part of a panel: tile k of each half and term.
  struct Right {
    alignas(64) Tile term[2][2][most_deep];  ///< [term][half][k]
    int terms;
    bool wild;
  };

  /// A part of a product: rows × 32 columns × depth.
  struct Part {
    int rows, depth;
    LeftOperand<float> left;
    const float* panel;
    std::ptrdiff_t panel_step;
    float* c;
    std::ptrdiff_t stride;
    Store store;

    [[nodiscard]] int deep() const { return (depth + steps - 1) / steps; }
  };

  static inline Kernels<float> vector_{};

  // Numbers ------------------------------------------------------------------------------------

  /// Both terms of x, each in the upper half of a word. A tie is rounded away from 0: the low term
  /// takes what is left either way.
  static void split(float x, Word& high, Word& low) {
    const auto bits = __builtin_bit_cast(Word, x);
    high = (bits + 0x8000U) & 0xffff0000U;
    low = (__builtin_bit_cast(Word, x - __builtin_bit_cast(float, high)) + 0x8000U) & 0xffff0000U;
  }

  /// Whether x is not finite, or rounds to what is not.
  static bool is_wild(float x) {
    constexpr Word exponent = 0x7f800000U;
    const auto bits = __builtin_bit_cast(Word, x);
    return static_cast<bool>(static_cast<int>((bits & exponent) == exponent) |
                             static_cast<int>(((bits + 0x8000U) & exponent) == exponent));
  }

  /// The words of 16 pairs of numbers; adds to `any_low` the bits of the low terms but for signs.
  static void pair_up(const float* first, const float* second, Word* high, Word* low,
                      Word& any_low) {
    Word any = 0;
    for (int i = 0; i < size; ++i) {
      Word high0, high1, low0, low1;
      split(first[i], high0, low0);
      split(second[i], high1, low1);
      high[i] = (high0 >> 16U) | high1;
      low[i] = (low0 >> 16U) | low1;
      any |= low[i] & 0x7fff7fffU;
    }
    any_low |= any;
  }

  // Packing ------------------------------------------------------------------------------------

  static void pack_right(const Part& p, Right& out) {
    static constexpr float none[block] = {};
    Word any_low = 0;
    int wild = 0;
    for (int step = 0; step < p.depth; ++step) {
      const float* row = p.panel + step * p.panel_step;
      for (int i = 0; i < block; ++i) wild |= static_cast<int>(is_wild(row[i]));
    }
    for (int step = 0; step < p.deep() * steps; step += 2) {
      const float* first = step < p.depth ? p.panel + step * p.panel_step : none;
      const float* second = step + 1 < p.depth ? p.panel + (step + 1) * p.panel_step : none;
      const int k = step / steps, pair = step % steps / 2;
      for (int half = 0; half < 2; ++half) {
        pair_up(first + half * size, second + half * size, out.term[0][half][k].word[pair],
                out.term[1][half][k].word[pair], any_low);
      }
    }
    out.wild = wild != 0;
    out.terms = any_low == 0 ? 1 : 2;
  }

  /// The 16 × 16 words of a tile, turned: four rounds exchange the off-diagonal quarters of squares
  /// of 16, 8, 4 and 2 words.
  static void transpose(Tile& tile) {
    exchange<8>(tile);
    exchange<4>(tile);
    exchange<2>(tile);
    exchange<1>(tile);
  }

  template <int half>
  static void exchange(Tile& tile) {
    for (int row = 0; row < size; ++row) {
      if ((row & half) != 0) continue;
      Word* upper = tile.word[row];
      Word* lower = tile.word[row + half];
      for (int from = 0; from < size; from += 2 * half) {
        for (int i = from; i < from + half; ++i) {
          const Word moved = upper[i + half];
          upper[i + half] = lower[i];
          lower[i] = moved;
        }
      }
    }
  }

  /// One left tile. `numbers` [steps × 16 rows] or [16 rows × steps], zeros where there is nothing.
  static void pack_left_tile(const float* numbers, bool rows_contiguous, Tile& high, Tile& low,
                             Word& any_low) {
    float even[size], odd[size];
    for (int i = 0; i < size; ++i) {
      if (rows_contiguous) {
        const float* pair = numbers + 2 * i * size;
        pair_up(pair, pair + size, high.word[i], low.word[i], any_low);
        continue;
      }
      for (int p = 0; p < size; ++p) {
        even[p] = numbers[i * steps + 2 * p];
        odd[p] = numbers[i * steps + 2 * p + 1];
      }
      pair_up(even, odd, high.word[i], low.word[i], any_low);
    }
    if (!rows_contiguous) return;
    transpose(high);
    transpose(low);
  }

  /// Copies a corner of the left operand, rows [first, first + 16) × steps [step, step + 32), as
  /// pack_left_tile takes it.
  static void gather(const Part& p, int first, int step, const bool* wild, float* numbers) {
    const bool rows_contiguous = p.left.step_stride != 1;
    const int rows = p.rows - first < size ? p.rows - first : size;
    const int count = p.depth - step < steps ? p.depth - step : steps;
    for (int i = 0; i < size * steps; ++i) numbers[i] = 0;
    const float* corner = p.left.data + first * p.left.row_stride + step * p.left.step_stride;
    if (rows_contiguous) {
      for (int s = 0; s < count; ++s) {
        const float* from = corner + s * p.left.step_stride;
        for (int r = 0; r < rows; ++r) numbers[s * size + r] = wild[r] ? 0 : from[r];
      }
      return;
    }
    for (int r = 0; r < rows; ++r) {
      if (wild[r]) continue;
      const float* from = corner + r * p.left.row_stride;
      for (int s = 0; s < count; ++s) numbers[r * steps + s] = from[s];
    }
  }

  static void find_wild_rows(const Part& p, bool* wild) {
    for (int r = 0; r < p.rows; ++r) wild[r] = false;
    if (p.left.step_stride != 1) {
      for (int s = 0; s < p.depth; ++s) {
        const float* from = p.left.data + s * p.left.step_stride;
        for (int r = 0; r < p.rows; ++r) wild[r] |= is_wild(from[r]);
      }
      return;
    }
    for (int r = 0; r < p.rows; ++r) {
      int any = 0;
      const float* from = p.left.data + r * p.left.row_stride;
      for (int s = 0; s < p.depth; ++s) any |= static_cast<int>(is_wild(from[s]));
      wild[r] = any != 0;
    }
  }

  static void pack_left(const Part& p, Left& out) {
    find_wild_rows(p, out.wild);
    Word any_low = 0;
    const int deep = p.deep();
    float numbers[size * steps];
    for (int first = 0; first < round_to_block(p.rows); first += size) {
      for (int k = 0; k < deep; ++k) {
        const int at = first / size * deep + k;
        gather(p, first, k * steps, out.wild + first, numbers);
        pack_left_tile(numbers, p.left.step_stride != 1, out.term[0][at], out.term[1][at], any_low);
      }
    }
    out.terms = any_low == 0 ? 1 : 2;
  }

  // Products -----------------------------------------------------------------------------------

  static int round_to_block(int rows) { return (rows + block - 1) / block * block; }

  static void by_vectors(const Part& p, int row, int rows) {
    LeftOperand<float> left = p.left;
    left.data += row * left.row_stride;
    vector_.product(rows, block, p.depth, left, {p.panel, 0, p.panel_step}, p.c + row * p.stride,
                    p.stride, p.store);
  }

  /// Rows [first, first + 32) from the accumulator's copy into the tile.
  static void write(const Part& p, const Left& left, int first, const float* sums) {
    const int rows = p.rows - first < block ? p.rows - first : block;
    for (int r = 0; r < rows; ++r) {
      if (left.wild[first + r]) {
        by_vectors(p, first + r, 1);
        continue;
      }
      float* to = p.c + (first + r) * p.stride;
      const float* from = sums + r * block;
      if (p.store == Store::add) {
        for (int c = 0; c < block; ++c) to[c] += from[c];
      } else {
        for (int c = 0; c < block; ++c) to[c] = from[c];
      }
    }
  }

  static void multiply(Engine& engine, const Part& p, const Left& left, const Right& right) {
    alignas(64) float sums[block * block];
    const int deep = p.deep();
    for (int first = 0; first < p.rows; first += block) {
      const int upper = first / size * deep, lower = upper + deep;
      engine.zero();
      for (int k = 0; k < deep; ++k) {
        for (int i = 0; i < left.terms; ++i) {
          for (int j = 0; j < right.terms; ++j) {
            engine.multiply(&left.term[i][upper + k], &left.term[i][lower + k],
                            &right.term[j][0][k], &right.term[j][1][k]);
          }
        }
      }
      engine.store(sums);
      write(p, left, first, sums);
    }
  }

  /// Rows that fit into `Left` against all columns.
  static void multiply_part(Engine& engine, Part p, int columns, std::ptrdiff_t panel_stride) {
    Left left;
    Right right;
    pack_left(p, left);
    for (int column = 0; column < columns; column += block) {
      pack_right(p, right);
      if (right.wild) {
        by_vectors(p, 0, p.rows);
      } else {
        multiply(engine, p, left, right);
      }
      p.panel += panel_stride;
      p.c += block;
    }
  }

  static void product(int rows, int columns, int depth, LeftOperand<float> left,
                      RightOperand<float> right, float* c, std::ptrdiff_t stride, Store store) {
    if (depth == 0) {
      return vector_.product(rows, columns, depth, left, right, c, stride, store);
    }
    Engine engine;
    for (int step = 0; step < depth; step += most_deep * steps) {
      Part p{rows, depth - step, left, right.data + step * right.step_stride, right.step_stride,
             c,    stride,       store};
      p.left.data += step * left.step_stride;
      if (p.depth > most_deep * steps) p.depth = most_deep * steps;
      const int most_rows = most_tiles / p.deep() / 2 * block;
      for (int row = 0; row < rows; row += most_rows) {
        p.rows = rows - row < most_rows ? rows - row : most_rows;
        multiply_part(engine, p, columns, right.panel_stride);
        p.left.data += most_rows * left.row_stride;
        p.c += most_rows * stride;
      }
      store = Store::add;
    }
  }

  /// One row of products -> squared distances; returns the least of them.
  static float to_distances(float* row, int columns, float query_norm, const float* key_norm) {
    float least[size];
    for (float& l : least) l = std::numeric_limits<float>::max();
    for (int first = 0; first < columns; first += size) {
      for (int i = 0; i < size; ++i) {
        const int c = first + i;
        row[c] = query_norm + key_norm[c] + row[c];
        least[i] = row[c] < least[i] ? row[c] : least[i];
      }
    }
    float all = least[0];
    for (const float l : least) all = l < all ? l : all;
    return all;
  }

  static void squared_distance(int rows, int columns, int depth, LeftOperand<float> left,
                               RightOperand<float> right, const float* query_norm,
                               const float* key_norm, float* c, std::ptrdiff_t stride,
                               float* least) {
    product(rows, columns, depth, left, right, c, stride, Store::replace);
    for (int r = 0; r < rows; ++r) {
      least[r] = to_distances(c + r * stride, columns, query_norm[r], key_norm);
    }
  }

  static float peak(long rounds) {
    alignas(64) Tile tile;
    alignas(64) float sums[block * block];
    for (auto& row : tile.word) {
      for (Word& w : row) w = 0x3a803a80U;  // 2^-10, twice
    }
    Engine engine;
    engine.zero();
    for (long i = 0; i < rounds; ++i) engine.multiply(&tile, &tile, &tile, &tile);
    engine.store(sums);
    return sums[0];
  }
};

}  // namespace conelab
