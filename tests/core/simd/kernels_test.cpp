// What the kernels compute in registers, on every target that this machine runs.
#include "core/simd/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/random.h"
#include "core/similarity/table.h"

namespace conelab::tests {
namespace {

constexpr int columns = 192;  // A multiple of every target's.

/// Distances at height 1, beta 1, of squared Euclidean distances.
template <class T>
std::vector<T> distances(const Kernels<T>& k, const std::vector<T>& measures) {
  const SimilarityRow* row = find_similarity("hyperbolic", "halfspace");
  const auto index = static_cast<std::size_t>(row - similarity_table().data());
  std::vector<T> tile = measures, result;
  const T query[2] = {1, 1}, constants[2] = {1, 0};
  const std::vector<T> keys(2 * columns, T(1));
  for (std::size_t first = 0; first < tile.size(); first += columns) {
    k.tails[index].score({tile.data() + first, columns, 1, columns, query, 1, keys.data(), columns,
                          constants, nullptr, 0, nullptr, nullptr});
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
  for (const std::string& target : simd_targets()) {
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
  std::vector<T> right = rows;
  for (std::ptrdiff_t p = 0; packed && p < panels; ++p) {
    for (std::ptrdiff_t i = 0; i < depth; ++i) {
      std::copy_n(rows.begin() + i * width + p * k.panel, k.panel,
                  right.begin() + (p * depth + i) * k.panel);
    }
  }
  const RightOperand<T> operand{right.data(), packed ? depth * k.panel : k.panel,
                                packed ? k.panel : width};
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
  for (const std::string& target : simd_targets()) {
    for (const int panels : {1, 2, 3}) {
      for (const int layout : {0, 1, 2, 3}) {
        expect_products(kernels<float>(target), panels, layout < 2, layout % 2 == 0);
        expect_products(kernels<double>(target), panels, layout < 2, layout % 2 == 0);
      }
    }
  }
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
  k.squared_distance(rows, width, 1, {left.data(), 1, 1}, {right.data(), k.panel, k.panel},
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
  for (const std::string& target : simd_targets()) {
    for (const int panels : {1, 2, 3}) {
      for (const int rows : {1, 5, 6, 12, 17, 48, 101}) {
        expect_squared_distances<float>(kernels<float>(target), rows, panels, 3);
        expect_squared_distances<double>(kernels<double>(target), rows, panels, 20);
      }
    }
  }
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
  for (const std::string& target : simd_targets()) {
    expect_scaled(kernels<float>(target));
    expect_scaled(kernels<double>(target));
    expect_overflow_kept(kernels<float>(target));
    expect_overflow_kept(kernels<double>(target));
  }
}

template <class T>
void expect_packed(const Kernels<T>& k) {
  const int count = 2 * k.panel;
  constexpr int stride = 70;
  const std::vector<T> rows = random_numbers<T>(static_cast<std::size_t>(count * stride), 5);
  for (const int depth : {0, 1, 2, 3, 4, 63, 64, 70}) {
    std::vector<T> packed(static_cast<std::size_t>(count * depth) + 1, T(9));
    k.pack_panels(rows.data(), stride, count, depth, T(-2), packed.data());
    for (int i = 0; i < count; ++i) {
      for (int c = 0; c < depth; ++c) {
        const int at = i / k.panel * k.panel * depth + c * k.panel + i % k.panel;
        ASSERT_EQ(packed[static_cast<std::size_t>(at)],
                  -2 * rows[static_cast<std::size_t>(i * stride + c)])
            << k.name << " " << depth << " " << i << " " << c;
      }
    }
    EXPECT_EQ(packed.back(), T(9)) << k.name << " " << depth;
  }
}

template <class T>
void expect_split(const Kernels<T>& k) {
  constexpr int count = 5, room = 7;
  const int stride = 3 * k.panel;
  std::vector<T> rows = random_numbers<T>(static_cast<std::size_t>(count * stride), 6);
  std::vector<T> split(static_cast<std::size_t>(room * stride), T(9));
  const auto run = [&] {
    return k.split_panels(rows.data(), stride, count, split.data(), room * k.panel);
  };
  EXPECT_TRUE(run()) << k.name;
  for (int at = 0; at < room * stride; ++at) {
    const int panel = at / (room * k.panel), row = at / k.panel % room, column = at % k.panel;
    const T expected = row < count
                           ? rows[static_cast<std::size_t>(row * stride + panel * k.panel + column)]
                           : T(9);
    ASSERT_EQ(split[static_cast<std::size_t>(at)], expected) << k.name << " " << at;
  }
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

TEST(Kernels, PackPanels) {
  for (const std::string& target : simd_targets()) {
    expect_packed(kernels<float>(target));
    expect_packed(kernels<double>(target));
    expect_split(kernels<float>(target));
    expect_split(kernels<double>(target));
  }
}

template <class T>
void expect_heavy_taken(const Kernels<T>& k) {
  std::vector<T> weights(columns, T(1) / 1024);
  weights[0] = weights[63] = T(0.25);
  weights[64] = weights[191] = T(0.5);
  weights[65] = T(0.125);  // at the limit, not above it
  HeavyWeight<T> heavy[most_heavy];
  T rest = 0;
  ASSERT_EQ(k.take_heavy(weights.data(), columns, T(0.125), heavy, &rest), 4) << k.name;
  EXPECT_EQ(rest, T(0.125) + T(187) / 1024) << k.name;
  const int expected[] = {0, 63, 64, 191};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(heavy[i].column, expected[i]) << k.name;
    EXPECT_EQ(heavy[i].weight, i < 2 ? T(0.25) : T(0.5)) << k.name;
    EXPECT_EQ(weights[static_cast<std::size_t>(expected[i])], T(0)) << k.name;
  }
  EXPECT_EQ(weights[65], T(0.125)) << k.name;
}

template <class T>
void expect_most_heavy(const Kernels<T>& k) {
  std::vector<T> weights(columns, T(1));
  weights[3] = std::numeric_limits<T>::quiet_NaN();
  HeavyWeight<T> heavy[most_heavy];
  T rest = 0;
  EXPECT_EQ(k.take_heavy(weights.data(), columns, T(0.5), heavy, &rest), most_heavy) << k.name;
  EXPECT_EQ(heavy[3].column, 4) << k.name << ": what is no number is not taken";
  EXPECT_TRUE(std::isnan(rest)) << k.name;
}

TEST(Kernels, HeavyWeightsAreTakenOutOfARow) {
  for (const std::string& target : simd_targets()) {
    expect_heavy_taken(kernels<float>(target));
    expect_heavy_taken(kernels<double>(target));
    expect_most_heavy(kernels<float>(target));
    expect_most_heavy(kernels<double>(target));
  }
}

}  // namespace
}  // namespace conelab::tests
