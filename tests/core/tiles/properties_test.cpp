// What must hold whatever the numbers: on a thousand random calls each.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/call/composed.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

constexpr int case_count = 1000;

struct RandomCase {
  Variant variant;
  Extents extents;
  Call call;
  AttentionInput<double> input;
};

template <class List>
const auto& any_of(Random& random, const List& list) {
  return list[random.index(list.size())];
}

std::int64_t any_size(Random& random, std::int64_t most) {
  return 1 + static_cast<std::int64_t>(random.index(static_cast<std::size_t>(most)));
}

Parts any_parts(Random& random) {
  static const std::vector<std::string> biases = bias_names();
  static const std::vector<std::vector<std::string>> masks = [] {
    std::vector<std::vector<std::string>> all{{"causal", "padding", "explicit"}};
    for (const std::string& name : mask_names()) all.push_back({name});
    return all;
  }();
  static const std::vector<std::string> weights = weight_words();
  static const std::vector<std::string> aggregates{"mean", "einstein"};
  return {any_of(random, biases), any_of(random, masks), any_of(random, weights),
          any_of(random, aggregates), random.index(2) == 0};
}

RandomCase make_case(std::uint64_t seed, Parts parts, Extents extents) {
  Random random(seed);
  RandomCase c{any_of(random, variants()), extents, {}, {}};
  const std::vector<std::string> taken = bias_names(c.variant.call.similarity);
  const bool takes = std::find(taken.begin(), taken.end(), parts.bias) != taken.end();
  if (!takes || may_be_refused(chosen_parts(c.variant, parts), false)) parts.bias = "none";
  c.call = make_call(c.variant, parts, c.extents);
  c.input = random_input(c.call, c.extents, seed + 1, random.uniform(0.1, 2.5));
  return c;
}

RandomCase any_case(std::uint64_t seed) {
  Random random(seed * 977 + 5);
  const Parts parts = any_parts(random);
  const Extents extents{any_size(random, 2),  any_size(random, 3), any_size(random, 12),
                        any_size(random, 14), any_size(random, 7), any_size(random, 5)};
  return make_case(seed, parts, extents);
}

/// Without masks or positions, so that tokens are a set.
RandomCase set_case(std::uint64_t seed) {
  Random random(seed * 991 + 7);
  Parts parts = any_parts(random);
  parts.bias = "none";
  parts.masks = {"full"};
  const Extents extents{
      1, 1, any_size(random, 12), any_size(random, 14), any_size(random, 7), any_size(random, 5)};
  return make_case(seed, parts, extents);
}

bool same(const Tensor4<double>& a, const Tensor4<double>& b) {
  return a.shape == b.shape && a.data == b.data;
}

/// The rows of `t` in the order of `order`.
Tensor4<double> reordered(const Tensor4<double>& t, const std::vector<std::int64_t>& order) {
  Tensor4<double> result(
      {t.shape.batch, t.shape.head, static_cast<std::int64_t>(order.size()), t.shape.feature});
  for (std::int64_t b = 0; b < t.shape.batch; ++b) {
    for (std::int64_t h = 0; h < t.shape.head; ++h) {
      for (std::size_t i = 0; i < order.size(); ++i) {
        std::copy_n(t.row(b, h, order[i]), t.shape.feature,
                    result.row(b, h, static_cast<std::int64_t>(i)));
      }
    }
  }
  return result;
}

std::vector<std::int64_t> permutation(std::int64_t n, Random& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.index(i)]);
  return order;
}

TEST(Property, RowsOfWeightsSumToOneOrToNothing) {
  for (int seed = 0; seed < case_count; ++seed) {
    const RandomCase c = any_case(static_cast<std::uint64_t>(seed));
    const Answer<double> a = run(c.call, c.input);
    const auto n_k = static_cast<std::size_t>(c.extents.key);
    for (std::size_t row = 0; row < a.forward.lse.data.size(); ++row) {
      const double* weight = a.weights.data.data() + row * n_k;
      const double sum = std::accumulate(weight, weight + n_k, 0.0);
      const double lse = a.forward.lse.data[row];
      ASSERT_TRUE(std::all_of(weight, weight + n_k, [&](double w) {
        return w >= 0 && (w <= 1 + 1e-12 || c.call.weights == "exp");
      }));
      const bool is_one = c.call.weights == "softmax" && !is_over_queries(c.call);
      // The share of a sink, which has no value, is missing.
      const auto sinks = c.input.tensors.find("sinks");
      const auto h = static_cast<std::int64_t>(row) / c.extents.query % c.extents.head;
      const double sink = sinks == c.input.tensors.end() ? -1e300 : *sinks->second.of_head(h, 0);
      const double expected = !is_one ? std::exp(lse) : lse > -1e300 ? 1 - std::exp(sink - lse) : 0;
      ASSERT_NEAR(sum, expected, 1e-12 * std::max(1.0, expected)) << c.variant.name << " " << seed;
    }
  }
}

TEST(Property, ColumnsOfWeightsOverQueriesSumToOneOrToNothing) {
  for (int seed = 0; seed < case_count / 4; ++seed) {
    Random random(static_cast<std::uint64_t>(seed) * 983 + 11);
    Parts parts = any_parts(random);
    parts.weights = "softmax:axis=query";
    const Extents e{1, 2, any_size(random, 12), any_size(random, 14), 4, 2};
    const RandomCase c = make_case(static_cast<std::uint64_t>(seed), parts, e);
    const Answer<double> a = run(c.call, c.input);
    for (std::int64_t h = 0; h < e.head; ++h) {
      for (std::int64_t j = 0; j < e.key; ++j) {
        double sum = 0;
        bool seen = false;
        for (std::int64_t i = 0; i < e.query; ++i) {
          sum += a.weights.at(0, h, i, j);
          seen |= a.logits.at(0, h, i, j) > -1e300;
        }
        ASSERT_NEAR(sum, seen ? 1 : 0, 1e-12) << c.variant.name << " " << seed;
      }
    }
  }
}

TEST(Property, OutputIsTheWeightedMeanOfTheValues) {
  for (int seed = 0; seed < case_count; ++seed) {
    RandomCase c = any_case(static_cast<std::uint64_t>(seed) + 5000);
    if (c.call.parameters.contains("shaw_v")) continue;  // It is added to the values.
    c.call.aggregate = "mean";
    const Answer<double> a = run(c.call, c.input);
    const Extents& e = c.extents;
    Tensor4<double> expected(a.forward.output.shape);
    for (std::int64_t b = 0; b < e.batch; ++b) {
      for (std::int64_t h = 0; h < e.head; ++h) {
        for (std::int64_t i = 0; i < e.query; ++i) {
          for (std::int64_t j = 0; j < e.key; ++j) {
            for (std::int64_t v = 0; v < e.value; ++v) {
              expected.at(b, h, i, v) += a.weights.at(b, h, i, j) * c.input.value.at(b, h, j, v);
            }
          }
        }
      }
    }
    ASSERT_LE(difference(a.forward.output, expected), 1e-12) << c.variant.name << " " << seed;
  }
}

TEST(Property, KeysAreASet) {
  for (int seed = 0; seed < case_count; ++seed) {
    RandomCase c = set_case(static_cast<std::uint64_t>(seed) + 10000);
    const Answer<double> before = run(c.call, c.input);
    Random random(static_cast<std::uint64_t>(seed));
    const auto order = permutation(c.extents.key, random);
    c.input.key = reordered(c.input.key.dense(), order);
    c.input.value = reordered(c.input.value.dense(), order);
    const Answer<double> after = run(c.call, c.input);
    ASSERT_LE(difference(after.forward.output, before.forward.output), 1e-12) << c.variant.name;
    ASSERT_LE(difference(after.forward.lse, before.forward.lse), 1e-12) << c.variant.name;
  }
}

TEST(Property, QueriesAreIndependentOfTheirOrder) {
  for (int seed = 0; seed < case_count; ++seed) {
    RandomCase c = set_case(static_cast<std::uint64_t>(seed) + 20000);
    const Answer<double> before = run(c.call, c.input);
    Random random(static_cast<std::uint64_t>(seed));
    const auto order = permutation(c.extents.query, random);
    c.input.query = reordered(c.input.query.dense(), order);
    const Answer<double> after = run(c.call, c.input);
    ASSERT_LE(difference(after.forward.output, reordered(before.forward.output, order)), 1e-13)
        << c.variant.name;
  }
}

TEST(Property, TheFutureChangesNothingUnderACausalMask) {
  for (int seed = 0; seed < case_count; ++seed) {
    Random random(static_cast<std::uint64_t>(seed) + 30000);
    Parts parts = any_parts(random);
    parts.masks = {"causal"};
    // Weights over queries are shared with later queries.
    if (parts.weights.starts_with("softmax:axis=query")) parts.weights = "softmax:axis=key";
    const std::int64_t n = 2 + any_size(random, 12);
    RandomCase c = make_case(static_cast<std::uint64_t>(seed), parts, {1, 2, n, n, 4, 3});
    const Answer<double> before = run(c.call, c.input);
    const auto changed =
        static_cast<std::int64_t>(1 + random.index(static_cast<std::size_t>(n - 1)));
    const RandomCase other = make_case(static_cast<std::uint64_t>(seed), parts, {1, 2, n, n, 4, 3});
    for (std::int64_t h = 0; h < 2; ++h) {
      for (std::int64_t j = changed; j < n; ++j) {
        // Another key of the same kind, and another value inside the ball.
        std::copy_n(other.input.query.row(0, h, j), 4, c.input.key.owned().row(0, h, j));
        for (std::int64_t v = 0; v < 3; ++v) c.input.value.owned().at(0, h, j, v) *= -0.5;
      }
    }
    const Answer<double> after = run(c.call, c.input);
    for (std::int64_t h = 0; h < 2; ++h) {
      const auto size = changed * 3;
      ASSERT_TRUE(std::equal(before.forward.output.row(0, h, 0),
                             before.forward.output.row(0, h, 0) + size,
                             after.forward.output.row(0, h, 0)))
          << c.variant.name << " n " << n << " from " << changed;
    }
  }
}

TEST(Property, LogitsAreSymmetricInQueryAndKey) {
  for (int seed = 0; seed < case_count; ++seed) {
    RandomCase c = set_case(static_cast<std::uint64_t>(seed) + 40000);
    if (find_composed(c.call.similarity) != nullptr) continue;  // It maps both sides differently.
    // The published penumbral code treats query and key differently by its epsilon.
    const bool published = c.variant.name.find("penumbral_reference") == 0;
    const Answer<double> one = run(c.call, c.input);
    std::swap(c.input.query, c.input.key);
    c.input.value = Tensor4<double>({1, 1, c.extents.query, 1}, 0.5);
    c.input.output_grad = {};
    c.input.allowed.clear();
    c.input.key_lengths.clear();
    const Answer<double> other = run(c.call, c.input);
    for (std::int64_t i = 0; i < c.extents.query; ++i) {
      for (std::int64_t j = 0; j < c.extents.key; ++j) {
        const double a = one.logits.at(0, 0, i, j);
        ASSERT_NEAR(a, other.logits.at(0, 0, j, i),
                    (published ? 1e-2 : 1e-12) * std::max(1.0, std::abs(a)))
            << c.variant.name;
      }
    }
  }
}

TEST(Property, HeadsAndBatchElementsAreIndependent) {
  for (int seed = 0; seed < case_count; ++seed) {
    Random random(static_cast<std::uint64_t>(seed) + 50000);
    Parts parts = any_parts(random);
    parts.per_head = false;
    const Extents e{2, 2, any_size(random, 9), any_size(random, 11), 3, 2};
    const RandomCase c = make_case(static_cast<std::uint64_t>(seed), parts, e);
    const Answer<double> all = run(c.call, c.input);
    const Answer<double> alone = run(c.call, input_of_head(c.input, 1, 1));
    ASSERT_TRUE(same(alone.forward.output, head_of(all.forward.output, 1, 1))) << c.variant.name;
    ASSERT_TRUE(same(alone.forward.lse, head_of(all.forward.lse, 1, 1))) << c.variant.name;
  }
}

TEST(Property, AListOfOneValuePerHeadIsThatValueInEachHead) {
  for (int seed = 0; seed < 300; ++seed) {
    Random random(static_cast<std::uint64_t>(seed) + 60000);
    Parts parts = any_parts(random);
    parts.per_head = true;
    const Extents e{1, 3, 5, 6, 3, 2};
    const RandomCase c = make_case(static_cast<std::uint64_t>(seed), parts, e);
    const Answer<double> all = run(c.call, c.input);
    Call call = c.call;
    for (auto& [key, value] : call.parameters) {
      if (!value.lists().empty()) value = value.lists().back().back();
    }
    const AttentionInput<double> one = input_of_head(c.input, 0, 2);
    ASSERT_TRUE(same(run(call, one).forward.output, head_of(all.forward.output, 0, 2)))
        << c.variant.name;
  }
}

TEST(Property, OneQueryIsTheLastRowOfAll) {
  // Decoding: the last query alone gives the row of the full causal call.
  for (int seed = 0; seed < case_count; ++seed) {
    Random random(static_cast<std::uint64_t>(seed) + 70000);
    Parts parts = any_parts(random);
    parts.masks = {"causal", random.index(2) == 0 ? "window" : "full"};
    if (parts.weights.starts_with("softmax:axis=query")) parts.weights = "softmax:axis=key";
    const std::int64_t n = any_size(random, 20);
    const RandomCase c = make_case(static_cast<std::uint64_t>(seed), parts, {1, 2, n, n, 3, 2});
    const Answer<double> all = run(c.call, c.input);
    AttentionInput<double> decode{
        reordered(c.input.query.dense(), {n - 1}), c.input.key, c.input.value, {}, {}, {}};
    decode.tensors = c.input.tensors;
    if (const auto bias = decode.tensors.find("bias"); bias != decode.tensors.end()) {
      bias->second = {{1, n}, {bias->second.data.end() - n, bias->second.data.end()}};
    }
    const Answer<double> last = run(c.call, decode);
    ASSERT_LE(difference(last.forward.output, reordered(all.forward.output, {n - 1})), 1e-13)
        << c.variant.name;
  }
}

void expect_the_same_of_four_threads(const Variant& variant, const std::string& weights) {
  for (const char* mask : {"causal", "strided"}) {
    const Extents e{2, 3, 160, 150, 5, 3};  // Long enough for threads: alone_if_short.
    const Call call = make_call(variant, {"alibi", {mask}, weights, "mean", true}, e);
    const AttentionInput<double> input = random_input(call, e, 71);
    const auto plan = resolve(call, e);
    const Execution one = one_thread(), four = with_threads(4);
    const Forward<double> a = forward(*plan, input, one), b = forward(*plan, input, four);
    EXPECT_TRUE(same(a.output, b.output) && same(a.lse, b.lse)) << variant.name;
    const Backward<double> c = backward(*plan, input, a, one), d = backward(*plan, input, b, four);
    EXPECT_TRUE(same(c.query, d.query) && same(c.key, d.key) && same(c.value, d.value))
        << variant.name;
    EXPECT_EQ(c.parameters, d.parameters) << variant.name;
  }
}

TEST(Property, ShortRunsStayOnTheCallingThread) {
  const Execution run = with_threads(4);
  EXPECT_EQ(alone_if_short({1, 4, 64, 64, 16, 16}, 1, run).threads, 1);
  EXPECT_EQ(alone_if_short({1, 4, 128, 128, 16, 16}, 1, run).threads, 4);
}

TEST(Property, ResultsDoNotDependOnTheNumberOfThreads) {
  for (const Variant& variant : variants()) {
    expect_the_same_of_four_threads(variant, "softmax");
    expect_the_same_of_four_threads(variant, "softmax:axis=query");
  }
}

TEST(Property, AnOffsetCancelsUnderSoftmaxOnly) {
  Call call = call_from_text("hyperbolic");
  const Extents e{1, 1, 9, 11, 4, 3};
  const AttentionInput<double> input = random_input(call, e, 73);
  Call shifted = call;
  shifted.parameters["offset"] = "2.5";
  EXPECT_LE(difference(run(shifted, input).weights, run(call, input).weights), 1e-14);
  call.weights = shifted.weights = "sigmoid";
  EXPECT_GT(difference(run(shifted, input).weights, run(call, input).weights), 1e-3);
}

template <class T>
void expect_midpoints_of_exponentials(const char* offset, const char* mask, double tolerance) {
  Call call = call_from_text("hyperbolic");
  call.parameters["offset"] = offset;
  call.value_map = "lift";
  call.aggregate = "einstein";
  call.masks = {mask};
  give_mask_parameters(call);
  const Extents e{1, 1, 9, 11, 4, 3};
  const auto input = convert<T>(random_input(call, e, 74));
  Call exponential = call;
  call.weights = "sigmoid";
  exponential.weights = "exp";
  const auto plan = resolve(call, e), other = resolve(exponential, e);
  const Forward<T> a = forward(*plan, input), b = forward(*other, input);
  EXPECT_LE(difference(a.output, b.output), tolerance) << offset << mask;
  EXPECT_LE(difference(a.lse, b.lse), tolerance) << offset << mask;
  const Backward<T> da = backward(*plan, input, a), db = backward(*other, input, b);
  EXPECT_LE(difference(da.query, db.query), 100 * tolerance) << offset << mask;
  EXPECT_LE(difference(da.key, db.key), 100 * tolerance) << offset << mask;
  EXPECT_LE(difference(da.value, db.value), 100 * tolerance) << offset << mask;
}

/// e^x is within 1e-20 of the sigmoid of x below -50. Weights far below the smallest number of the
/// type are as good as others, because the midpoint does not depend on their scale.
TEST(Property, MidpointsOfSmallSigmoidsAreThoseOfExponentials) {
  for (const char* mask : {"full", "strided"}) {
    for (const char* offset : {"50", "300", "4000"}) {
      expect_midpoints_of_exponentials<double>(offset, mask, 1e-12);
      expect_midpoints_of_exponentials<float>(offset, mask, 2e-6);
    }
  }
}

}  // namespace
}  // namespace conelab::tests
