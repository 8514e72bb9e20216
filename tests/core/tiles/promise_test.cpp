// The numerical promise: on N(0,1) tokens with planted twins and near-twins, errors against float64
// are at most twice those of the same formula evaluated plainly in the type of the tensors, in
// outputs and in the gradients of q, k and v. The error of a tensor is the root mean square of its
// entries' errors, which one row with a twin dominates where its distance cancels.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/bench/case_problem.h"
#include "core/call/call.h"
#include "core/simd/kernels.h"
#include "tests/core/tiles/cases.h"
#include "tests/core/tiles/plain.h"
#include "tests/core/tiles/plain_formulas.h"

namespace conelab::tests {
namespace {

/// Sums of squared differences from float64.
struct SquaredErrors {
  double output = 0, query = 0, key = 0, value = 0;

  void add(const SquaredErrors& e) {
    output += e.output;
    query += e.query;
    key += e.key;
    value += e.value;
  }
};

template <class S>
double squared_error(const Tensor4<S>& found, const Tensor4<double>& exact) {
  double sum = 0;
  for (std::size_t i = 0; i < exact.data.size(); ++i) {
    const double e = static_cast<double>(found.data[i]) - exact.data[i];
    sum += e * e;
  }
  return sum;
}

template <class Output, class Gradients>
SquaredErrors squared_errors(const Output& output, const Gradients& found,
                             const Forward<double>& exact, const Backward<double>& gradients) {
  return {squared_error(output, exact.output), squared_error(found.query, gradients.query),
          squared_error(found.key, gradients.key), squared_error(found.value, gradients.value)};
}

template <class S>
AttentionInput<S> promise_input(const Call& call, std::uint64_t seed) {
  Case c;
  c.set("seq_len", 600);  // More keys than a tile of floats has.
  c.set("dim", 64);
  c.set("head", 1);
  AttentionInput<float> input = random_input(c, 1, seed);
  if (call.aggregate == "einstein") {  // Values inside the ball.
    for (float& x : input.value.owned().data) x *= 0.05F;
  }
  return convert<S>(input);
}

template <class S>
void expect_promise(const std::string& text) {
  const Call call = with_random_tensors(call_from_text(text));
  SquaredErrors plain;
  std::map<std::string, SquaredErrors> found;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    // The promise is that of pairs: the tokens are mapped before, and rounded again.
    const PairCall<double> pairs = pair_call(call, promise_input<double>(call, seed));
    const auto& plan = pairs.plan;
    const AttentionInput<S> input = convert<S>(pairs.input);
    const AttentionInput<double> wide = convert<double>(input);
    const Forward<double> exact = forward(*plan, wide, one_thread());
    const Backward<double> gradients = backward(*plan, wide, exact, one_thread());
    const Plain p = evaluate_plainly(*plan, input);
    plain.add(squared_errors(p.output, p, exact, gradients));
    for (const std::string& target : simd_targets<S>()) {
      const Execution execution = one_thread(target);
      const Forward<S> saved = forward(*plan, input, execution);
      const Backward<S> slopes = backward(*plan, input, saved, execution);
      found[target].add(squared_errors(saved.output, slopes, exact, gradients));
    }
  }
  for (const auto& [target, e] : found) {
    EXPECT_LE(std::sqrt(e.output), 2 * std::sqrt(plain.output)) << target;
    EXPECT_LE(std::sqrt(e.query), 2 * std::sqrt(plain.query)) << target;
    EXPECT_LE(std::sqrt(e.key), 2 * std::sqrt(plain.key)) << target;
    EXPECT_LE(std::sqrt(e.value), 2 * std::sqrt(plain.value)) << target;
  }
}

/// Every similarity of the table, and some of its calls with other parts.
std::vector<std::string> promised_calls() {
  std::vector<std::string> calls;
  for (const SimilarityRow& row : similarity_table()) {
    const SimilarityInfo& info = row.info;
    std::string text = info.name;
    for (const ChosenWord& word : info.words) {
      if (word.choice != nullptr) text += std::string(":") + word.choice->key + "=" + word.word;
    }
    calls.push_back(text);
  }
  for (const char* text :
       {"umbral:radius=1", "penumbral:gamma=1.3", "laplacian:aggregate=einstein",
        "dot:aggregate=einstein", "laplacian:weights=sigmoid", "dot:weights=exp",
        "laplacian:bias=hype:masks=window:window=150", "penumbral:masks=causal",
        "dot:soft_cap=2:masks=causal", "umbral:soft_cap=30", "laplacian:soft_cap=3:weights=sigmoid",
        "penumbral:sinks=random:masks=causal", "dot:bias=random:soft_cap=1.5:sinks=random"}) {
    calls.emplace_back(text);
  }
  return calls;
}

/// A pair of tokens in the space of a similarity with the parameters p.
struct RandomPair {
  double x = 0;
  EmbeddedPoint query, key;

  RandomPair(const SimilarityRow& row, const double* p, conelab::Random& random)
      : x(row.info.measure == Measure::squared_distance ? 4 * random.uniform() : random.normal()) {
    for (EmbeddedPoint* place : {&query, &key}) {
      if (row.info.space == Space::hyperboloid) place->height = 4 * random.uniform();
      if (row.info.space == Space::half_space) {
        place->height = p[1] * random.uniform();
        place->light_distance = p[1] - place->height;
      }
      if (row.info.space == Space::ball) {
        place->light_distance = 2 * random.uniform();
        place->height = row.light(p) + place->light_distance;
      }
    }
  }
};

/// Returns a token's derivative with respect to its height, with which its distance from the light
/// changes.
double by_height(const SimilarityRow& row, double height, double light_distance) {
  return row.info.space == Space::half_space ? height - light_distance : height + light_distance;
}

PairNumbers numbers_of(const RandomPair& pair) {
  PairNumbers numbers;
  const double wide[] = {pair.x, pair.query.height, pair.query.light_distance, pair.key.height,
                         pair.key.light_distance};
  std::copy(std::begin(wide), std::end(wide), numbers.begin());
  return numbers;
}

/// Returns a logit and its derivatives with respect to x and both heights.
template <class Numbers>
std::array<double, 4> by_heights(const SimilarityRow& row, double logit, const Numbers& by) {
  return {logit, by[measure_x], by_height(row, by[query_height], by[query_light]),
          by_height(row, by[key_height], by[key_light])};
}

TEST(PlainFormulas, AgreeWithTheRowsOfTheTable) {
  const std::vector<double> p = {1.3, 0.8};
  for (const SimilarityRow& row : similarity_table()) {
    const PlainFormula formula = plain_formula(row);
    if (formula == nullptr) continue;
    conelab::Random random(5);
    for (int i = 0; i < 200; ++i) {
      const RandomPair pair(row, p.data(), random);
      const auto wide = in_double(row, p, numbers_of(pair));
      const Dual plain = evaluate(formula, row, {p.begin(), p.end()}, numbers_of(pair));
      const auto exact = by_heights(row, wide[0], std::span(wide).subspan(1));
      const auto found = by_heights(row, plain.value, plain.by);
      for (std::size_t at = 0; at < exact.size(); ++at) {
        EXPECT_NEAR(found[at], exact[at], 1e-3 * (1 + std::abs(exact[at])))
            << row.info.name << " number " << at << " of pair " << i << ", x = " << pair.x
            << ", heights " << pair.query.height << " and " << pair.key.height;
      }
    }
  }
}

class Promise : public testing::TestWithParam<std::string> {};

TEST_P(Promise, HoldsInFloat32) { expect_promise<float>(GetParam()); }
TEST_P(Promise, HoldsInFloat16) { expect_promise<Float16>(GetParam()); }
TEST_P(Promise, HoldsInBfloat16) { expect_promise<Bfloat16>(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Call, Promise, testing::ValuesIn(promised_calls()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace conelab::tests
