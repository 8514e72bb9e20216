// Umbral attention at d = 2 by intervals equals that by pairs, which other tests compare with the
// reference, and the reference itself.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "core/tiles/merge_rows.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

Call umbral(const std::string& evaluation, const std::vector<std::string>& masks = {"full"}) {
  Call call;
  call.similarity = "umbral";
  call.masks = masks;
  call.parameters["evaluation"] = evaluation;
  give_mask_parameters(call);
  return call;
}

/// Where the tokens of a case lie, in the half-plane.
struct Layout {
  const char* name;
  double spread;     ///< Of log10 |x|, around 0.
  bool whole;        ///< Whether coordinates are whole numbers, so that many are equal.
  bool same;         ///< Whether the queries are the keys.
  double key_shift;  ///< Added to the x of keys.
};
constexpr Layout layouts[] = {{"apart", 0.5, false, false, 0},
                              {"same", 0.5, false, true, 0},
                              {"whole", 0.4, true, false, 0},
                              {"whole_and_same", 0.4, true, true, 0},
                              {"wide", 6, false, false, 0},
                              {"wide_and_same", 6, false, true, 0},
                              {"out_of_reach", 0.5, false, false, 3000}};

AttentionInput<double> input_of(const Layout& layout, const Extents& e, std::uint64_t seed) {
  Call call = umbral("pairs", {"padding"});
  AttentionInput<double> input = random_input(call, e, seed);
  Random random(seed);
  const auto fill = [&](StridedTensor4<double>& tokens, double shift) {
    Tensor4<double>& to = tokens.owned();
    for (std::size_t i = 0; i + 1 < to.data.size(); i += 2) {
      const double sign = random.uniform(-1, 1) < 0 ? -1 : 1;
      to.data[i] = sign * std::pow(10, random.uniform(-layout.spread, layout.spread)) + shift;
      to.data[i + 1] = std::exp(random.uniform(-1.5, 1.5));
      if (!layout.whole) continue;
      to.data[i] = std::round(to.data[i]);
      to.data[i + 1] = std::ceil(to.data[i + 1]);
    }
  };
  fill(input.query, 0);
  fill(input.key, layout.key_shift);
  Tensor4<double>& query = input.query.owned();
  for (std::int64_t b = 0; layout.same && b < e.batch; ++b) {
    for (std::int64_t h = 0; h < e.head; ++h) {
      copy_tokens(input.key.tokens(b, h, e.head), query.row(b, h, 0));
    }
  }
  return input;
}

Call with_numbers(Call call, double gamma, double radius) {
  call.map = "none";
  call.parameters["gamma"] = gamma;
  call.parameters["radius"] = radius;
  return call;
}

struct Results {
  Forward<double> forward;
  Backward<double> backward;
};

template <class T>
Results results(const Call& call, const AttentionInput<double>& wide,
                const Execution& run = one_thread()) {
  const AttentionInput<T> input = convert<T>(wide);
  const auto plan = resolve(call, check_extents(input));
  const Forward<T> saved = forward(*plan, input, run);
  const Backward<T> gradients = backward(*plan, input, saved, run);
  Results all{{convert<double>(saved.output), convert<double>(saved.lse),
               convert<double>(saved.row_reference), convert<double>(saved.row_sum)},
              {convert<double>(gradients.query), convert<double>(gradients.key),
               convert<double>(gradients.value), gradients.parameters}};
  all.forward.evaluation = saved.evaluation;
  return all;
}

/// Returns the largest |found - expected| relative to the largest |expected|, or to 1.
double relative(const Tensor4<double>& found, const Tensor4<double>& expected) {
  double largest = 1, worst = 0;
  for (const double x : expected.data) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    worst = std::max(worst, std::abs(found.data[i] - expected.data[i]));
    if (!std::isfinite(found.data[i]) && found.data[i] != expected.data[i]) worst = INFINITY;
  }
  return worst / largest;
}

/// The sizes of the terms of which gradients are sums: their rounding errors are relative to these
/// also where the sums are tiny, as in rows with one weight of 1.
struct Sizes {
  double logit, token, gamma, radius;

  Sizes(const Call& call, const AttentionInput<double>& input) {
    double largest = 1;
    for (const auto* tokens : {&input.query, &input.key}) {
      for (const double x : tokens->dense().data) largest = std::max(largest, std::abs(x));
    }
    const double g = *call.parameters.at("gamma").number();
    const double sinh = std::sinh(*call.parameters.at("radius").number());
    const double rate = 1 + 1 / (2 * sinh);
    logit = std::max(1.0, g * rate * largest * 2e-4);  // 2e-16 of the largest, over 1e-12.
    token = std::max(1.0, g * rate);
    gamma = rate * largest;
    radius = std::max(1.0, g * largest * std::sqrt(1 + sinh * sinh) / (sinh * sinh));
  }
};

void expect_equal(const Results& found, const Results& expected, double tolerance,
                  const Sizes& size) {
  EXPECT_EQ(found.forward.evaluation, Evaluation::intervals);
  EXPECT_EQ(expected.forward.evaluation, Evaluation::pairs);
  EXPECT_LE(difference(found.forward.output, expected.forward.output), tolerance * size.logit);
  EXPECT_LE(difference(found.forward.lse, expected.forward.lse), tolerance) << "lse";
  EXPECT_LE(relative(found.backward.query, expected.backward.query), tolerance * size.token);
  EXPECT_LE(relative(found.backward.key, expected.backward.key), tolerance * size.token);
  EXPECT_LE(relative(found.backward.value, expected.backward.value), tolerance * size.logit);
  for (const char* key : {"gamma", "radius"}) {
    const double expected_number = expected.backward.parameters.at(key).front();
    EXPECT_NEAR(found.backward.parameters.at(key).front(), expected_number,
                tolerance * std::max(std::abs(expected_number),
                                     std::string_view(key) == "gamma" ? size.gamma : size.radius))
        << key;
  }
}

class IntervalAttention : public testing::TestWithParam<Layout> {};

TEST_P(IntervalAttention, EqualsPairsInDouble) {
  std::uint64_t seed = 1;
  const std::vector<std::vector<std::string>> masks{
      {"full"}, {"causal"}, {"padding"}, {"window"}, {"segment"}, {"causal", "padding"},
      {"directional"}};
  const double gammas[] = {1e-3, 1, 30, 1e4};
  const double radii[] = {0.01, 0.5, 5};
  for (const std::int64_t n : {1, 2, 7, 31, 64, 65, 200, 517}) {
    const auto& mask = masks[seed % masks.size()];
    const double gamma = gammas[seed % 4], radius = radii[seed % 3];
    const Extents e = with_key_heads({2, 2, n, GetParam().same ? n : n + 3, 2, 3}, seed);
    SCOPED_TRACE(fmt::format("n {}, mask {}, gamma {}, radius {}", n, mask.front(), gamma, radius));
    const AttentionInput<double> input = input_of(GetParam(), e, ++seed);
    const Call pairs = with_numbers(umbral("pairs", mask), gamma, radius);
    const Call intervals = with_numbers(umbral("intervals", mask), gamma, radius);
    expect_equal(results<double>(intervals, input), results<double>(pairs, input), 1e-12,
                 Sizes(pairs, input));
  }
}

INSTANTIATE_TEST_SUITE_P(, IntervalAttention, testing::ValuesIn(layouts),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace conelab::tests
