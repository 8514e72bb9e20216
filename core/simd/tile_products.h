// Matrix products on a unit that multiplies tiles of bf16 numbers (AMX). Numbers are sums of terms:
//
//   x = sum of bf16 terms t_0 + t_1 + ...      a b = sum of a_i b_j,  i + j <= 2,  summed in float
//
// Three terms represent a float exactly, and what the six products leave out is below 2^-23 |a b|,
// of either sign. That is as accurate as multiply-adds of floats, each of which rounds. Two terms
// represent f16 and bf16 numbers exactly and round computed numbers (weights, derivatives, mapped
// and centred tokens) to 2^-17, which suffices for results that are rounded to 11 or 8 bits. If the
// second of two terms is 0 throughout a tile, as for plain bf16 tensors, its products are skipped.
// That changes no bit.
//
// Operands that many products share are split into terms when they are packed. Left operands, and
// right operands of few rows, are split when they are multiplied.
//
// The unit treats inputs below 2^-126 as 0 and flushes such results to 0. A low term is thus lost
// where |x| < 2^-109, and products have an additional error of up to 2^-126 times the larger
// factor. If a left operand or an unpacked right operand contains NaN or infinity, multiply-adds of
// floats compute its products instead. A packed panel that contains one gives results that are not
// finite. A row of the result depends on no other row of the left operand.
//
// An `Engine` is a thread's tile unit. Its constructor acquires the unit and its destructor
// releases it. It has an accumulator of 32 × 32 floats. Tiles are those of tile_terms.h.
//   zero()               accumulator = 0
//   load_left(l0, l1)    the left operand is [l0; l1], two tiles of 16 rows × 32 steps
//   load_right(r0, r1)   the right operand is [r0 r1], two tiles of 32 steps × 16 columns
//   multiply()           accumulator += [l0; l1] [r0 r1]
//   store(out, stride)   writes the accumulator to out [32 × stride], row-major
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/simd/kernels.h"
#include "core/simd/tile_terms.h"

namespace conelab {

template <class Engine, int most_terms>
class TileProducts : private TileTerms<Engine, most_terms> {
  using Terms = TileTerms<Engine, most_terms>;
  using Terms::pack_unit, Terms::transpose;
  using Terms::size, Terms::steps, Terms::block, Terms::load, Terms::put, Terms::read;
  using typename Terms::Floats, typename Terms::Word, typename Terms::Tile, typename Terms::Unit;
  using typename Terms::NonFinite, typename Terms::Used;

 public:
  /// Returns `vector` with its products and packed panels replaced. Panels have 32 columns. There
  /// is one table for each engine and number of terms.
  static Kernels<float> make(const char* name, const Kernels<float>& vector) {
    vector_ = vector;
    Kernels<float> k = vector;
    k.name = name;
    k.packed_steps = steps;
    k.packed_numbers = sizeof(Unit) / sizeof(float);
    k.forward_rows = k.backward_rows = group_rows;
    k.product = &product;
    k.squared_distance = &squared_distance;
    k.pack_panels = &pack_panels;
    k.split_panels = &split_panels;
    k.peak = &peak;
    k.peak_flops = 2 * block * block * steps;
    return k;
  }

 private:
  /// Queries that the drivers handle at a time.
  static constexpr int group_rows = 64;
  static_assert(group_rows <= most_forward_rows);
  /// Number of tiles along the depth that are packed at a time. The products of their terms are
  /// summed in the accumulator before they are added to the result, since storing the accumulator
  /// is what the unit waits for most.
  static constexpr int most_deep = 8;
  static constexpr int most_tiles = 2 * most_deep;
  /// Units of a row-major right operand that are packed at a time.
  static constexpr int most_units = 8;

  /// A part of a product: at most 32 rows and most_deep tiles along the depth of the left operand.
  struct Part {
    int row, step, rows, depth;
    LeftOperand<float> left;

    [[nodiscard]] int deep() const { return (depth + steps - 1) / steps; }
    [[nodiscard]] const float* at(int r, int s) const {
      return left.data + (row + r) * left.row_stride + (step + s) * left.step_stride;
    }
  };

  static inline Kernels<float> vector_{};

  // Packing ------------------------------------------------------------------------------------

  static Unit* units(float* panel) { return reinterpret_cast<Unit*>(panel); }
  static const Unit* units(const float* panel) { return reinterpret_cast<const Unit*>(panel); }

  static void pack_panels(const float* rows, std::ptrdiff_t stride, int count, int depth,
                          float factor, float* out) {
    float turned[steps * block];
    for (int first = 0; first < count; first += block) {
      for (int step = 0; step < depth; step += steps) {
        const int deep = depth - step < steps ? depth - step : steps;
        vector_.pack_panels(rows + first * stride + step, stride, block, deep, factor, turned);
        (void)pack_unit(turned, block, deep, *units(out));
        out += sizeof(Unit) / sizeof(float);
      }
    }
  }

  static bool split_panels(const float* rows, std::ptrdiff_t stride, int count, float* out,
                           std::ptrdiff_t panel_stride) {
    bool finite = true;
    for (std::ptrdiff_t first = 0; first < stride; first += block, out += panel_stride) {
      Unit* unit = units(out);
      for (int step = 0; step < count; step += steps) {
        finite &= pack_unit(rows + step * stride + first, stride, count - step, *unit++);
      }
    }
    return finite;
  }

  /// Loads the numbers of steps [step, step + 16) of the rows [first, first + 16), one vector for
  /// each row. Numbers outside the part are 0.
  static void load_square(const Part& p, int first, int step, Floats (&row)[size]) {
    const bool turned = p.left.step_stride != 1;
    const std::ptrdiff_t stride = turned ? p.left.step_stride : p.left.row_stride;
    const float* corner = p.at(first, step);
    const int down = turned ? p.depth - step : p.rows - first;
    const int across = turned ? p.rows - first : p.depth - step;
    if (across >= size && down >= size) {
#pragma GCC unroll 16
      for (int i = 0; i < size; ++i) load(corner + i * stride, row[i]);
    } else {
      for (int i = 0; i < size; ++i) {
        row[i] = Floats{};
        if (i >= down) continue;
        for (int n = 0; n < size && n < across; ++n) row[i][n] = corner[i * stride + n];
      }
    }
    if (turned) transpose(row);
  }

  /// A left tile that is being packed from rows of 32 numbers.
  struct LeftTile {
    const float* from;
    std::ptrdiff_t stride;
    Word* to;
    Used used;
    NonFinite non_finite;

    template <int rows>
    [[gnu::always_inline]] void pack() {
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r, from += stride, to += size) {
        Floats even, odd;
        load(from, even);
        load(from + size, odd);
        const typename Terms::template Pairs<false> pairs(even, odd, non_finite);
        used.add(pairs.term[1]);
        for (int i = 0; i < most_terms; ++i) {
          Terms::store(pairs.term[i], to + i * most_tiles * size * size);
        }
      }
    }
  };

  /// The left operand of a part, split tile by tile. Tile k of the upper (lower = 0) or lower
  /// (lower = 1) 16 rows of each term is at [lower * deep + k].
  class Left {
   public:
    void begin(const Part& p) {
      part_ = p;
      deep_ = p.deep();
      packed_ = 0;
      used_ = Used();
      non_finite_ = NonFinite();
    }
    [[nodiscard]] bool is_packed() const { return packed_ == 2 * deep_; }
    [[nodiscard]] LeftTile open_tile() {
      Word* to = term_[0][packed_].word[0];
      const int first = packed_ / deep_ * size, step = packed_ % deep_ * steps;
      const bool whole = first + size <= part_.rows && step + steps <= part_.depth;
      if (part_.left.step_stride == 1 && whole) {
        return {part_.at(first, step), part_.left.row_stride, to, used_, non_finite_};
      }
      turn(first, step);
      return {turned_[0], steps, to, used_, non_finite_};
    }
    void close_tile(const LeftTile& tile) {
      used_ = tile.used;
      non_finite_ = tile.non_finite;
      ++packed_;
    }
    void finish() {
      while (!is_packed()) {
        LeftTile tile = open_tile();
        tile.template pack<size>();
        close_tile(tile);
      }
      terms_ = used_.terms();
      has_non_finite_ = non_finite_.any();
    }

    [[nodiscard]] const Part& part() const { return part_; }
    [[nodiscard]] int terms() const { return terms_; }
    [[nodiscard]] const Tile* upper(int term, int k) const { return &term_[term][k]; }
    [[nodiscard]] const Tile* lower(int term, int k) const { return &term_[term][deep_ + k]; }
    /// Return whether any row, and whether this row, contains a number that is not finite.
    [[nodiscard]] bool has_non_finite() const { return has_non_finite_; }
    [[nodiscard]] bool is_non_finite(int row) const {
      for (int s = 0; s < part_.depth; ++s) {
        if (rounds_to_non_finite(*part_.at(row, s))) return true;
      }
      return false;
    }

   private:
    Tile term_[most_terms][most_tiles];
    alignas(64) float turned_[size][steps];
    Part part_;
    int deep_, packed_, terms_;
    Used used_;
    NonFinite non_finite_;
    bool has_non_finite_;

    /// Copies the numbers of a tile whose rows are not contiguous or not complete.
    [[gnu::noinline]] void turn(int first, int step) {
      for (int half = 0; half < steps; half += size) {
        Floats row[size];
        load_square(part_, first, step + half, row);
#pragma GCC unroll 16
        for (int r = 0; r < size; ++r) put(row[r], turned_[r] + half);
      }
    }
  };

  static bool rounds_to_non_finite(float x) {
    constexpr Word exponent = Terms::exponent;
    return ((__builtin_bit_cast(Word, x) + Terms::half_ulp) & exponent) == exponent || x != x;
  }

  // Products -----------------------------------------------------------------------------------

  /// Says where products go: into a tile.
  struct IntoTile {
    float* c;
    std::ptrdiff_t stride;
    Store mode;

    /// Says whether the unit may store a product directly if it is not added to anything.
    static constexpr bool as_is = true;
    [[nodiscard]] bool replaces() const { return mode == Store::replace; }
    [[nodiscard]] float* at(int row, int column) const { return c + row * stride + column; }
    void load_keys(int, Floats&, Floats&) const {}
    void finish(int, const Floats&, const Floats&, Floats&, Floats&) const {}
  };

  /// Says where products go: into a tile, as squared distances.
  struct IntoDistances {
    float* c;
    std::ptrdiff_t stride;
    const float* query_norm;
    const float* key_norm;
    Floats* least;  ///< [rows] The smallest distance so far, in each lane.

    static constexpr bool as_is = false;
    [[nodiscard]] static bool replaces() { return true; }
    [[nodiscard]] float* at(int row, int column) const { return c + row * stride + column; }
    void load_keys(int column, Floats& key0, Floats& key1) const {
      load(key_norm + column, key0);
      load(key_norm + column + size, key1);
    }
    /// A distance that is NaN does not change the smallest one.
    void finish(int row, const Floats& key0, const Floats& key1, Floats& x0, Floats& x1) const {
      x0 = query_norm[row] + key0 + x0;
      x1 = query_norm[row] + key1 + x1;
      Floats smallest = least[row];
      smallest = x0 < smallest ? x0 : smallest;
      least[row] = x1 < smallest ? x1 : smallest;
    }
  };

  /// A product. Rows and depth are divided into parts, and the columns of each part into blocks,
  /// which the tile unit multiplies one after the other. The vector units work at the same time:
  ///
  ///   tile unit      multiplies block 0    multiplies block 1    multiplies block 2 ...
  ///   vector units   split left tiles of   split left tiles of   split left tiles of
  ///                  the next part         the next part;        the next part;
  ///                                        write block 0         write block 1
  ///
  /// `now_` holds the left tiles of this part and `next_` those of the next one; `waiting_` is the
  /// block whose sums are to be written. multiply_terms issues a few vector instructions after each
  /// instruction of the unit.
  template <class Into>
  class Product {
   public:
    /// `stride` is the number of units from one panel to the next.
    Product(int rows, int depth, const LeftOperand<float>& left, const Unit* panels,
            std::ptrdiff_t stride, int columns, const Into& into)
        : rows_(rows),
          depth_(depth),
          columns_(columns),
          operand_(left),
          panels_(panels),
          panel_stride_(stride),
          into_(into) {}

    void run() {
      left_[0].begin(part_from(0, 0));
      bool more = true;
      for (int turn = 0; more; turn ^= 1) {
        now_ = &left_[turn];
        next_ = &left_[turn ^ 1];
        now_->finish();
        more = begin_next();
        const Part& p = now_->part();
        const Unit* panel = panels_ + p.step / steps;
        for (int column = 0; column < columns_; column += block, panel += panel_stride_) {
          multiply_block(panel, column);
        }
      }
      while (waiting_.row < waiting_.rows) write_some();
    }

   private:
    /// A block of sums that has not been written yet.
    struct Waiting {
      int row = 0, rows = 0;              ///< The next row to write, and the rows, of the block.
      int first = 0, column = 0;          ///< Row and column of the block's corner in the result.
      bool begins = false, ends = false;  ///< Whether its part is the depth's first, or last.
    };

    int rows_, depth_, columns_;
    LeftOperand<float> operand_;
    const Unit* panels_;
    std::ptrdiff_t panel_stride_;
    Into into_;
    Engine engine_;
    Left left_[2];
    Left *now_, *next_;
    alignas(64) float sums_[2][block * block];
    int filled_ = 0;
    Waiting waiting_;

    [[nodiscard]] Part part_from(int row, int step) const {
      const int rows = rows_ - row, depth = depth_ - step;
      return {row, step, rows < block ? rows : block,
              depth < most_deep * steps ? depth : most_deep * steps, operand_};
    }

    /// Opens the part after this one. Returns false if there is none.
    bool begin_next() {
      const Part& p = now_->part();
      const bool further = p.step + p.depth < depth_;
      const int row = further ? p.row : p.row + p.rows;
      if (row >= rows_) {
        next_->begin({0, 0, 0, 0, operand_});
        return false;
      }
      next_->begin(part_from(row, further ? p.step + p.depth : 0));
      return true;
    }

    void multiply_block(const Unit* panel, int column) {
      const Part& p = now_->part();
      engine_.zero();
      for (int k = 0; k < p.deep(); ++k) multiply_unit(k, panel[k]);
      while (waiting_.row < waiting_.rows) write_some();
      const bool ends = p.step + p.depth == depth_;
      const bool non_finite = now_->has_non_finite();
      if (Into::as_is && into_.replaces() && p.step == 0 && ends && p.rows == block &&
          !non_finite) {
        engine_.store(into_.at(p.row, column), into_.stride);
        return;
      }
      filled_ ^= 1;
      engine_.store(sums_[filled_], block);
      for (int r = 0; non_finite && r < p.rows; ++r) {
        if (now_->is_non_finite(r)) multiply_in_float(p, r, panel, sums_[filled_] + r * block);
      }
      waiting_ = {0, p.rows, p.row, column, into_.replaces() && p.step == 0, ends};
    }

    /// Adds the product of the part's rows and a unit to the accumulator. After each product of two
    /// terms some vector work is done, as much as the unit's latency hides.
    void multiply_unit(int k, const Unit& right) {
      if (next_->is_packed()) {
        LeftTile none{};
        return multiply_terms<false>(k, right, none);
      }
      LeftTile tile = next_->open_tile();
      multiply_terms<true>(k, right, tile);
      next_->close_tile(tile);
    }

    template <bool packs>
    void multiply_terms(int k, const Unit& right, LeftTile& tile) {
      const auto multiply = [&](auto rows) __attribute__((always_inline)) {
        engine_.multiply();
        if constexpr (packs) tile.template pack<rows>();
        if (waiting_.row < waiting_.rows) write_some();
      };
      const auto load_left = [&](int i) {
        engine_.load_left(now_->upper(i, k), now_->lower(i, k));
      };
      const auto load_right = [&](int i) {
        engine_.load_right(&right.half[i][0], &right.half[i][1]);
      };
      constexpr std::integral_constant<int, 3> some;
      if constexpr (most_terms == 3) {  // This order of all six products loads the fewest tiles.
        load_left(0);
        load_right(2);
        multiply(some);
        load_right(1);
        multiply(some);
        load_right(0);
        multiply(some);
        load_left(1);
        multiply(some);
        load_right(1);
        multiply(some);
        load_left(2);
        load_right(0);
        multiply(std::integral_constant<int, size - 5 * some>());
      } else {
        constexpr std::integral_constant<int, size> all;
        constexpr std::integral_constant<int, 0> none;
        load_left(0);
        load_right(0);
        multiply(all);
        if (right.terms > 1) {
          load_right(1);
          multiply(none);
        }
        if (now_->terms() == 1) return;
        load_left(1);
        multiply(none);
        if (right.terms > 1) {
          load_right(0);
          multiply(none);
        }
      }
    }

    /// Writes some of the rows that have not been written.
    [[gnu::always_inline]] void write_some() {
      constexpr int some = 4;
      if (waiting_.row + some <= waiting_.rows) return write_rows<some>();
      while (waiting_.row < waiting_.rows) write_rows<1>();
    }
    template <int count>
    [[gnu::always_inline]] void write_rows() {
      const Into into = into_;  // Copied to registers: no store below can change them.
      const Waiting w = waiting_;
      const float* sums = sums_[filled_] + w.row * block;
      float* to = into.at(w.first + w.row, w.column);
      Floats key0{}, key1{};
      if (w.ends) into.load_keys(w.column, key0, key1);
#pragma GCC unroll 4
      for (int r = 0; r < count; ++r, sums += block, to += into.stride) {
        Floats x0, x1;
        load(sums, x0);
        load(sums + size, x1);
        if (!w.begins) {
          Floats before0, before1;
          load(to, before0);
          load(to + size, before1);
          x0 += before0;
          x1 += before1;
        }
        if (w.ends) into.finish(w.first + w.row + r, key0, key1, x0, x1);
        put(x0, to);
        put(x1, to + size);
      }
      waiting_.row = w.row + count;
    }

    /// Computes the product of a row and a panel with multiply-adds of floats.
    static void multiply_in_float(const Part& p, int row, const Unit* panel, float* sums) {
      for (int c = 0; c < block; ++c) sums[c] = 0;
      for (int step = 0; step < p.depth; ++step) {
        const float x = *p.at(row, step);
        for (int c = 0; c < block; ++c) sums[c] += x * read(panel[step / steps], step, c);
      }
    }
  };

  static std::ptrdiff_t units_of(std::ptrdiff_t numbers) {
    return numbers / static_cast<std::ptrdiff_t>(sizeof(Unit) / sizeof(float));
  }

  static void product(int rows, int columns, int depth, LeftOperand<float> left,
                      RightOperand<float> right, float* c, std::ptrdiff_t stride, Store store) {
    const IntoTile into{c, stride, store};
    if (right.packed) {
      return Product<IntoTile>(rows, depth, left, units(right.data), units_of(right.stride),
                               columns, into)
          .run();
    }
    multiply_rows(rows, columns, depth, left, right, into);
  }

  /// Multiplies by a row-major right operand, of which some units are packed at a time.
  static void multiply_rows(int rows, int columns, int depth, LeftOperand<float> left,
                            RightOperand<float> right, IntoTile into) {
    Unit packed[most_units];
    do {
      const int part = depth < most_units * steps ? depth : most_units * steps;
      const int deep = part == 0 ? 1 : (part + steps - 1) / steps;
      const int wide = most_units / deep * block;
      for (int first = 0; first < columns; first += wide) {
        const int here = columns - first < wide ? columns - first : wide;
        bool finite = true;
        Unit* unit = packed;
        for (int column = first; column < first + here; column += block) {
          for (int step = 0; step < part; step += steps) {
            finite &= pack_unit(right.data + step * right.stride + column, right.stride,
                                part - step, *unit++);
          }
        }
        const IntoTile there{into.at(0, first), into.stride, into.mode};
        if (finite) {
          Product<IntoTile>(rows, part, left, packed, deep, here, there).run();
        } else {
          vector_.product(rows, here, part, left, {right.data + first, right.stride, false},
                          there.c, there.stride, there.mode);
        }
      }
      left.data += part * left.step_stride;
      right.data += part * right.stride;
      into.mode = Store::add;
      depth -= part;
    } while (depth > 0);
  }

  static void squared_distance(int rows, int columns, int depth, LeftOperand<float> left,
                               RightOperand<float> right, const float* query_norm,
                               const float* key_norm, float* c, std::ptrdiff_t stride,
                               float* least) {
    constexpr int most = group_rows;
    for (int first = 0; first < rows; first += most) {
      const int part = rows - first < most ? rows - first : most;
      Floats smallest[most];
      for (int r = 0; r < part; ++r) smallest[r] = Floats{} + std::numeric_limits<float>::max();
      const IntoDistances into{c + first * stride, stride, query_norm + first, key_norm, smallest};
      LeftOperand<float> queries = left;
      queries.data += first * left.row_stride;
      Product<IntoDistances>(part, depth, queries, units(right.data), units_of(right.stride),
                             columns, into)
          .run();
      for (int r = 0; r < part; ++r) {
        float all = smallest[r][0];
        for (int i = 1; i < size; ++i) all = smallest[r][i] < all ? smallest[r][i] : all;
        least[first + r] = all;
      }
    }
  }

  /// A product of floats takes six of the unit's products; one of plain bf16 numbers takes one.
  static float peak(long rounds) {
    Tile tile;
    alignas(64) float sums[block * block];
    for (auto& row : tile.word) {
      for (Word& w : row) w = 0x3a803a80U;  // 2^-10, twice
    }
    Engine engine;
    engine.zero();
    engine.load_left(&tile, &tile);
    engine.load_right(&tile, &tile);
    constexpr int products = most_terms == 3 ? 6 : 1;
    for (long i = 0; i < rounds * products; ++i) engine.multiply();
    engine.store(sums, block);
    return sums[0];
  }
};

}  // namespace conelab
