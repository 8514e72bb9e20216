// What the kernels compute in registers, on every target that this machine runs.
#include "core/simd/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

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
                          constants, nullptr, 0});
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

}  // namespace
}  // namespace conelab::tests
