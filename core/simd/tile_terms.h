// Splits floats into sums of bf16 numbers and packs these into tiles, for tile_products.h.
//
// x = t_0 + t_1 + t_2 + e      |e| <= 2^-17 |x| for two terms, e = 0 for three (|x| >= 2^-109)
//
// A tile is 16 × 16 words. A word holds the bf16 numbers of the steps p and p + 16, the first in
// its lower half. The word [row][p] belongs to a left tile, [p][column] to a right one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace conelab {

/// `Engine` is the tile unit that the terms are for: units that are compiled with different flags
/// must not share functions.
template <class Engine, int most_terms>
struct TileTerms {
  static_assert(most_terms == 2 || most_terms == 3);

  using Word = std::uint32_t;
  static constexpr int size = 16;         ///< Rows of a left tile, columns of a right one.
  static constexpr int steps = 2 * size;  ///< Steps of the depth in a tile.
  static constexpr int block = 2 * size;  ///< Columns of a panel; size of the accumulator.

  // Vectors of sixteen numbers. The last two types may access memory that was written as another
  // type.
  using Words [[gnu::vector_size(64)]] = Word;
  using Floats [[gnu::vector_size(64)]] = float;
  using StoredWords [[gnu::vector_size(64), gnu::may_alias]] = Word;
  using LoadedFloats [[gnu::vector_size(64), gnu::may_alias, gnu::aligned(4)]] = float;

  struct alignas(64) Tile {
    Word word[size][size];
  };

  /// 32 steps of a packed panel.
  struct alignas(64) Unit {
    int terms;  ///< Number of terms; further ones are all 0.
    Tile half[most_terms][2];
  };

  static constexpr Word upper_half = 0xffff0000U, half_ulp = 0x8000U, exponent = 0x7f800000U;

  static void load(const float* from, Floats& x) {
    x = *reinterpret_cast<const LoadedFloats*>(from);
  }
  static void put(const Floats& x, float* to) { *reinterpret_cast<LoadedFloats*>(to) = x; }
  static void store(const Words& x, Word* to) { *reinterpret_cast<StoredWords*>(to) = x; }

  /// Splits x into terms, each in the upper half of a word. The first is rounded to nearest, with
  /// ties away from 0, so that the remainder has either sign. The second of two terms is rounded as
  /// well; the second and third of three are truncated, which leaves no remainder. `non_finite`
  /// becomes NaN where x or its first term is not finite. If `keeps_most`, the first term of finite
  /// numbers from 3.39e38 on is truncated instead of rounded, so that it stays finite.
  template <bool keeps_most>
  static void split(const Floats& x, Words (&term)[most_terms], Floats& non_finite) {
    term[0] = ((Words)x + half_ulp) & upper_half;
    if constexpr (keeps_most) {
      const auto beyond = ((term[0] & exponent) == exponent) | (((Words)x & exponent) == exponent);
      term[0] = beyond ? (Words)x & upper_half : term[0];
    }
    const Floats rest = x - (Floats)term[0];
    non_finite += rest * 0;
    if constexpr (most_terms == 2) {
      term[1] = ((Words)rest + half_ulp) & upper_half;
    } else {
      term[1] = (Words)rest & upper_half;
      // Truncated, because a subnormal remainder has lower bits.
      term[2] = (Words)(rest - (Floats)term[1]) & upper_half;
    }
  }

  /// Becomes NaN once a number is not finite. There are two chains of additions, because a single
  /// one would take as long as the rest of the work.
  struct NonFinite {
    Floats first{}, second{};

    [[nodiscard]] bool any() const {
      const Floats both = first + second;
      int any = 0;
      for (int i = 0; i < size; ++i) any |= static_cast<int>(both[i] != both[i]);
      return any != 0;
    }
  };

  /// The words of 16 pairs of numbers, for each term.
  template <bool keeps_most>
  struct Pairs {
    Words term[most_terms];

    Pairs(const Floats& first, const Floats& second, NonFinite& non_finite) {
      Words low[most_terms], high[most_terms];
      split<keeps_most>(first, low, non_finite.first);
      split<keeps_most>(second, high, non_finite.second);
      for (int i = 0; i < most_terms; ++i) term[i] = (low[i] >> 16U) | high[i];
    }
  };

  /// Finds how many terms are not 0 throughout. Three terms always count as used, since floats need
  /// them.
  struct Used {
    Words bits{};

    void add(const Words& second_terms) {
      if constexpr (most_terms == 2) bits |= second_terms;
    }
    [[nodiscard]] int terms() const {
      if constexpr (most_terms == 3) return 3;
      Word any = 0;
      for (int i = 0; i < size; ++i) any |= bits[i];
      return (any & 0x7fff7fffU) == 0 ? 1 : 2;
    }
  };

  /// Returns the number of `step`, given the word of a term that holds it.
  static float number(Word word, int step) {
    return __builtin_bit_cast(float, step % steps < size ? word << 16U : word & upper_half);
  }

  static float read(const Unit& unit, int step, int column) {
    float x = 0;
    for (int i = unit.terms - 1; i >= 0; --i) {
      x += number(unit.half[i][column / size].word[step % size][column % size], step);
    }
    return x;
  }

  /// Packs rows [count × 32 columns] with leading dimension `stride` into a unit, and zeros for the
  /// steps from `count` on. Returns whether all numbers are finite.
  static bool pack_unit(const float* rows, std::ptrdiff_t stride, int count, Unit& unit) {
    Used used;
    NonFinite non_finite;
    for (int p = 0; p < size; ++p) {
      for (int half = 0; half < 2; ++half) {
        Floats first{}, second{};
        if (p < count) load(rows + p * stride + half * size, first);
        if (p + size < count) load(rows + (p + size) * stride + half * size, second);
        const Pairs<true> pairs(first, second, non_finite);
        used.add(pairs.term[1]);
        for (int i = 0; i < most_terms; ++i) store(pairs.term[i], unit.half[i][half].word[p]);
      }
    }
    unit.terms = used.terms();
    return !non_finite.any();
  }

  /// Transposes 16 × 16 numbers. Four rounds exchange the off-diagonal quarters of squares of 16,
  /// 8, 4 and 2 numbers.
  static void transpose(Floats (&row)[size]) {
    constexpr std::make_integer_sequence<int, size> columns;
    exchange<8>(row, columns);
    exchange<4>(row, columns);
    exchange<2>(row, columns);
    exchange<1>(row, columns);
  }

  template <int half, int... column>
  static void exchange(Floats (&row)[size], std::integer_sequence<int, column...>) {
#pragma GCC unroll 16
    for (int r = 0; r < size; ++r) {
      if ((r & half) != 0) continue;
      const Floats upper = row[r], lower = row[r + half];
      row[r] = __builtin_shufflevector(upper, lower,
                                       ((column & half) != 0 ? size + column - half : column)...);
      row[r + half] = __builtin_shufflevector(
          upper, lower, ((column & half) != 0 ? size + column : column + half)...);
    }
  }
};

}  // namespace conelab
