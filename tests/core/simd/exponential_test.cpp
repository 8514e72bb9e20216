// Weights by the closed form of e^logit, and by logits to base 2, against those by logits, on every
// target that this machine runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/simd/kernels.h"
#include "core/simd/row_reference.h"
#include "core/similarity/all.h"
#include "core/similarity/table.h"

namespace conelab::exponentials {
namespace {

constexpr int columns = 192;  // A multiple of every target's.
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Formula {
  const char* name;
  const char* words[2];  ///< Of its choices, or null.
  double parameters[2];
  double least, most;  ///< Heights of tokens near the origin, the horosphere or the source.
  double far;          ///< A height at which logits are beyond closed_limit.
};
constexpr std::array formulas{
    Formula{"hyperbolic", {"hyperboloid"}, {1, 0}, 0, 3, 30},
    Formula{"hyperbolic", {"halfspace"}, {1, 0}, 0.1, 3, 1e-9},
    Formula{"penumbral-finite", {}, {1, 0.5}, 0.5, 3, 50},
    Formula{"umbral-finite", {}, {1, 0.1}, 0.1, 3, 50},
    Formula{"ganea", {}, {1, 0.1}, 0.2, 3, 50},
};

const SimilarityRow* row_of(const Formula& f) {
  std::vector<std::string> words;
  for (const char* word : f.words) {
    if (word != nullptr) words.emplace_back(word);
  }
  return find_similarity(f.name, words);
}

/// One query and its keys.
template <class T>
struct Pairs {
  const SimilarityRow* row;
  const SimilarityKernels<T>* similarity;
  std::vector<T> query, keys, measures;
  T constants[max_constants] = {};

  Pairs(const Kernels<T>& k, const Formula& f, bool far, double temperature = 1)
      : row(row_of(f)),
        similarity(&k.similarities[row - similarity_table().data()]),
        keys(static_cast<std::size_t>(row->values * columns)),
        measures(columns) {
    const std::vector<double> parameters =
        token_parameters(*row, {f.parameters[0] * temperature, f.parameters[1]});
    double all[max_constants] = {};
    row->constant(parameters.data(), all);
    std::transform(all, all + max_constants, constants, [](double c) { return static_cast<T>(c); });
    const double light = row->light == nullptr ? 0 : row->light(parameters.data());
    Random random(3);
    const auto token = [&](double height, auto put) {
      double value[max_values];
      row->token({height, height - light}, parameters.data(), value);
      for (int v = 0; v < row->values; ++v) put(v, static_cast<T>(value[v]));
    };
    const auto height = [&] {
      return far ? f.far * (1 + 0.01 * random.uniform())
                 : f.least + 0.01 + (f.most - f.least) * random.uniform();
    };
    token(height(), [&](int, T value) { query.push_back(value); });
    for (int c = 0; c < columns; ++c) {
      token(height(),
            [&](int v, T value) { keys[static_cast<std::size_t>(v * columns + c)] = value; });
      const bool on_one_ray = far && row->info.space == Space::ball;
      measures[static_cast<std::size_t>(c)] =
          on_one_ray ? T(0) : static_cast<T>(0.5 + 3.4 * random.uniform());
    }
  }
};

template <class T>
struct Weights {
  std::vector<T> weights;
  T reference, sum, maximum;

  Weights(const Pairs<T>& p, double before, bool by_logits)
      : weights(p.measures), reference(static_cast<T>(before)) {
    const ScoreTile<T> tile{
        weights.data(), columns,     1,       columns, p.query.data(), 1,      p.keys.data(),
        columns,        p.constants, nullptr, 0,       nullptr,        nullptr};
    p.similarity->weight[referred_exponential]({tile, &reference, &sum, &maximum, by_logits});
  }
};

template <class T>
void expect_as_logits(const Pairs<T>& pairs, double before, const std::string& what) {
  const Weights<T> closed(pairs, before, false), logits(pairs, before, true);
  constexpr double rounding = 40 * static_cast<double>(std::numeric_limits<T>::epsilon());
  EXPECT_NEAR(closed.reference, logits.reference, rounding) << what;
  EXPECT_NEAR(closed.maximum, logits.maximum, rounding) << what;
  EXPECT_NE(closed.weights, logits.weights) << what << ": was no closed form taken?";
  double total = 0;
  for (std::size_t c = 0; c < closed.weights.size(); ++c) {
    const auto expected = static_cast<double>(logits.weights[c]);
    const double moved = std::exp(static_cast<double>(logits.reference - closed.reference));
    total += static_cast<double>(closed.weights[c]);
    ASSERT_NEAR(static_cast<double>(closed.weights[c]), expected * moved,
                rounding * expected + 1e-30)
        << what << ", column " << c;
  }
  EXPECT_NEAR(static_cast<double>(closed.sum), total, rounding * total) << what;
}

template <class T>
void expect_same(const Pairs<T>& pairs, double before, const std::string& what) {
  const Weights<T> closed(pairs, before, false), logits(pairs, before, true);
  EXPECT_EQ(closed.weights, logits.weights) << what;
  EXPECT_EQ(closed.reference, logits.reference) << what;
  EXPECT_EQ(closed.sum, logits.sum) << what;
  EXPECT_EQ(closed.maximum, logits.maximum) << what;
}

template <class T>
void expect_closed(const Kernels<T>& k, const Formula& f) {
  const std::string what = std::string(k.name) + ' ' + row_of(f)->info.about;
  const Pairs<T> near(k, f, false);
  const auto largest = static_cast<double>(Weights<T>(near, -infinity, true).maximum);
  EXPECT_LT(std::abs(largest), 10) << what;
  expect_as_logits(near, -infinity, what + " begins");
  expect_as_logits(near, largest + 1, what + " stays");
  expect_as_logits(near, largest + 20, what + " stays far above");
  expect_as_logits(near, largest - 20, what + " moves");
  expect_same(near, closed_limit + 1, what + " refers to what is too far above");
  expect_same(near, -closed_limit - 1, what + " refers to what is too far below");
  expect_same(Pairs<T>(k, f, false, 1.5), -infinity, what + " has no closed form");

  const Pairs<T> far(k, f, true);
  const auto distant = static_cast<double>(Weights<T>(far, -infinity, true).maximum);
  EXPECT_GT(std::abs(distant), closed_limit) << what;
  const Weights<T> lost(far, -infinity, false);
  EXPECT_EQ(lost.maximum, std::numeric_limits<T>::infinity()) << what;
  EXPECT_EQ(lost.reference, -std::numeric_limits<T>::infinity()) << what;
  if (distant > 0) return;
  // Beside a row's reference they vanish.
  const Weights<T> vanishing(far, -5, false);
  EXPECT_EQ(vanishing.reference, T(-5)) << what;
  EXPECT_LE(vanishing.maximum, T(-closed_limit)) << what;
  EXPECT_LT(vanishing.sum, T(1e-12)) << what;
}

TEST(Exponential, WeighsAsLogitsDo) {
  for (const Formula& f : formulas) {
    for (const std::string& target : simd_targets<float>()) {
      expect_closed<float>(kernels<float>(target), f);
    }
    for (const std::string& target : simd_targets<double>()) {
      expect_closed<double>(kernels<double>(target), f);
    }
  }
}

TEST(Exponential, OfAnInfiniteDistanceIsNothing) {
  for (const std::string& target : simd_targets()) {
    Pairs<float> pairs(kernels<float>(target), formulas[0], false);
    pairs.measures[7] = std::numeric_limits<float>::infinity();
    const Weights<float> w(pairs, -infinity, false);
    EXPECT_EQ(w.weights[7], 0) << target;
    EXPECT_GT(w.weights[6], 0) << target;
  }
}

/// Written so that NaN is no logit beyond the closed form's.
TEST(Exponential, OfNoNumberIsNotLost) {
  for (const std::string& target : simd_targets()) {
    Pairs<float> pairs(kernels<float>(target), formulas[0], false);
    std::fill(pairs.measures.begin(), pairs.measures.end(), std::nanf(""));
    for (const double before : {-infinity, 0.0}) {
      const Weights<float> w(pairs, before, false);
      EXPECT_NE(w.maximum, std::numeric_limits<float>::infinity()) << target;
      EXPECT_TRUE(std::isnan(w.sum)) << target;
    }
  }
}

/// Those whose rows take logits to base 2 where their reference is 0.
template <class... S>
std::vector<Formula> proportional_of(TypeList<S...>) {
  std::vector<Formula> list;
  const auto add = [&]<class One>(const One&) {
    if constexpr (requires { One::proportional; })
      list.push_back({One::info.name,
                      {One::info.words[0].word, One::info.words[1].word},
                      {0.7, 1},
                      0.2,
                      0.9,
                      0});
  };
  (add(S()), ...);
  return list;
}
std::vector<Formula> proportional_formulas() { return proportional_of(Similarities()); }

TEST(Exponential, IsToBaseTwoWhereTheFirstConstantIsAFactor) {
  const std::vector<Formula> all = proportional_formulas();
  EXPECT_GE(all.size(), 6U);
  for (const Formula& f : all) {
    const Pairs<double> pairs(kernels<double>(), f, false);
    double constants[max_constants], q[max_values], k[max_values];
    std::copy_n(pairs.constants, max_constants, constants);
    std::copy_n(pairs.query.data(), pairs.row->values, q);
    for (const double factor : {0.5, 8.0}) {
      constants[0] = factor * pairs.constants[0];
      for (std::size_t c = 0; c < columns; ++c) {
        for (int v = 0; v < pairs.row->values; ++v) k[v] = pairs.keys[v * columns + c];
        const double x = pairs.measures[c];
        EXPECT_EQ(pairs.row->score(x, q, k, constants),
                  factor * pairs.row->score(x, q, k, pairs.constants))
            << f.name;
      }
    }
  }
}

TEST(Exponential, ToBaseTwoIsThatOfTheLogits) {
  for (const std::string& target : simd_targets()) {
    for (const Formula& f : proportional_formulas()) {
      const Pairs<float> pairs(kernels<float>(target), f, false);
      Pairs<float> measures = pairs;
      const ScoreTile<float> tile{measures.measures.data(),
                                  columns,
                                  1,
                                  columns,
                                  pairs.query.data(),
                                  1,
                                  pairs.keys.data(),
                                  columns,
                                  pairs.constants,
                                  nullptr,
                                  0,
                                  nullptr,
                                  nullptr};
      pairs.similarity->score(tile);
      for (const double reference : {0.0, 0.5}) {
        const Weights<float> w(pairs, reference, false);
        EXPECT_EQ(w.reference, static_cast<float>(reference)) << target << f.name;
        float largest = -std::numeric_limits<float>::infinity();
        for (int c = 0; c < columns; ++c) {
          const float logit = measures.measures[static_cast<std::size_t>(c)];
          const double weight = std::exp(static_cast<double>(logit) - reference);
          EXPECT_NEAR(w.weights[static_cast<std::size_t>(c)] / weight, 1, 5e-7) << target << f.name;
          largest = std::max(largest, logit);
        }
        EXPECT_NEAR(w.maximum, largest, 5e-7) << target << f.name;
      }
    }
  }
}

}  // namespace
}  // namespace conelab::exponentials
