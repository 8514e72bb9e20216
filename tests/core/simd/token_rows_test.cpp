// Kernels for tokens that are read where they lie, on every target that this machine runs.
#include "core/simd/token_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/base/random.h"
#include "core/simd/kernels.h"
#include "core/similarity/table.h"

namespace conelab::token_rows {
namespace {

constexpr std::ptrdiff_t stride = 71;

template <class T>
std::vector<T> random_numbers(std::ptrdiff_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& x : numbers) x = static_cast<T>(random.normal());
  return numbers;
}

/// Calls f(target name, T()) for the targets of both types.
template <class F>
void for_all_targets(const F& f) {
  for (const std::string& target : simd_targets<float>()) f(target, 0.0F);
  for (const std::string& target : simd_targets<double>()) f(target, 0.0);
}

template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-13;

/// Counts of less than a vector, of whole vectors and between; sizes with and without a rest. What
/// lies behind the last coordinate is not a number and is not read.
TEST(TokenRows, NormsProductsAndDistances) {
  for_all_targets([]<class T>(const std::string& target, T) {
    const RowKernels<T>& k = row_kernels<T>(target);
    for (const int size : {1, 15, 17, 63, 64, 70}) {
      std::vector<T> tokens = random_numbers<T>(40 * stride, 1);
      for (std::ptrdiff_t i = 0; i < 40; ++i) {
        std::fill_n(tokens.begin() + i * stride + size, stride - size,
                    std::numeric_limits<T>::quiet_NaN());
      }
      std::vector<T> query = random_numbers<T>(96, 2);
      std::fill(query.begin() + size, query.end(), T(0));
      const std::vector<T> factors = random_numbers<T>(40, 3);
      for (const int count : {1, 3, 8, 16, 29, 40}) {
        const LyingTokens<T> lying{tokens.data(), stride, count, size};
        std::vector<T> norms(40, T(-1)), products(40, T(-1));
        k.squared_norms(lying, norms.data());
        k.products(query.data(), lying, products.data());
        std::vector<T> placed = norms, distances = products;
        for (std::size_t i = 0; i < placed.size(); ++i) placed[i] *= factors[i] * factors[i];
        const T least = k.distances({T(9), placed.data(), factors.data()}, count, distances.data());
        double smallest = std::numeric_limits<double>::infinity();
        for (int i = 0; i < count; ++i) {
          double norm = 0, product = 0;
          for (int c = 0; c < size; ++c) {
            const auto x = static_cast<double>(tokens[static_cast<std::size_t>(i * stride + c)]);
            norm += x * x;
            product += x * static_cast<double>(query[static_cast<std::size_t>(c)]);
          }
          const auto at = static_cast<std::size_t>(i);
          const auto f = static_cast<double>(factors[at]);
          const double distance = 9 + f * f * norm - 2 * f * product;
          smallest = std::min(smallest, distance);
          ASSERT_NEAR(static_cast<double>(norms[at]), norm, tolerance<T> * 8) << target << size;
          ASSERT_NEAR(static_cast<double>(products[at]), product, tolerance<T> * 8)
              << target << size;
          ASSERT_NEAR(static_cast<double>(distances[at]), distance, tolerance<T> * 64)
              << target << size;
        }
        ASSERT_NEAR(static_cast<double>(least), smallest, tolerance<T> * 64) << target;
        for (std::size_t i = static_cast<std::size_t>(count); i < 40; ++i) {
          ASSERT_EQ(products[i], T(-1)) << target;
        }
      }
    }
  });
}

/// As the maps of a call need: forward and backward passes have different tiles.
TEST(TokenRows, AProductDoesNotDependOnTheOtherTokens) {
  for_all_targets([]<class T>(const std::string& target, T) {
    const RowKernels<T>& k = row_kernels<T>(target);
    const std::vector<T> tokens = random_numbers<T>(40 * stride, 1), query = [] {
      std::vector<T> q = random_numbers<T>(96, 2);
      std::fill(q.begin() + 63, q.end(), T(0));
      return q;
    }();
    std::vector<T> all(40), part(40);
    k.products(query.data(), {tokens.data(), stride, 40, 63}, all.data());
    for (const int first : {0, 1, 13, 37}) {
      for (int count = 1; first + count <= 40; ++count) {
        k.products(query.data(), {tokens.data() + first * stride, stride, count, 63}, part.data());
        for (int i = 0; i < count; ++i) {
          ASSERT_EQ(part[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(first + i)])
              << target;
        }
      }
    }
  });
}

TEST(TokenRows, WeightedSumsAreAddedToWhatIsThere) {
  for_all_targets([]<class T>(const std::string& target, T) {
    const RowKernels<T>& k = row_kernels<T>(target);
    const std::vector<T> tokens = random_numbers<T>(300 * 224, 1);
    const std::vector<T> weights = random_numbers<T>(300, 2);
    for (const int size : {32, 96, 224}) {
      for (const int count : {1, 127, 300}) {
        std::vector<T> sums(static_cast<std::size_t>(size), T(5));
        k.add_weighted(weights.data(), {tokens.data(), 224, count, size}, sums.data());
        for (int c = 0; c < size; ++c) {
          double exact = 5;
          for (int i = 0; i < count; ++i) {
            exact += static_cast<double>(weights[static_cast<std::size_t>(i)]) *
                     static_cast<double>(tokens[static_cast<std::size_t>(i * 224 + c)]);
          }
          ASSERT_NEAR(static_cast<double>(sums[static_cast<std::size_t>(c)]), exact,
                      tolerance<T> * 20)
              << target << " " << size << " " << count;
        }
      }
    }
  });
}

/// The numbers of each token are those of its similarity's `token`, one by one.
template <class T>
void expect_places(const std::string& target, const char* name, ExponentialMap map,
                   const std::vector<double>& parameters, double light) {
  const RowKernels<T>& k = row_kernels<T>(target);
  const SimilarityRow* row = find_similarity(name);
  std::vector<double> last(placed_together);
  for (int i = 0; i < placed_together; ++i) last[static_cast<std::size_t>(i)] = -9 + 0.8 * i;
  std::vector<double> factor(placed_together);
  std::vector<T> values(static_cast<std::size_t>(row->values * 20), T(-1));
  const auto place = [&](int count) {
    return k.place_together[row - similarity_table().data()]({map, light, 1, 1e9, parameters.data(),
                                                              count, last.data(), factor.data(),
                                                              values.data(), 20});
  };
  ASSERT_TRUE(place(13)) << target << " " << name;
  for (int i = 0; i < 13; ++i) {
    const double x = last[static_cast<std::size_t>(i)];
    const double sigma = 1 / (1 + std::exp(-x));
    const double height = map == ExponentialMap::psi ? std::exp(x) : light * sigma;
    const double below = map == ExponentialMap::psi ? light - height : light / (1 + std::exp(x));
    double exact[max_values];
    row->token({height, below}, parameters.data(), exact);
    EXPECT_NEAR(factor[static_cast<std::size_t>(i)], height, 1e-15 * height);
    for (int v = 0; v < row->values; ++v) {
      const auto found = static_cast<double>(values[static_cast<std::size_t>(v * 20 + i)]);
      EXPECT_NEAR(found, exact[v], (sizeof(T) == 4 ? 1e-7 : 1e-14) * exact[v])
          << target << " " << name << " value " << v << " of token " << i;
    }
  }
  EXPECT_EQ(values[13], T(-1)) << "behind the last token";
  // The formulas for one token serve numbers that do not fit.
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), -1e300, 1e300, -25.0,
                             std::numeric_limits<double>::infinity()}) {
    last[5] = wrong;
    EXPECT_FALSE(place(13)) << target << " " << name << " " << wrong;
  }
}

TEST(TokenRows, TokensAreMappedTogetherAsOneByOne) {
  for_all_targets([]<class T>(const std::string& target, T) {
    const double none = std::numeric_limits<double>::infinity();
    expect_places<T>(target, "penumbral", ExponentialMap::xi, {1, 2.5}, 2.5);
    expect_places<T>(target, "penumbral", ExponentialMap::psi, {1, 40}, 40);
    expect_places<T>(target, "umbral", ExponentialMap::psi, {1, 0.3}, none);
  });
}

TEST(TokenRows, OtherSimilaritiesAreMappedOneByOne) {
  const double last[placed_together] = {};
  double factor[placed_together], values[placed_together];
  const auto index = find_similarity("dot") - similarity_table().data();
  for (const std::string& target : simd_targets<double>()) {
    EXPECT_FALSE(row_kernels<double>(target).place_together[index](
        {ExponentialMap::xi, 1, 1, 1e9, nullptr, 1, last, factor, values, 1}));
  }
}

}  // namespace
}  // namespace conelab::token_rows
