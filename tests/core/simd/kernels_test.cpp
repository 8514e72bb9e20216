// What the kernels compute in registers, on every target that this machine runs.
#include "core/simd/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/random.h"
#include "core/similarity/table.h"

namespace conelab::inner_loops {
namespace {

constexpr int columns = 192;  // A multiple of every target's.

/// Distances at height 1, beta 1, of squared Euclidean distances.
template <class T>
std::vector<T> distances(const Kernels<T>& k, const std::vector<T>& measures) {
  const SimilarityRow* row = find_similarity("hyperbolic", {"halfspace"});
  const auto index = static_cast<std::size_t>(row - similarity_table().data());
  std::vector<T> tile = measures, result;
  const T query[2] = {1, 1}, constants[2] = {1, 0};
  const std::vector<T> keys(2 * columns, T(1));
  for (std::size_t first = 0; first < tile.size(); first += columns) {
    k.similarities[index].score({tile.data() + first, columns, 1, columns, query, 1, keys.data(),
                                 columns, constants, nullptr, 0, nullptr, nullptr});
  }
  for (const T logit : tile) result.push_back(-logit);
  return result;
}

/// From d_H = 1e-15 to where the product z (1 + z) leaves the range of a float.
template <class T>
void expect_distances(T tolerance) {
  std::vector<T> measures;
  for (int i = 0; i < 40 * columns; ++i) {
    measures.push_back(static_cast<T>(std::pow(10.0, -30 + 49.0 * i / (40 * columns))));
  }
  for (const std::string& target : simd_targets<T>()) {
    const std::vector<T> found = distances(kernels<T>(target), measures);
    for (std::size_t i = 0; i < measures.size(); ++i) {
      const double z = static_cast<double>(measures[i]) / 4;
      const double exact = 2 * std::asinh(std::sqrt(z));
      ASSERT_NEAR(static_cast<double>(found[i]), exact, static_cast<double>(tolerance) * exact)
          << target << " at " << measures[i];
    }
  }
}

TEST(Kernels, DistancesKeepTheirDigitsFromTwinsToTheFarEnd) {
  expect_distances<float>(4e-7F);
  expect_distances<double>(1e-15);
}

TEST(Kernels, DistancesOfNothingAndOfNoNumber) {
  for (const std::string& target : simd_targets()) {
    std::vector<float> measures(columns, 0.0F);
    measures[1] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> found = distances(kernels<float>(target), measures);
    EXPECT_EQ(found[0], 0.0F) << target;
    EXPECT_TRUE(std::isnan(found[1])) << target;
    EXPECT_EQ(found[2], 0.0F) << target;
  }
}

/// Calls f(kernels) for the targets of both types.
template <class F>
void for_all_kernels(const F& f) {
  for (const std::string& target : simd_targets<float>()) f(kernels<float>(target));
  for (const std::string& target : simd_targets<double>()) f(kernels<double>(target));
}

template <class T>
std::vector<T> random_numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> numbers(count);
  for (T& x : numbers) x = static_cast<T>(random.normal());
  return numbers;
}

/// Rows 1 to 26 are whole blocks of every target and all that may be left of one; so are panels 1
/// to 3.
template <class T>
void expect_products(const Kernels<T>& k, int panels, bool left_by_rows, bool packed) {
  constexpr int depth = 37;
  const int width = panels * k.panel;
  const std::vector<T> left = random_numbers<T>(26 * depth, 1);
  const std::vector<T> rows = random_numbers<T>(static_cast<std::size_t>(depth * width), 2);
  Buffer<T> panels_of(static_cast<std::size_t>(panels * k.packed_size(depth)));
  if (packed) {
    ASSERT_TRUE(k.split_panels(rows.data(), width, depth, panels_of.data(), k.packed_size(depth)));
  }
  const RightOperand<T> operand =
      packed ? RightOperand<T>{panels_of.data(), k.packed_size(depth), true}
             : RightOperand<T>{rows.data(), width, false};
  for (int count = 1; count <= 26; ++count) {
    std::vector<T> tile(static_cast<std::size_t>(count * width), T(1));
    k.product(count, width, depth, {left.data(), left_by_rows ? depth : 1, left_by_rows ? 1 : 26},
              operand, tile.data(), width, Store::add);
    for (int r = 0; r < count; ++r) {
      for (int c = 0; c < width; ++c) {
        double exact = 1;
        for (int i = 0; i < depth; ++i) {
          const T a = left[static_cast<std::size_t>(left_by_rows ? r * depth + i : i * 26 + r)];
          exact += static_cast<double>(a) *
                   static_cast<double>(rows[static_cast<std::size_t>(i * width + c)]);
        }
        ASSERT_NEAR(static_cast<double>(tile[static_cast<std::size_t>(r * width + c)]), exact,
                    sizeof(T) == 4 ? 2e-5 : 1e-13)
            << k.name << ": " << count << " rows, " << panels << " panels, by rows " << left_by_rows
            << ", packed " << packed << ", at " << r << " " << c;
      }
    }
  }
}

TEST(Kernels, ProductsOfAnyNumberOfRowsAndPanelsAndBothLayouts) {
  for_all_kernels([](const auto& k) {
    for (const int panels : {1, 2, 3}) {
      for (const int layout : {0, 1, 2, 3}) expect_products(k, panels, layout < 2, layout % 2 == 0);
    }
  });
}

/// Of points on a line. Point r of the queries is r, point c of the keys c + shift.
template <class T>
void expect_squared_distances(const Kernels<T>& k, int rows, int panels, T shift) {
  const int width = panels * k.panel;
  std::vector<T> left, query_norm, right, key_norm;
  for (int r = 0; r < rows; ++r) {
    left.push_back(static_cast<T>(r));
    query_norm.push_back(static_cast<T>(r * r));
  }
  for (int c = 0; c < width; ++c) {
    const T key = static_cast<T>(c) + shift;
    right.push_back(-2 * key);
    key_norm.push_back(key * key);
  }
  std::vector<T> tile(static_cast<std::size_t>(rows * width)),
      least(static_cast<std::size_t>(rows));
  Buffer<T> packed(static_cast<std::size_t>(panels * k.packed_size(1)));
  k.pack_panels(right.data(), 1, width, 1, T(1), packed.data());
  k.squared_distance(rows, width, 1, {left.data(), 1, 1}, {packed.data(), k.packed_size(1), true},
                     query_norm.data(), key_norm.data(), tile.data(), width, least.data());
  for (int r = 0; r < rows; ++r) {
    T expected = std::numeric_limits<T>::max();
    for (int c = 0; c < width; ++c) {
      const T apart = static_cast<T>(c) + shift - static_cast<T>(r);
      ASSERT_EQ(tile[static_cast<std::size_t>(r * width + c)], apart * apart)
          << k.name << " at " << r << " " << c;
      expected = std::min(expected, apart * apart);
    }
    ASSERT_EQ(least[static_cast<std::size_t>(r)], expected) << k.name << " row " << r;
  }
}

TEST(Kernels, SquaredDistancesAndTheLeastOfEachRow) {
  for_all_kernels([]<class T>(const Kernels<T>& k) {
    for (const int panels : {1, 2, 3}) {
      for (const int rows : {1, 5, 6, 12, 17, 48, 101}) {
        expect_squared_distances<T>(k, rows, panels, sizeof(T) == 4 ? 3 : 20);
      }
    }
  });
}

template <class T>
void expect_scaled(const Kernels<T>& k) {
  for (const int size : {0, 1, 3, 16, 31, 64, 67}) {
    const std::vector<T> x = random_numbers<T>(67, 3);
    const std::vector<double> centre(67, 0.125);
    std::vector<T> row(67, T(9));
    const double norm = k.store_scaled(x.data(), 1.5, centre.data(), size, row.data());
    double expected = 0;
    for (int i = 0; i < 67; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double scaled = std::fma(static_cast<double>(x[at]), 1.5, -0.125);
      if (i < size) {
        ASSERT_NEAR(row[at], scaled, std::numeric_limits<T>::epsilon()) << k.name << " " << i;
        expected += static_cast<double>(row[at]) * static_cast<double>(row[at]);
      } else {
        ASSERT_EQ(row[at], T(9)) << k.name << " " << i;
      }
    }
    EXPECT_NEAR(norm, expected, 1e-13) << k.name << " " << size;
  }
}

/// Without a centre, numbers are rounded once whatever the factor, and their squares lose no
/// digits.
template <class T>
void expect_scaled_about_the_origin(const Kernels<T>& k) {
  const std::vector<T> x = random_numbers<T>(67, 4);
  for (const double factor : {1.0, -2.0, std::exp(1.7), 0.3 * 1e-35, 1 / 3e31}) {
    for (const int size : {1, 15, 16, 31, 67}) {
      std::vector<T> row(68, T(9));
      const double norm = k.store_scaled(x.data(), factor, nullptr, size, row.data());
      double expected = 0;
      for (int i = 0; i < size; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double scaled = static_cast<double>(x[at]) * factor;
        const double half = std::numeric_limits<T>::epsilon() / 2 * std::abs(scaled);
        const double least = std::numeric_limits<T>::denorm_min();
        ASSERT_NEAR(row[at], scaled, 1.0001 * half + least) << k.name << " " << factor << " " << i;
        expected += static_cast<double>(row[at]) * static_cast<double>(row[at]);
      }
      ASSERT_NEAR(norm, expected, 4 * std::numeric_limits<T>::epsilon() * expected)
          << k.name << " " << factor << " " << size;
      ASSERT_EQ(row[static_cast<std::size_t>(size)], T(9)) << k.name << " " << size;
    }
  }
}

template <class T>
void expect_overflow_kept(const Kernels<T>& k) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const std::vector<double> centre(67, 0.0);
  std::vector<T> row(67);
  for (const int size : {1, 31, 67}) {
    for (const T large : {infinity, -infinity, std::numeric_limits<T>::max()}) {
      std::vector<T> x(67, T(1));
      x[static_cast<std::size_t>(size / 2)] = large;
      const double norm = k.store_scaled(x.data(), 2, centre.data(), size, row.data());
      EXPECT_TRUE(std::isinf(norm)) << k.name << " " << size << " " << large;
      EXPECT_TRUE(std::isinf(row[static_cast<std::size_t>(size / 2)])) << k.name << " " << large;
    }
  }
}

TEST(Kernels, PlaceTokensOfAnySize) {
  for_all_kernels([](const auto& k) {
    expect_scaled(k);
    expect_scaled_about_the_origin(k);
    expect_overflow_kept(k);
  });
}

/// Numbers, and room behind them that must not be written.
template <class T>
struct Room {
  Buffer<T> numbers;
  explicit Room(std::ptrdiff_t size) : numbers(static_cast<std::size_t>(size) + 1, T(9)) {}
  ~Room() { EXPECT_EQ(numbers.back(), T(9)); }
};

/// One step of packed panels [columns], read as the product with a row that is 1 there and else 0.
template <class T>
std::vector<T> read_step(const Kernels<T>& k, const Room<T>& panels, int depth, int columns,
                         int step) {
  std::vector<T> row(static_cast<std::size_t>(depth), T(0)), out(static_cast<std::size_t>(columns));
  row[static_cast<std::size_t>(step)] = 1;
  k.product(1, columns, depth, {row.data(), depth, 1},
            {panels.numbers.data(), k.packed_size(depth), true}, out.data(), columns,
            Store::replace);
  return out;
}

template <class T>
void expect_packed(const Kernels<T>& k) {
  const int count = 2 * k.panel;
  constexpr int stride = 70;
  const std::vector<T> rows = random_numbers<T>(static_cast<std::size_t>(count * stride), 5);
  for (const int depth : {0, 1, 2, 3, 4, 31, 32, 33, 63, 64, 70}) {
    Room<T> packed(2 * k.packed_size(depth));
    k.pack_panels(rows.data(), stride, count, depth, T(-2), packed.numbers.data());
    for (int c = 0; c < depth; ++c) {
      const std::vector<T> step = read_step(k, packed, depth, count, c);
      for (int i = 0; i < count; ++i) {
        ASSERT_EQ(step[static_cast<std::size_t>(i)],
                  -2 * rows[static_cast<std::size_t>(i * stride + c)])
            << k.name << " " << depth << " " << i << " " << c;
      }
    }
  }
}

template <class T>
void expect_split(const Kernels<T>& k) {
  for (const int count : {1, 5, 31, 32, 33, 70}) {
    const int stride = 3 * k.panel;
    std::vector<T> rows = random_numbers<T>(static_cast<std::size_t>(count * stride), 6);
    const std::ptrdiff_t panel = k.packed_size(count);
    Room<T> split(3 * panel);
    const auto run = [&] {
      return k.split_panels(rows.data(), stride, count, split.numbers.data(), panel);
    };
    EXPECT_TRUE(run()) << k.name;
    for (int row = 0; row < count; ++row) {
      const std::vector<T> step = read_step(k, split, count, stride, row);
      for (int c = 0; c < stride; ++c) {
        ASSERT_EQ(step[static_cast<std::size_t>(c)],
                  rows[static_cast<std::size_t>(row * stride + c)])
            << k.name << " " << count << " " << row << " " << c;
      }
    }
    if (count > 5) continue;
    for (T& at : rows) {
      for (const T other : {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::quiet_NaN()}) {
        at = other;
        ASSERT_FALSE(run()) << k.name;
      }
      at = std::numeric_limits<T>::max();
      ASSERT_TRUE(run()) << k.name;
    }
  }
}

template <class T>
void expect_sums(const Kernels<T>& k) {
  for (std::ptrdiff_t count = 0; count <= 35; ++count) {
    const std::vector<T> numbers = random_numbers<T>(static_cast<std::size_t>(count), 8);
    Room<double> sums(count);
    for (std::ptrdiff_t i = 0; i < count; ++i)
      sums.numbers[static_cast<std::size_t>(i)] = static_cast<double>(i);
    k.add_to_sums(numbers.data(), count, sums.numbers.data());
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(sums.numbers[at], static_cast<double>(i) + static_cast<double>(numbers[at]))
          << k.name << " " << count << " " << i;
    }
  }
}

TEST(Kernels, AddNumbersToSums) {
  for_all_kernels([](const auto& k) { expect_sums(k); });
}

TEST(Kernels, PackPanels) {
  for_all_kernels([](const auto& k) {
    expect_packed(k);
    expect_split(k);
  });
}

}  // namespace
}  // namespace conelab::inner_loops
