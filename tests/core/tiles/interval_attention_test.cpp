// Umbral attention at d = 2 by intervals equals that by pairs, which other tests compare with the
// reference, and the reference itself.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>

#include "core/tiles/merge_rows.h"
#include "tests/core/tiles/cases.h"
#include "tests/helpers/errors.h"

namespace conelab::tests {
namespace {

Call umbral(const std::string& evaluation, const std::vector<std::string>& masks = {"full"}) {
  Call call = call_from_text("umbral");
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
      {"full"},       {"causal"}, {"padding"}, {"window"}, {"segment"}, {"causal", "padding"},
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

/// In float, errors are those of the evaluation by pairs.
TEST_P(IntervalAttention, IsAsExactAsPairsInFloat) {
  if (GetParam().spread > 1 || GetParam().key_shift > 0)
    return;  // Logits above 2^24 have no digits.
  for (const std::int64_t n : {5, 64, 300}) {
    const Extents e{1, 2, n, n, 2, 16};
    const AttentionInput<double> input =
        convert<double>(convert<float>(input_of(GetParam(), e, 77)));
    const Call pairs = with_numbers(umbral("pairs"), 2, 0.5);
    const Call intervals = with_numbers(umbral("intervals"), 2, 0.5);
    const Results exact = results<double>(pairs, input), found = results<float>(intervals, input);
    EXPECT_EQ(found.forward.evaluation, Evaluation::intervals);
    EXPECT_LE(difference(found.forward.output, exact.forward.output), 1e-6) << n;
    EXPECT_LE(difference(found.forward.lse, exact.forward.lse), 1e-6) << n;
    EXPECT_LE(relative(found.backward.query, exact.backward.query), 1e-5) << n;
    EXPECT_LE(relative(found.backward.key, exact.backward.key), 1e-5) << n;
    EXPECT_LE(relative(found.backward.value, exact.backward.value), 1e-6) << n;
  }
}

/// A shift of all tokens changes nothing, and costs the derivatives by gamma and radius few digits.
/// A mask keeps the head from centring its tokens.
TEST(IntervalEvaluation, DerivativesOfParametersBearAShift) {
  AttentionInput<double> input = input_of(layouts[0], {1, 1, 400, 400, 2, 16}, 5);
  for (auto* tokens : {&input.query, &input.key}) {
    Tensor4<double>& to = tokens->owned();
    for (std::size_t i = 0; i < to.data.size(); i += 2) to.data[i] += 3000;
  }
  input = convert<double>(convert<float>(input));
  const auto call = [](const char* evaluation) {
    return with_numbers(umbral(evaluation, {"causal"}), 2, 0.5);
  };
  const auto exact = results<double>(call("pairs"), input).backward.parameters;
  const auto found = results<float>(call("intervals"), input).backward.parameters;
  for (const char* key : {"gamma", "radius"}) {
    EXPECT_NEAR(found.at(key)[0], exact.at(key)[0], 1e-4) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(, IntervalAttention, testing::ValuesIn(layouts),
                         [](const auto& info) { return info.param.name; });

/// Half types are widened, as elsewhere.
TEST(IntervalEvaluation, TakesTensorsOf16Bits) {
  const Extents e{1, 2, 90, 90, 2, 5};
  const AttentionInput<double> wide = random_input(umbral("pairs"), e, 9);
  const Results pairs = results<Bfloat16>(umbral("pairs"), wide);
  const Results found = results<Bfloat16>(umbral("intervals"), wide);
  EXPECT_EQ(found.forward.evaluation, Evaluation::intervals);
  EXPECT_LE(difference(found.forward.output, pairs.forward.output), 0x1p-8);
  EXPECT_LE(relative(found.backward.value, pairs.backward.value), 0x1p-7);
}

TEST(IntervalEvaluation, AgreesWithTheReference) {
  for (const char* mask : {"full", "causal", "padding", "window", "segment"}) {
    const Extents e{2, 4, 37, 41, 2, 3};
    const Call call = umbral("intervals", {mask});
    const AttentionInput<double> input = random_input(call, with_key_heads(e, 1), 3);
    const auto expected = reference::evaluate(reference::make_problem(call, input));
    const Answer<double> found = run(call, input);
    EXPECT_EQ(found.forward.evaluation, Evaluation::intervals);
    EXPECT_LE(difference(found.forward.output, expected.output), 1e-12) << mask;
    EXPECT_LE(difference(found.forward.lse, expected.lse), 1e-12) << mask;
    EXPECT_LE(difference(found.weights, expected.weights), 1e-12) << mask;
  }
}

/// Long enough for several tasks and depths of the tree.
TEST(IntervalEvaluation, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const char* mask : {"full", "causal"}) {
    const Extents e{1, 1, 6000, 6000, 2, 3};
    const AttentionInput<double> input = random_input(umbral("pairs"), e, 4);
    const Results one = results<float>(umbral("intervals", {mask}), input);
    const Results many = results<float>(umbral("intervals", {mask}), input, with_threads(64));
    EXPECT_EQ(one.forward.output.data, many.forward.output.data) << mask;
    EXPECT_EQ(one.backward.query.data, many.backward.query.data) << mask;
    EXPECT_EQ(one.backward.key.data, many.backward.key.data) << mask;
    EXPECT_EQ(one.backward.value.data, many.backward.value.data) << mask;
    EXPECT_EQ(one.backward.parameters, many.backward.parameters) << mask;
  }
}

TEST(IntervalEvaluation, EqualsPairsOfLongSequences) {
  const Extents e{1, 1, 5000, 5000, 2, 2};
  const AttentionInput<double> input = input_of(layouts[3], e, 21);
  Execution all;
  for (const char* mask : {"full", "causal"}) {
    const Call pairs = with_numbers(umbral("pairs", {mask}), 3, 0.5);
    const Call intervals = with_numbers(umbral("intervals", {mask}), 3, 0.5);
    expect_equal(results<double>(intervals, input, all), results<double>(pairs, input, all), 1e-12,
                 Sizes(pairs, input));
  }
}

/// Rows of slices of the keys join (merge_rows), and their gradients add up.
TEST(IntervalEvaluation, SlicesOfTheKeysJoin) {
  const Extents e{1, 1, 60, 100, 2, 3};
  const Call call = umbral("intervals", {"causal"});
  const AttentionInput<double> whole = random_input(call, e, 5);
  const auto all = resolve(call, check_extents(whole));
  const Forward<double> expected = forward(*all, whole, one_thread());
  std::optional<Forward<double>> joined;
  for (const std::int64_t first : {0, 40}) {
    const std::int64_t count = first == 0 ? 40 : 60;
    AttentionInput<double> part = whole;
    part.allowed.clear();
    part.key = {whole.key.row(0, 0, first), {1, 1, count, 2}, {0, 0, 2}};
    part.value = {whole.value.row(0, 0, first), {1, 1, count, 3}, {0, 0, 3}};
    part.positions = {0, first, 60, 100};
    const auto plan = resolve(call, check_extents(part));
    const Forward<double> rows = forward(*plan, part, one_thread());
    if (joined) {
      merge_rows(*plan, *joined, rows);
    } else {
      joined = rows;
    }
  }
  EXPECT_LE(difference(joined->output, expected.output), 1e-14);
  EXPECT_LE(difference(joined->lse, expected.lse), 1e-14);
}

/// Numbers that are not finite reach the rows that see them, as pair by pair.
TEST(IntervalEvaluation, LeavesNumbersThatAreNotFiniteToPairs) {
  const Extents e{1, 1, 40, 40, 2, 2};
  AttentionInput<double> input = random_input(umbral("pairs"), e, 6);
  input.value.owned().data[9] = INFINITY;
  const auto plan = resolve(umbral("intervals", {"causal"}), check_extents(input));
  const Forward<double> found = forward(*plan, input, one_thread());
  EXPECT_EQ(found.evaluation, Evaluation::pairs);
  EXPECT_TRUE(std::isfinite(found.output.at(0, 0, 3, 1)));
  EXPECT_EQ(found.output.at(0, 0, 5, 1), INFINITY);
}

TEST(IntervalEvaluation, IsChosenWhereItTakesLessTime) {
  const auto way = [](const Call& call, const Extents& e) {
    const AttentionInput<double> input = random_input(call, e, 8);
    return forward(*resolve(call, check_extents(input)), input, one_thread()).evaluation;
  };
  EXPECT_EQ(way(umbral("auto"), {1, 1, 64, 64, 2, 8}), Evaluation::pairs);
  EXPECT_EQ(way(umbral("auto"), {1, 1, 1000, 1000, 2, 8}), Evaluation::intervals);
  EXPECT_EQ(way(umbral("auto"), {1, 1, 3, 4000, 2, 8}), Evaluation::pairs);
  EXPECT_EQ(way(umbral("auto"), {1, 1, 1000, 1000, 3, 8}), Evaluation::pairs);
  EXPECT_EQ(way(umbral("pairs"), {1, 1, 1000, 1000, 2, 8}), Evaluation::pairs);
  EXPECT_EQ(way(umbral("intervals"), {1, 1, 3, 5, 2, 8}), Evaluation::intervals);
}

TEST(IntervalEvaluation, IsRefusedWhereItDoesNotApply) {
  const auto refused = [](const std::function<void(Call&)>& change, std::int64_t d,
                          const std::string& needs) {
    Call call = umbral("intervals");
    change(call);
    EXPECT_EQ(fixtures::misuse_of([&] {
                return resolve(call, {1, 1, 8, 8, d, 2});
              }),
              "evaluation=intervals needs " + needs);
  };
  refused([](Call&) {}, 3, "d = 2 (found 3)");
  refused([](Call& c) { c.parameters["depth"] = "distance"; }, 2,
          "convention=paper and depth=height");
  refused([](Call& c) { c.bias = "alibi"; }, 2, "no bias (found alibi)");
  refused([](Call& c) { c.masks = {"strided"}; }, 2,
          "masks under which a query sees consecutive keys (found strided)");
  refused([](Call& c) { c.weights = "sigmoid"; }, 2, "weights softmax with axis=key");
  refused([](Call& c) { c.aggregate = "einstein"; }, 2, "aggregate mean");
  refused([](Call& c) { c.parameters["soft_cap"] = 3.0; }, 2, "no soft_cap");
}

}  // namespace
}  // namespace conelab::tests
