// Products on tiles of bf16, against double: with an engine that does in plain C++ what the tile
// instructions do, so on every machine, and with the machine's own unit where it has one.
#include "core/simd/tile_products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "core/base/buffer.h"
#include "core/simd/kernels.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests::tile_unit {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

/// The tile unit as its manual describes it (Intel's Software Developer's Manual, LDTILECFG and
/// TDPBF16PS): eight tiles of 16 rows × 64 bytes; numbers below 2^-126 are 0 on their way in and
/// out.
class PlainTiles {
 public:
  /// Engines of this thread that are alive; more than one is a mistake.
  static inline thread_local int configured = 0;

  PlainTiles() { EXPECT_EQ(++configured, 1); }
  ~PlainTiles() { --configured; }
  PlainTiles(const PlainTiles&) = delete;
  PlainTiles& operator=(const PlainTiles&) = delete;

  void zero() {
    for (auto& tile : tiles_) std::memset(tile, 0, sizeof tile);
  }
  void load_left(const void* upper, const void* lower) {
    load(4, upper);
    load(5, lower);
  }
  void load_right(const void* left, const void* right) {
    load(6, left);
    load(7, right);
  }
  void multiply() {
    dot(0, 4, 6);
    dot(1, 4, 7);
    dot(2, 5, 6);
    dot(3, 5, 7);
  }
  void store(float* out, std::ptrdiff_t stride) const {
    for (int tile = 0; tile < 4; ++tile) {
      for (int row = 0; row < 16; ++row) {
        std::memcpy(out + (tile / 2 * 16 + row) * stride + tile % 2 * 16, tiles_[tile][row], 64);
      }
    }
  }

 private:
  std::uint32_t tiles_[8][16][16];

  void load(int tile, const void* from) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(from) % 64, 0U);
    std::memcpy(tiles_[tile], from, sizeof tiles_[tile]);
  }
  static float flushed(float x) { return std::abs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }
  static float half_of(std::uint32_t word, bool upper) {
    const std::uint32_t bits = upper ? word & 0xffff0000U : word << 16U;
    float x = 0;
    std::memcpy(&x, &bits, sizeof x);
    return flushed(x);
  }
  void dot(int to, int left, int right) {
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 16; ++n) {
        float sums[2] = {0, 0};
        for (int k = 0; k < 16; ++k) {
          for (int i = 0; i < 2; ++i) {
            sums[i] = flushed(std::fma(half_of(tiles_[left][m][k], i == 1),
                                       half_of(tiles_[right][k][n], i == 1), sums[i]));
          }
        }
        float c = 0;
        std::memcpy(&c, &tiles_[to][m][n], sizeof c);
        c = flushed(flushed(c) + flushed(sums[0] + sums[1]));
        std::memcpy(&tiles_[to][m][n], &c, sizeof c);
      }
    }
  }
};

/// In place of the vector kernels, whose packed panels are of no concern here.
void naive_product(int rows, int columns, int depth, LeftOperand<float> left,
                   RightOperand<float> right, float* c, std::ptrdiff_t stride, Store store) {
  EXPECT_FALSE(right.packed);
  for (int r = 0; r < rows; ++r) {
    for (int j = 0; j < columns; ++j) {
      float sum = store == Store::add ? c[r * stride + j] : 0;
      for (int k = 0; k < depth; ++k) {
        sum += left.data[r * left.row_stride + k * left.step_stride] *
               right.data[k * right.stride + j];
      }
      c[r * stride + j] = sum;
    }
  }
}

void naive_pack_panels(const float* rows, std::ptrdiff_t stride, int count, int depth, float factor,
                       float* out) {
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < depth; ++k) {
      out[(i / 32 * depth + k) * 32 + i % 32] = factor * rows[i * stride + k];
    }
  }
}

/// Kernels under test, and what their tensors hold.
struct Tested {
  Kernels<float> kernels;
  bool of_floats;
};

/// Those of the plain engine, and the machine's own.
std::vector<Tested> tile_kernels() {
  Kernels<float> vector{};
  vector.panel = 32;
  vector.product = &naive_product;
  vector.pack_panels = &naive_pack_panels;
  std::vector<Tested> all{
      {TileProducts<PlainTiles, 2>::make("plain tiles, two terms", vector), false},
      {TileProducts<PlainTiles, 3>::make("plain tiles", vector), true}};
  if (simd_targets<float>().front() == "amx") {
    all.push_back({kernels<Bfloat16>("amx"), false});
    all.push_back({kernels<float>("amx"), true});
  }
  return all;
}

enum class Numbers { bf16, f16, f32 };

float random_number(Random& random, Numbers numbers) {
  const double x = random.uniform(-1, 1) * std::exp2(random.uniform(-6, 2));
  return numbers == Numbers::bf16  ? float(Bfloat16(x))
         : numbers == Numbers::f16 ? float(Float16(x))
                                   : static_cast<float>(x);
}

struct Case {
  int rows, columns, depth;
  bool rows_contiguous;
  Store store;
  Numbers left, right;
};

/// Operands of a case; each with gaps, which must neither be read into sums nor written. Where the
/// left rows are contiguous, as in products over queries, the right operand is row-major, else
/// packed.
struct Operands {
  std::vector<float> left, right, c;
  Buffer<float> packed;
  std::ptrdiff_t left_stride, right_stride, stride;
  int columns, depth;
  bool rows_contiguous;

  Operands(const Case& t, std::uint64_t seed)
      : left_stride((t.rows_contiguous ? t.rows : t.depth) + 3),
        right_stride(t.columns + (t.rows_contiguous ? 9 : 0)),
        stride(t.columns + 7),
        columns(t.columns),
        depth(t.depth),
        rows_contiguous(t.rows_contiguous) {
    Random random(seed);
    left.assign(static_cast<std::size_t>(left_stride * (t.rows_contiguous ? t.depth : t.rows)),
                no_number);
    right.assign(static_cast<std::size_t>(right_stride * t.depth), no_number);
    c.assign(static_cast<std::size_t>(stride * t.rows), 0.5F);
    for (int r = 0; r < t.rows; ++r) {
      for (int k = 0; k < t.depth; ++k) left_at(r, k) = random_number(random, t.left);
    }
    for (int j = 0; j < t.columns; ++j) {
      for (int k = 0; k < t.depth; ++k) right_at(k, j) = random_number(random, t.right);
    }
  }
  float& left_at(int r, int k) {
    return left[static_cast<std::size_t>(rows_contiguous ? k * left_stride + r
                                                         : r * left_stride + k)];
  }
  float& right_at(int k, int j) { return right[static_cast<std::size_t>(k * right_stride + j)]; }
  [[nodiscard]] LeftOperand<float> left_operand() const {
    return {left.data(), rows_contiguous ? 1 : left_stride, rows_contiguous ? left_stride : 1};
  }
  [[nodiscard]] RightOperand<float> right_operand(const Kernels<float>& k) {
    if (rows_contiguous) return {right.data(), right_stride, false};
    const std::ptrdiff_t panel = k.packed_size(depth);
    packed.assign(static_cast<std::size_t>(columns / 32 * panel), no_number);
    (void)k.split_panels(right.data(), right_stride, depth, packed.data(), panel);
    return {packed.data(), panel, true};
  }
  float& at(int r, int j) { return c[static_cast<std::size_t>(r * stride + j)]; }
};

/// The error that terms and sums may make, relative to the sum of |a b|. Floats in three terms and
/// numbers of 16 bits lose nothing that their sums do not lose too: 2^-24 for each of some tens of
/// additions. In two terms a float is rounded to 2^-17.
double error_limit(const Tested& tested, const Case& t) {
  const bool floats = t.left == Numbers::f32 || t.right == Numbers::f32;
  return floats && !tested.of_floats ? 0x1p-15 : 0x1p-21;
}

void expect_products(const Tested& tested, const Case& t, std::uint64_t seed) {
  const Kernels<float>& k = tested.kernels;
  SCOPED_TRACE(fmt::format("{}: {} x {} x {}, rows contiguous {}, add {}, numbers {} {}", k.name,
                           t.rows, t.columns, t.depth, t.rows_contiguous, t.store == Store::add,
                           int(t.left), int(t.right)));
  Operands o(t, seed);
  k.product(t.rows, t.columns, t.depth, o.left_operand(), o.right_operand(k), o.c.data(), o.stride,
            t.store);
  for (int r = 0; r < t.rows; ++r) {
    for (int j = 0; j < t.columns; ++j) {
      double sum = t.store == Store::add ? 0.5 : 0, size = sum;
      for (int step = 0; step < t.depth; ++step) {
        const double term =
            static_cast<double>(o.left_at(r, step)) * static_cast<double>(o.right_at(step, j));
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(static_cast<double>(o.at(r, j)), sum, error_limit(tested, t) * size)
          << "row " << r << ", column " << j;
    }
    for (std::ptrdiff_t gap = t.columns; gap < o.stride; ++gap) {
      ASSERT_EQ(o.c[static_cast<std::size_t>(r * o.stride + gap)], 0.5F) << "row " << r;
    }
  }
}

TEST(TileProducts, AreTheProductsForEverySizeAndLayout) {
  const int sizes[][3] = {{1, 32, 1},    {2, 64, 31},  {15, 32, 32}, {16, 32, 33},
                          {17, 96, 2},   {31, 32, 63}, {32, 64, 64}, {33, 32, 65},
                          {64, 256, 64}, {65, 32, 97}, {12, 64, 0},  {200, 64, 48}};
  std::uint64_t seed = 0;
  for (const auto& [rows, columns, depth] : sizes) {
    for (const bool rows_contiguous : {false, true}) {
      for (const Store store : {Store::replace, Store::add}) {
        for (const Tested& k : tile_kernels()) {
          expect_products(
              k, {rows, columns, depth, rows_contiguous, store, Numbers::f32, Numbers::f32},
              ++seed);
        }
      }
    }
  }
}

TEST(TileProducts, MoreRowsAndDepthThanArePackedAtATime) {
  for (const Tested& k : tile_kernels()) {
    for (const bool rows_contiguous : {false, true}) {
      expect_products(k, {600, 32, 20, rows_contiguous, Store::add, Numbers::f32, Numbers::f32}, 1);
      expect_products(k, {70, 32, 300, rows_contiguous, Store::replace, Numbers::f32, Numbers::f32},
                      2);
      expect_products(k, {150, 64, 513, rows_contiguous, Store::add, Numbers::f32, Numbers::f32},
                      3);
      expect_products(k, {40, 320, 70, rows_contiguous, Store::add, Numbers::f32, Numbers::f32}, 4);
    }
  }
}

TEST(TileProducts, OfSixteenBitNumbersAreExactButForTheSums) {
  for (const Tested& k : tile_kernels()) {
    for (const Numbers left : {Numbers::bf16, Numbers::f16}) {
      for (const Numbers right : {Numbers::bf16, Numbers::f16}) {
        expect_products(k, {37, 64, 70, false, Store::replace, left, right}, 4);
        expect_products(k, {37, 64, 70, true, Store::add, left, right}, 5);
      }
    }
    expect_products(k, {37, 64, 70, false, Store::replace, Numbers::f32, Numbers::bf16}, 6);
    expect_products(k, {37, 64, 70, false, Store::replace, Numbers::bf16, Numbers::f32}, 7);
  }
}

/// What a row receives depends neither on the rows beside it nor on how many there are.
TEST(TileProducts, OfARowDependOnNoOtherRow) {
  for (const Tested& tested : tile_kernels()) {
    const Kernels<float>& k = tested.kernels;
    const Case t{50, 64, 40, false, Store::replace, Numbers::f16, Numbers::f32};
    Operands o(t, 8);
    o.left_at(20, 3) = no_number;
    o.left_at(21, 39) = 1.2345678F;  // The only row with more than f16 holds.
    k.product(t.rows, t.columns, t.depth, o.left_operand(), o.right_operand(k), o.c.data(),
              o.stride, t.store);
    for (int r = 0; r < t.rows; ++r) {
      std::vector<float> alone(64);
      LeftOperand<float> row = o.left_operand();
      row.data += r * row.row_stride;
      k.product(1, t.columns, t.depth, row, o.right_operand(k), alone.data(), 64, Store::replace);
      for (int j = 0; j < t.columns; ++j) {
        if (r == 20) {
          EXPECT_TRUE(std::isnan(o.at(r, j)) && std::isnan(alone[static_cast<std::size_t>(j)]));
        } else {
          EXPECT_EQ(o.at(r, j), alone[static_cast<std::size_t>(j)]) << k.name << ", row " << r;
        }
      }
    }
  }
}

/// NaN, infinities and numbers that round to infinity give what float products give; in a packed
/// panel something that is not finite, where they do.
void expect_as_floats(const Kernels<float>& k, float value, bool in_left, bool rows_contiguous,
                      Store store) {
  SCOPED_TRACE(fmt::format("{}: {} in left {}, rows contiguous {}", k.name, value, in_left,
                           rows_contiguous));
  const Case t{40, 64, 35, rows_contiguous, store, Numbers::f32, Numbers::f32};
  Operands o(t, 9);
  (in_left ? o.left_at(33, 34) : o.right_at(34, 40)) = value;
  for (int j = 0; j < 3; ++j) (in_left ? o.right_at(34, j) : o.left_at(j, 34)) = 0;
  if (in_left) o.right_at(34, 3) = 0.25F;
  Operands expected = o;
  k.product(t.rows, t.columns, t.depth, o.left_operand(), o.right_operand(k), o.c.data(), o.stride,
            store);
  naive_product(t.rows, t.columns, t.depth, o.left_operand(),
                {o.right.data(), o.right_stride, false}, expected.c.data(), o.stride, store);
  for (int r = 0; r < t.rows; ++r) {
    for (int j = 0; j < t.columns; ++j) {
      const float e = expected.at(r, j), found = o.at(r, j);
      if (!std::isfinite(e) && !in_left && !rows_contiguous) {
        EXPECT_FALSE(std::isfinite(found)) << r << ", " << j;
      } else if (std::isnan(e)) {
        EXPECT_TRUE(std::isnan(found)) << r << ", " << j;
      } else if (std::isinf(e)) {
        EXPECT_EQ(found, e) << r << ", " << j;
      } else {
        EXPECT_NEAR(found, e, 1e-3F + 1e-5F * std::abs(e)) << r << ", " << j;
      }
    }
  }
}

TEST(TileProducts, WhatIsNotFiniteIsMultipliedAsFloat) {
  const float all_ones = __builtin_bit_cast(float, 0xffffffffU);
  const float most = std::numeric_limits<float>::max();
  for (const Tested& tested : tile_kernels()) {
    for (const float value : {infinity, -infinity, no_number, all_ones, most}) {
      for (const int where : {0, 1, 2, 3}) {
        for (const Store store : {Store::replace, Store::add}) {
          expect_as_floats(tested.kernels, value, where % 2 == 0, where < 2, store);
        }
      }
    }
  }
}

/// Below 2^-126 the unit knows only 0: what is lost is that small.
TEST(TileProducts, OfTheSmallestNumbersLoseNoMore) {
  for (const Tested& tested : tile_kernels()) {
    const Kernels<float>& k = tested.kernels;
    const Case t{20, 32, 34, false, Store::add, Numbers::f32, Numbers::f32};
    Operands o(t, 10);
    for (float& x : o.left) x *= 0x1p-126F;
    for (float& x : o.c) x = 0x1p-140F;
    k.product(t.rows, t.columns, t.depth, o.left_operand(), o.right_operand(k), o.c.data(),
              o.stride, t.store);
    for (int r = 0; r < t.rows; ++r) {
      for (int j = 0; j < t.columns; ++j) {
        double sum = 0x1p-140;
        for (int step = 0; step < t.depth; ++step) {
          sum += static_cast<double>(o.left_at(r, step)) * static_cast<double>(o.right_at(step, j));
        }
        ASSERT_NEAR(static_cast<double>(o.at(r, j)), sum, 34 * 4 * 4 * 0x1p-126)
            << k.name << " " << r << " " << j;
      }
    }
  }
}

TEST(TileProducts, BecomeSquaredDistancesAndTheLeastOfThem) {
  for (const Tested& tested : tile_kernels()) {
    const Kernels<float>& k = tested.kernels;
    for (const auto& [rows, columns, depth] : {std::array{1, 32, 3}, {33, 96, 40}, {64, 256, 64}}) {
      const Case t{rows, columns, depth, false, Store::replace, Numbers::f32, Numbers::f32};
      Operands o(t, 11);
      for (int step = 0; step < depth; ++step) o.right_at(step, 5) = -2 * o.left_at(0, step);
      std::vector<float> query_norm, key_norm, least(static_cast<std::size_t>(rows));
      const auto norm = [&](auto number) {
        double sum = 0;
        for (int step = 0; step < depth; ++step) sum += std::pow(number(step), 2.0);
        return static_cast<float>(sum);
      };
      for (int r = 0; r < rows; ++r) {
        query_norm.push_back(norm([&](int step) { return double(o.left_at(r, step)); }));
      }
      for (int j = 0; j < columns; ++j) {
        key_norm.push_back(norm([&](int step) { return double(o.right_at(step, j)) / 2; }));
      }
      k.squared_distance(rows, columns, depth, o.left_operand(), o.right_operand(k),
                         query_norm.data(), key_norm.data(), o.c.data(), o.stride, least.data());
      for (int r = 0; r < rows; ++r) {
        float expected = std::numeric_limits<float>::max();
        const float q = query_norm[static_cast<std::size_t>(r)];
        for (int j = 0; j < columns; ++j) {
          double exact = 0;
          for (int step = 0; step < depth; ++step) {
            exact += std::pow(double(o.left_at(r, step)) + double(o.right_at(step, j)) / 2, 2.0);
          }
          const float kn = key_norm[static_cast<std::size_t>(j)];
          ASSERT_NEAR(double(o.at(r, j)), exact, 0x1p-15 * double(q + kn)) << k.name;
          expected = std::min(expected, o.at(r, j));
        }
        EXPECT_EQ(least[static_cast<std::size_t>(r)], expected) << k.name;
      }
      EXPECT_LT(least[0], 1e-3F * query_norm[0]) << "the twin of query 0 is close";
    }
  }
}

/// Each thread has a unit of its own, whatever the others do with theirs meanwhile.
TEST(TileProducts, OnThreadsAtOnceAreThoseOfOne) {
  for (const Tested& tested : tile_kernels()) {
    const Kernels<float>& k = tested.kernels;
    const Case t{64, 64, 64, false, Store::replace, Numbers::f32, Numbers::f32};
    constexpr int threads = 3, repetitions = 30;
    std::vector<int> differing(threads, 0);
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        Operands o(t, static_cast<std::uint64_t>(20 + i));
        std::vector<float> first;
        for (int repetition = 0; repetition < repetitions; ++repetition) {
          k.product(t.rows, t.columns, t.depth, o.left_operand(), o.right_operand(k), o.c.data(),
                    o.stride, t.store);
          if (repetition == 0) first = o.c;
          differing[static_cast<std::size_t>(i)] += static_cast<int>(o.c != first);
        }
      });
    }
    for (std::thread& thread : running) thread.join();
    EXPECT_EQ(differing, std::vector<int>(threads, 0)) << k.name;
  }
}

TEST(TileProducts, ServeAllTensorsButDoubles) {
  const auto has = [](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), "amx") != names.end();
  };
  EXPECT_FALSE(has(simd_targets<double>()));
  EXPECT_ANY_THROW((void)kernels<double>("amx"));
  EXPECT_EQ(has(simd_targets<Float16>()), has(simd_targets<Bfloat16>()));
  EXPECT_EQ(has(simd_targets<Float16>()), has(simd_targets<float>()));
  EXPECT_EQ(kernels<float>().name, simd_targets<float>().front());
  EXPECT_EQ(kernels<Bfloat16>().name, simd_targets<Bfloat16>().front());
  // Of one query and in double the best are those of vectors.
  EXPECT_EQ(kernels<float>({}, 1).name, simd_targets<double>().front());
  EXPECT_EQ(kernels<Bfloat16>({}, 1).name, simd_targets<double>().front());
  EXPECT_EQ(has(simd_targets<float>()), simd_summary().find("amx") != std::string::npos);
  if (!has(simd_targets<float>())) {
    EXPECT_ANY_THROW((void)kernels<float>("amx"));
    EXPECT_ANY_THROW((void)kernels<Bfloat16>("amx"));
    GTEST_SKIP() << "no tile unit here: only the plain engine was run";
  }
}

}  // namespace
}  // namespace conelab::tests::tile_unit
