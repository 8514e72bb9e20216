// The loops around the formulas, on every target that this machine runs: roots of every scale, and
// how a row's reference moves.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/random.h"
#include "core/simd/kernels.h"
#include "core/simd/row_reference.h"
#include "core/similarity/table.h"

namespace conelab::similarity_kernels {
namespace {

constexpr int columns = 192;  // A multiple of every target's.
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
const SimilarityKernels<T>& kernels_of_similarity(const Kernels<T>& k, const char* similarity) {
  const SimilarityRow* row = find_similarity(similarity);
  return k.similarities[row - similarity_table().data()];
}

template <class T>
ScoreTile<T> tile_of(std::vector<T>& tile, int rows, const T* constants) {
  return {tile.data(), columns,   rows,    columns, nullptr, 0,      nullptr,
          0,           constants, nullptr, 0,       nullptr, nullptr};
}

/// The logit of laplacian is -sqrt x, its slope -1 / (2 sqrt x).
template <class T>
void expect_roots(const Kernels<T>& k, T least, T most, double tolerance) {
  std::vector<T> x(columns, T(0));
  for (int i = 0; i < columns - 2; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<T>(
        static_cast<double>(least) *
        std::pow(static_cast<double>(most) / static_cast<double>(least), i / (columns - 3.0)));
  }
  x[columns - 2] = std::numeric_limits<T>::quiet_NaN();
  const T constants[] = {1}, reference[] = {0}, one[] = {1};
  std::vector<T> logits = x, weights = x, slopes(columns, T(1));
  const SimilarityKernels<T>& similarity = kernels_of_similarity(k, "laplacian");
  similarity.score(tile_of(logits, 1, constants));
  double by_constant[1] = {};
  similarity.slope[pair_sigmoid]({.score = tile_of(weights, 1, constants),
                                  .slope = slopes.data(),
                                  .reference = reference,
                                  .inverse_sum = one,
                                  .delta = one,
                                  .query_slope = nullptr,
                                  .key_slope = nullptr,
                                  .far_key_slope = nullptr,
                                  .constant_slope = by_constant,
                                  .logit_slope = nullptr});
  for (int i = 0; i < columns - 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double root = std::sqrt(static_cast<double>(x[at]));
    EXPECT_NEAR(static_cast<double>(logits[at]) / -root, 1, tolerance) << k.name << ' ' << x[at];
    const double weight = 1 / (1 + std::exp(root));
    if (root > 10) continue;  // The sigmoid's own slope has no digits left.
    EXPECT_NEAR(static_cast<double>(slopes[at]) / (weight * (1 - weight) / (-2 * root)), 1,
                20 * tolerance)
        << k.name << ' ' << x[at];
  }
  EXPECT_TRUE(std::isnan(logits[columns - 2])) << k.name;
  EXPECT_EQ(logits[columns - 1], 0) << k.name;
  EXPECT_EQ(slopes[columns - 1], 0) << k.name;
}

/// The logit of umbral with depth = distance is -log of the key's height where D = 0 and the query
/// lies lower. The tolerance is that of logarithms from a quarter on; below it is absolute.
template <class T>
void expect_logarithms(const Kernels<T>& k, T least, T most, double tolerance) {
  std::vector<T> heights(columns), logits(columns, T(0));
  const double ratio = static_cast<double>(most) / static_cast<double>(least);
  for (int i = 0; i < columns; ++i) {
    const double share = i / (columns - 1.0);
    heights[static_cast<std::size_t>(i)] =
        static_cast<T>(static_cast<double>(least) * std::pow(ratio, share));
  }
  heights.back() = std::numeric_limits<T>::quiet_NaN();
  const T constants[] = {1, 1}, query[] = {std::numeric_limits<T>::min()};
  ScoreTile<T> tile = tile_of(logits, 1, constants);
  tile.query_values = query;
  tile.query_stride = 1;
  tile.key_values = heights.data();
  tile.key_stride = columns;
  const SimilarityRow* row = find_similarity("umbral", {"distance"});
  k.similarities[row - similarity_table().data()].score(tile);
  for (std::size_t i = 0; i + 1 < columns; ++i) {
    const double expected = -std::log(static_cast<double>(heights[i]));
    EXPECT_NEAR(static_cast<double>(logits[i]), expected,
                tolerance * std::max(0.25, std::abs(expected)))
        << k.name << " " << heights[i];
  }
  EXPECT_TRUE(std::isnan(logits.back())) << k.name;
}

TEST(SimilarityKernels, LogarithmsOfEveryScale) {
  for (const std::string& target : simd_targets<float>()) {
    expect_logarithms<float>(kernels<float>(target), 1e-30F, 1e30F, 2.5e-7);
    expect_logarithms<float>(kernels<float>(target), 0.9F, 1.1F, 2.5e-7);
  }
  for (const std::string& target : simd_targets<double>()) {
    expect_logarithms<double>(kernels<double>(target), 1e-150, 1e150, 5e-16);
    expect_logarithms<double>(kernels<double>(target), 0.9, 1.1, 5e-16);
  }
}

TEST(SimilarityKernels, RootsOfEveryScaleAndOfNothing) {
  for (const std::string& target : simd_targets<float>()) {
    expect_roots<float>(kernels<float>(target), 1.2e-38F, 3.4e38F, 2.5e-7);
  }
  for (const std::string& target : simd_targets<double>()) {
    expect_roots<double>(kernels<double>(target), 1e-150, 1e150, 5e-16);
  }
}

TEST(SimilarityKernels, InfiniteDistancesWeighNothing) {
  for (const std::string& target : simd_targets()) {
    std::vector<float> tile(columns, std::numeric_limits<float>::infinity());
    tile[5] = 4;
    const float constants[] = {1};
    float reference[] = {-std::numeric_limits<float>::infinity()}, sum[1], most[1];
    kernels_of_similarity(kernels<float>(target), "laplacian")
        .weight[referred_exponential]({tile_of(tile, 1, constants), reference, sum, most});
    EXPECT_EQ(tile[4], 0) << target;
    EXPECT_FLOAT_EQ(tile[5], std::exp(-2.0F)) << target;
  }
}

struct Row {
  const char* about;
  double before, level, after;  ///< References, and the row's largest logit. NaN: either.
};

/// Of rows of N(0,1) logits below a largest one.
constexpr std::array rows{
    Row{"begins at 0", -infinity, 3, 0},
    Row{"begins at 0 again", -infinity, -2, 0},
    Row{"begins high", -infinity, 700, 700},
    Row{"begins at 0 after a high one", -infinity, 1, 0},
    Row{"begins at 0 from far below", -infinity, -15, 0},
    Row{"begins low", -infinity, -17, -17},
    Row{"begins very low", -infinity, -900, -900},
    Row{"stays", 2, 5, 2},
    Row{"stays at 0", 0, 3, 0},
    Row{"stays at 0, far above", 0, -30, 0},
    Row{"moves from 0", 0, 12, 12},
    Row{"moves from 0 by what overflows", 0, 5000, 5000},
    Row{"stays far above", 50, 10, 50},
    Row{"moves a little", 2, 12, 12},
    Row{"begins at 0 beside others", -infinity, 0, 0},
    Row{"follows 0 and is near", -infinity, 30, 30},
    Row{"moves by what overflows", 2, 5000, 5000},
    Row{"sees nothing", -infinity, -infinity, -infinity},
};

/// A row may be given up, by a reference that is still too low: then it is weighed again alone.
template <class T>
void expect_references(const Kernels<T>& k) {
  constexpr int count = static_cast<int>(rows.size());
  Random random(1);
  std::vector<T> logits(static_cast<std::size_t>(count * columns));
  for (int r = 0; r < count; ++r) {
    T* row = logits.data() + r * columns;
    for (int c = 0; c < columns; ++c) {
      row[c] = static_cast<T>(rows[static_cast<std::size_t>(r)].level - std::abs(random.normal()));
    }
    row[r] = static_cast<T>(rows[static_cast<std::size_t>(r)].level);
  }
  std::vector<T> tile = logits;
  const T constants[] = {1};
  std::vector<T> reference, sum(count), most(count);
  for (const Row& row : rows) reference.push_back(static_cast<T>(row.before));
  const SimilarityKernels<T>& similarity = kernels_of_similarity(k, "dot");
  similarity.weight[referred_exponential](
      {tile_of(tile, count, constants), reference.data(), sum.data(), most.data()});
  for (std::size_t r = 0; r < rows.size(); ++r) {
    T* row = tile.data() + r * columns;
    // What is referred to 0 may have been a logit to base 2.
    const double rounding =
        rows[r].before == 0 ? 2 * std::numeric_limits<T>::epsilon() * std::abs(rows[r].level) : 0;
    if (std::isinf(rows[r].level)) {
      EXPECT_EQ(most[r], static_cast<T>(rows[r].level)) << k.name << ": " << rows[r].about;
    } else {
      EXPECT_NEAR(most[r], rows[r].level, rounding) << k.name << ": " << rows[r].about;
    }
    if (is_lost(reference[r], most[r])) {
      EXPECT_GE(rows[r].after - rows[r].before, most_rise) << k.name << ": " << rows[r].about;
      std::copy_n(logits.data() + r * columns, columns, row);
      reference[r] = static_cast<T>(-infinity);
      std::vector<T> alone(row, row + columns);
      similarity.weight[referred_exponential](
          {tile_of(alone, 1, constants), &reference[r], &sum[r], &most[r]});
      std::copy(alone.begin(), alone.end(), row);
    }
    if (std::isinf(rows[r].after)) {
      EXPECT_EQ(reference[r], static_cast<T>(rows[r].after)) << k.name << ": " << rows[r].about;
    } else {
      EXPECT_NEAR(reference[r], rows[r].after, rounding) << k.name << ": " << rows[r].about;
    }
    double total = 0;
    for (int c = 0; c < columns; ++c) {
      const double logit = static_cast<double>(logits[r * columns + static_cast<std::size_t>(c)]);
      const double m = std::isinf(rows[r].after) ? 0 : rows[r].after;
      const double from = std::isinf(rows[r].before) ? 0 : rows[r].before;
      const double distance = std::min(200.0, std::abs(logit - m) + std::abs(m - from));
      const double weight = std::exp(logit - m);
      total += weight;
      EXPECT_NEAR(static_cast<double>(row[c]), weight, (5e-7 + 1.2e-7 * distance) * weight + 1e-30)
          << k.name << ": " << rows[r].about << ", column " << c;
    }
    EXPECT_NEAR(static_cast<double>(sum[r]), total, 5e-6 * total)
        << k.name << ": " << rows[r].about;
  }
}

TEST(SimilarityKernels, ReferencesMoveToWhereWeightsNeitherOverflowNorVanish) {
  for (const std::string& target : simd_targets<float>()) {
    expect_references<float>(kernels<float>(target));
  }
  for (const std::string& target : simd_targets<double>()) {
    expect_references<double>(kernels<double>(target));
  }
}

/// What a slope tile of pairs outside all cones leaves behind.
template <class T>
struct Slopes {
  static constexpr int rows = 9;
  std::vector<T> weights, slopes, by_query, by_key;
  double by_constant[max_constants] = {};

  /// `known`: whether the kernel is told how far apart the pairs are, and may take what is shorter.
  Slopes(const Kernels<T>& k, const SimilarityRow& row, bool known)
      : weights(rows * columns),
        slopes(rows * columns),
        by_query(rows, T(0)),
        by_key(columns, T(1)) {
    Random random(7);
    const double parameters[] = {1.5, 2.0};
    double constants[max_constants] = {};
    row.constant(parameters, constants);
    T rounded[max_constants];
    std::copy_n(constants, max_constants, rounded);
    const auto tokens = [&](int count) {
      std::vector<T> values(static_cast<std::size_t>(row.values * count));
      for (int i = 0; i < count; ++i) {
        const double height = 0.01 + 1.98 * random.uniform();
        double value[max_values];
        row.token({height, 2 - height}, parameters, value);
        for (int v = 0; v < row.values; ++v) values[v * count + i] = static_cast<T>(value[v]);
      }
      return values;
    };
    const std::vector<T> queries = tokens(rows), keys = tokens(columns);
    std::vector<T> least(rows, T(17)), most(rows, T(117)), reference(rows), inverse_sum(rows),
        delta(rows);
    std::vector<T> room(columns);
    for (T& x : weights) x = static_cast<T>(17 + 100 * random.uniform());
    for (T& s : slopes) s = static_cast<T>(random.normal());
    for (T& m : reference) m = static_cast<T>(-8 + random.uniform());
    for (T& s : inverse_sum) s = static_cast<T>(0.01 + random.uniform());
    for (T& d : delta) d = static_cast<T>(random.normal());
    k.similarities[&row - similarity_table().data()].slope[referred_exponential](
        {.score = {.tile = weights.data(),
                   .stride = columns,
                   .rows = rows,
                   .columns = columns,
                   .query_values = queries.data(),
                   .query_stride = rows,
                   .key_values = keys.data(),
                   .key_stride = columns,
                   .constants = rounded,
                   .addend = nullptr,
                   .addend_stride = 0,
                   .least = known ? least.data() : nullptr,
                   .most = known ? most.data() : nullptr},
         .slope = slopes.data(),
         .reference = reference.data(),
         .inverse_sum = inverse_sum.data(),
         .delta = delta.data(),
         .query_slope = by_query.data(),
         .key_slope = by_key.data(),
         .far_key_slope = room.data(),
         .constant_slope = by_constant,
         .logit_slope = nullptr});
  }
};

template <class T>
void expect_same(const std::vector<T>& a, const std::vector<T>& b, double tolerance,
                 const std::string& what) {
  double scale = 0;
  for (const T x : a) scale = std::max(scale, std::abs(static_cast<double>(x)));
  EXPECT_GT(scale, 0) << what;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], tolerance * scale) << what << ' ' << i;
  }
}

/// The shorter slopes of rows outside all cones, by another potential and summed before they are
/// taken further, are the slopes of each pair.
template <class T>
void expect_far_slopes(const Kernels<T>& k, double tolerance) {
  const SimilarityRow& row = *find_similarity("penumbral");
  const Slopes<T> far(k, row, true), near(k, row, false);
  const std::string what = k.name;
  expect_same(near.weights, far.weights, tolerance, what + " weights");
  expect_same(near.slopes, far.slopes, tolerance, what + " slopes");
  expect_same(near.by_query, far.by_query, tolerance, what + " by query");
  EXPECT_NE(near.by_query, far.by_query) << what << ": was one of them not taken?";
  expect_same(near.by_key, far.by_key, tolerance, what + " by key");
  for (int i = 0; i < row.constants; ++i) {
    const double expected = near.by_constant[i];
    EXPECT_GT(std::abs(expected), 1e-3) << what;
    EXPECT_NEAR(far.by_constant[i], expected, 10 * tolerance * std::abs(expected)) << what << i;
  }
}

TEST(SimilarityKernels, SlopesOfFarRowsAreThoseOfTheirPairs) {
  for (const std::string& target : simd_targets<float>()) {
    expect_far_slopes<float>(kernels<float>(target), 2e-6);
  }
  for (const std::string& target : simd_targets<double>()) {
    expect_far_slopes<double>(kernels<double>(target), 1e-13);
  }
}

}  // namespace
}  // namespace conelab::similarity_kernels
