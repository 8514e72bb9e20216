// Backward against central differences of the reference, through the map and for every parameter.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/call/composed.h"
#include "core/reference/evaluate.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

using reference::Difference;
using reference::Problem;
using reference::Real;

constexpr double tolerance = 1e-6;

/// Points at kinks are counted, not compared: a tie or border within the step of the difference.
struct Count {
  int compared = 0;
  int skipped = 0;
};

void expect_slope(double found, const Difference& expected, double scale, const std::string& what,
                  Count& count) {
  if (!expected.smooth) {
    ++count.skipped;
    return;
  }
  ++count.compared;
  EXPECT_NEAR(found, expected.slope, tolerance * std::max(std::abs(expected.slope), scale)) << what;
}

template <class T>
Backward<T> slopes_of(const Plan& plan, const AttentionInput<T>& input) {
  return backward(plan, input, forward(plan, input, one_thread()), one_thread());
}

double largest(const Tensor4<double>& t) {
  double most = 0;
  for (const double x : t.data) most = std::max(most, std::abs(x));
  return most;
}

void expect_tensor(const Problem& problem, Tensor4<Real>& x, const Tensor4<double>& found,
                   const std::string& name, Count& count) {
  ASSERT_EQ(found.shape, x.shape) << name;
  // An element far below the others is compared on the scale of a thousandth of the largest, one of
  // a tensor that is 0 but for rounding within 1e-14.
  const double scale = std::max(1e-3 * largest(found), 1e-8);
  for (std::size_t i = 0; i < x.data.size(); ++i) {
    expect_slope(found.data[i], central_difference(problem, x.data[i]), scale,
                 fmt::format("{} {}", name, i), count);
  }
}

void expect_parameters(const Plan& plan, Problem& problem, const Backward<double>& found,
                       Count& count) {
  for (const Parameter& p : plan.parameters) {
    if (!p.info.differentiable || !p.is_number()) continue;
    const std::string key = p.info.key;
    const bool by_axis = !p.extents.empty();
    ASSERT_EQ(by_axis ? found.tensors.count(key) : found.parameters.count(key), 1u) << key;
    const std::vector<double>& slopes =
        by_axis ? found.tensors.at(key).data : found.parameters.at(key);
    ASSERT_EQ(slopes.size(), p.values.size()) << key;
    std::vector<Real>& values = problem.numbers.at(key);
    ASSERT_EQ(values.size(), p.values.size()) << key;
    for (std::size_t i = 0; i < values.size(); ++i) {
      expect_slope(slopes[i], central_difference(problem, values[i]), 1e-3,
                   fmt::format("{} {}", key, i), count);
    }
  }
}

void expect_tensors(const Plan& plan, Problem& problem, const Backward<double>& found,
                    Count& count) {
  for (const Parameter& p : plan.parameters) {
    if (p.is_number() || !p.info.differentiable || p.extents.empty()) continue;
    ASSERT_EQ(found.tensors.count(p.info.key), 1u) << p.info.key;
    const Array<double>& slopes = found.tensors.at(p.info.key);
    ASSERT_EQ(slopes.extents, p.extents) << p.info.key;
    Array<Real>& x = problem.tensors.at(p.info.key);
    for (std::size_t i = 0; i < x.data.size(); ++i) {
      expect_slope(slopes.data[i], central_difference(problem, x.data[i]), 1e-3,
                   fmt::format("{} {}", p.info.key, i), count);
    }
  }
}

Count expect_gradients(const Call& call, const AttentionInput<double>& input) {
  const auto plan = resolve(call, check_extents(input));
  const Backward<double> found = slopes_of(*plan, input);
  Problem problem = reference::make_problem(call, input);
  Count count;
  expect_tensor(problem, problem.query, found.query, "query", count);
  expect_tensor(problem, problem.key, found.key, "key", count);
  expect_tensor(problem, problem.value, found.value, "value", count);
  expect_parameters(*plan, problem, found, count);
  expect_tensors(*plan, problem, found, count);
  return count;
}

const std::vector<Parts>& gradient_parts() {
  static const std::vector<Parts> parts{
      {},
      {"alibi", {"causal"}, "softmax", "mean", true},
      {"hype", {"window"}, "softmax", "einstein", true},
      {"hype", {"explicit", "padding"}, "sigmoid", "mean", false},
      {"alibi", {"causal"}, "sigmoid", "einstein", false},
      {"alibi", {"window"}, "softmax:axis=query", "mean", true},
      {"explicit", {"causal"}, "softmax:sinks=random:soft_cap=1", "mean", true},
      {"none", {"strided"}, "softmax:sinks=random:soft_cap=1", "einstein", false},
      {"alibi", {"full"}, "softmax:axis=query:soft_cap=1", "mean", true}};
  return parts;
}

class Gradient : public testing::TestWithParam<Variant> {};

TEST_P(Gradient, IsThatOfTheReference) {
  Count all;
  std::uint64_t seed = 23;
  for (const Parts& parts : gradient_parts()) {
    const Extents extents = with_key_heads({1, 2, 4, 6, 4, 3}, seed);
    SCOPED_TRACE(parts.bias + " " + parts.weights + " " + parts.aggregate);
    const Call call = make_call(GetParam(), parts, extents);
    const Count count = expect_gradients(call, random_input(call, extents, ++seed));
    all.compared += count.compared;
    all.skipped += count.skipped;
  }
  EXPECT_GT(all.compared, 300);
  EXPECT_LE(all.skipped, all.compared / 20);
}

TEST_P(Gradient, IsThatOfTheReferenceInTwoDimensionsAndOverBatches) {
  const Extents extents{2, 1, 3, 5, 2, 1};
  const Call call = make_call(GetParam(), {"none", {"padding"}, "softmax", "mean", false}, extents);
  const Count count = expect_gradients(call, random_input(call, extents, 31, 0.75));
  EXPECT_LE(count.skipped, 2);
}

TEST_P(Gradient, HoldsAtTheDefaultsOfEveryParameter) {
  const Extents extents{1, 2, 3, 4, 3, 2};
  Call call = GetParam().call;
  call.bias = "alibi";
  // Of this seed no pair lies within the differences' reach of a kink, so every slope is compared.
  const Count count = expect_gradients(call, random_input(call, extents, 38, 0.5));
  EXPECT_EQ(count.skipped, 0);
  EXPECT_GT(count.compared, 20);
}

TEST_P(Gradient, OfSpreadTokensSeesEveryBranch) {
  // Wide tokens leave each other's cones, low ones stay in: both branches are among these.
  const Extents extents{1, 1, 5, 7, 5, 1};
  const Call call = make_call(GetParam(), {}, extents);
  for (const double spread : {0.1, 0.4, 3.0}) {
    SCOPED_TRACE(spread);
    const Count count = expect_gradients(call, random_input(call, extents, 41, spread));
    EXPECT_LE(count.skipped, 5);
  }
}

TEST_P(Gradient, OfAMissingUpstreamGradientIsThatOfOnes) {
  const Extents extents{1, 1, 4, 5, 3, 2};
  const Call call = make_call(GetParam(), {}, extents);
  AttentionInput<double> input = random_input(call, extents, 43);
  const auto plan = resolve(call, extents);
  const Forward<double> saved = forward(*plan, input);
  input.output_grad = {};
  const Backward<double> missing = backward(*plan, input, saved);
  input.output_grad = Tensor4<double>({1, 1, 4, 2}, 1);
  const Backward<double> ones = backward(*plan, input, saved);
  EXPECT_EQ(missing.query.data, ones.query.data);
  EXPECT_EQ(missing.value.data, ones.value.data);
}

/// Agreement to 1e-4 of the largest slope.
void expect_near(const Tensor4<float>& found, const Tensor4<double>& exact, const char* name) {
  const double scale = largest(exact);
  for (std::size_t i = 0; i < exact.data.size(); ++i) {
    ASSERT_NEAR(found.data[i], exact.data[i], 1e-4 * scale) << name << " " << i;
  }
}

TEST_P(Gradient, InFloat32IsThatInFloat64) {
  const Extents extents{1, 2, 65, 97, 8, 5};
  const Call call = make_call(GetParam(), {"alibi", {"causal"}, "softmax", "mean", true}, extents);
  const AttentionInput<float> input = convert<float>(random_input(call, extents, 47));
  const AttentionInput<double> wide = convert<double>(input);
  const auto plan = resolve(call, extents);
  const Backward<float> narrow = slopes_of(*plan, input);
  const Backward<double> exact = slopes_of(*plan, wide);
  expect_near(narrow.query, exact.query, "query");
  expect_near(narrow.key, exact.key, "key");
  expect_near(narrow.value, exact.value, "value");
  for (const auto& [key, slopes] : exact.parameters) {
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      EXPECT_NEAR(narrow.parameters.at(key)[i], slopes[i],
                  1e-4 * std::max(1.0, std::abs(slopes[i])))
          << key;
    }
  }
}

TEST_P(Gradient, AcrossTilesIsThatOfTheReference) {
  // A handful of numbers of a head that spans several tiles.
  const Extents extents{1, 1, 70, 140, 3, 2};
  const Call call = make_call(GetParam(), {"alibi", {"causal"}, "softmax", "mean", false}, extents);
  const AttentionInput<double> input = random_input(call, extents, 53);
  const auto plan = resolve(call, extents);
  const Backward<double> found = slopes_of(*plan, input);
  Problem problem = reference::make_problem(call, input);
  const double scale = 1e-2 * largest(found.key);
  Count count;
  for (const std::size_t i : {0u, 205u}) {
    expect_slope(found.query.data[i], central_difference(problem, problem.query.data[i]), scale,
                 "query", count);
    expect_slope(found.key.data[i], central_difference(problem, problem.key.data[i]), scale, "key",
                 count);
  }
  EXPECT_LE(count.skipped, 2);
}

/// Any two parts together.
TEST_P(Gradient, OfAnyTwoPartsIsThatOfTheReference) {
  Count all;
  std::uint64_t seed = 500;
  for (const Parts& parts : pairwise_parts()) {
    const Extents extents = with_key_heads({1, 2, 3, 5, 4, 3}, seed);
    SCOPED_TRACE(fmt::format("bias {} mask {} {} {} {} {}", parts.bias, parts.masks.front(),
                             parts.weights, parts.value_map, parts.aggregate, parts.position));
    try {
      const Call call = make_call(GetParam(), parts, extents);
      const Count count = expect_gradients(call, random_input(call, extents, ++seed, 0.75));
      all.compared += count.compared;
      all.skipped += count.skipped;
    } catch (const Error& error) {
      EXPECT_TRUE(may_be_refused(chosen_parts(GetParam(), parts), true)) << error.what();
    }
  }
  EXPECT_GT(all.compared, 900);
  EXPECT_LE(all.skipped, all.compared / 20);
}

/// Every bias and every mask of the tables, each with a similarity of products and one of
/// distances.
TEST(GradientOfParts, IsThatOfTheReference) {
  std::uint64_t seed = 71;
  for (const char* similarity : {"dot", "umbral"}) {
    const Variant variant{similarity, call_from_text(similarity)};
    const auto check = [&](const Parts& parts) {
      SCOPED_TRACE(fmt::format("{} bias {} mask {}", similarity, parts.bias, parts.masks.front()));
      const Extents extents = with_key_heads({1, 2, 9, 11, 4, 3}, seed);
      const Call call = make_call(variant, parts, extents);
      const Count count = expect_gradients(call, random_input(call, extents, ++seed));
      EXPECT_GT(count.compared, 100);
    };
    for (const std::string& bias : bias_names()) check({bias, {"full"}, "softmax", "mean", true});
    for (const std::string& mask : mask_names()) {
      check({"alibi", {mask}, "softmax", "mean", true});
      check({"t5", {mask, "causal"}, "sigmoid", "einstein", false});
    }
  }
}

/// Relative positions of keys and values, of tables that heads share and of such that they do not.
TEST(GradientOfRelativePositions, IsThatOfTheReference) {
  std::uint64_t seed = 131;
  for (const Extents& extents : {Extents{2, 2, 6, 9, 4, 3}, Extents{1, 2, 9, 5, 4, 3}}) {
    for (const char* text :
         {"dot:shaw_v=random:shaw_k=random:clip=2:scale=0.5,0.75", "dot:shaw_v=random:clip=3",
          "relation:shaw_v=random:shaw_k=random:weights=exp", "multiplicative:shaw_v=random",
          "additive:shaw_v=random:masks=causal", "gat:shaw_v=random:clip=3",
          "penumbral:shaw_v=random:shaw_k=random:clip=0:masks=causal",
          "laplacian:shaw_v=random:shaw_k=random:clip=20:weights=sigmoid",
          "umbral:shaw_v=random:shaw_k=random:clip=2:weights=exp",
          "dot:shaw_v=random:shaw_k=random:clip=2:masks=strided:stride=2",
          "hyperbolic:shaw_v=random:shaw_k=random:clip=1:masks=segment:segment=3",
          "dot:shaw_k=random:clip=2:position=rope:weights=softmax:axis=query"}) {
      SCOPED_TRACE(text);
      Call call = call_from_text(text);
      call.bias = "shaw";
      AttentionInput<double> input = random_input(call, extents, ++seed);
      const Count count = expect_gradients(call, input);
      EXPECT_GT(count.compared, 90);
      for (auto& entry : input.tensors) {
        Array<double>& tensor = entry.second;
        const std::vector<double> shared = tensor.data;
        tensor.extents.insert(tensor.extents.begin(), 2);
        tensor.data.insert(tensor.data.end(), shared.rbegin(), shared.rend());
      }
      (void)expect_gradients(call, input);
    }
  }
}

TEST(GradientOfRelativePositions, IsTheSameOfFourThreads) {
  const Extents extents{1, 2, 300, 700, 5, 3};
  const Call call = call_from_text("dot:bias=shaw:shaw_v=random:shaw_k=random:clip=9");
  const AttentionInput<float> input = convert<float>(random_input(call, extents, 151));
  const auto plan = resolve(call, check_extents(input));
  const Execution one = one_thread(), four = with_threads(4);
  const Forward<float> saved = forward(*plan, input, one);
  EXPECT_EQ(saved.output.data, forward(*plan, input, four).output.data);
  const Backward<float> a = backward(*plan, input, saved, one);
  const Backward<float> b = backward(*plan, input, saved, four);
  EXPECT_EQ(a.query.data, b.query.data);
  EXPECT_EQ(a.key.data, b.key.data);
  EXPECT_EQ(a.tensors, b.tensors);
  EXPECT_EQ(a.parameters, b.parameters);
}

/// Every law of weights with every value map and aggregate, under masks of tiles and of lists.
TEST(GradientOfWeights, IsThatOfTheReference) {
  const Extents extents{1, 2, 7, 6, 3, 3};
  std::uint64_t seed = 171;
  for (const char* similarity : {"dot", "hyperbolic"}) {
    const Variant variant{similarity, call_from_text(similarity)};
    for (const std::string& weights : weight_words()) {
      for (const std::string& value_map : value_map_names()) {
        for (const char* mask : {"explicit", "strided"}) {
          for (const char* aggregate : {"mean", "einstein"}) {
            SCOPED_TRACE(
                fmt::format("{} {} {} {} {}", similarity, weights, value_map, mask, aggregate));
            const Parts parts{"alibi", {mask}, weights, aggregate, false, value_map};
            const Call call = make_call(variant, parts, extents);
            const Count count = expect_gradients(call, random_input(call, extents, ++seed));
            EXPECT_GT(count.compared, 60);
          }
        }
      }
    }
  }
}

/// Every position, alone and after the projection of a composed similarity.
TEST(GradientOfPositions, IsThatOfTheReference) {
  const Extents extents = with_key_heads({1, 2, 5, 7, 4, 3}, 1);
  for (const PartInfo& position : list_positions()) {
    for (const char* similarity : {"dot", "multiplicative", "additive", "gat", "penumbral"}) {
      SCOPED_TRACE(position.name + " " + similarity);
      Variant variant{similarity, call_from_text(similarity)};
      variant.call.position = position.name;
      const Call call = make_call(variant, {"alibi", {"causal"}, "softmax", "mean", true}, extents);
      (void)expect_gradients(call, random_input(call, extents, 83));
    }
  }
}

TEST(GradientOfProjections, IsThatOfTheReference) {
  const Extents extents = with_key_heads({2, 2, 5, 7, 4, 3}, 1);
  for (const char* text : {"dot:bias=alibi:masks=causal", "penumbral:position=rope",
                           "dot:bias=shaw:shaw_v=random:shaw_k=random:clip=2",
                           "laplacian:weights=sigmoid:aggregate=einstein"}) {
    for (const bool joins_heads : {false, true}) {
      SCOPED_TRACE(text);
      const Call call = call_from_text(text);
      AttentionInput<double> input = projected_input(call, extents, 89, joins_heads);
      for (double& x : input.tensors.at("P_value").data) x *= 0.5;
      const Count count = expect_gradients(call, input);
      EXPECT_GT(count.compared, 250);
      EXPECT_LE(count.skipped, 5);
    }
  }
}

/// HyPE on a sequence and on grids, as a bias and as columns of q and k.
TEST(GradientOfHype, IsThatOfTheReference) {
  const Extents extents{2, 2, 10, 12, 4, 3};
  std::uint64_t seed = 91;
  for (const char* numbers :
       {"hype_mu=0.1,0.2:hype_tau=-1,0.5", "grid=3x4",
        "grid=3x4:hype_mu=0.3,0.1;0.2,0.25:hype_tau=-1,0.5;0.75,-0.5:scale=0.4,0.9",
        "grid=2x3x2:hype_mu=0.3,0.1,0.2:hype_tau=-1:masks=causal"}) {
    for (const char* form : {"bias", "columns"}) {
      for (const char* similarity : {"dot", "multiplicative"}) {
        if (std::string(similarity) != "dot" &&
            std::string(numbers).find("scale") != std::string::npos)
          continue;
        const Call call = with_random_tensors(
            call_from_text(fmt::format("{}:bias=hype:hype_form={}:{}", similarity, form, numbers)));
        SCOPED_TRACE(call_text(call));
        const Count count = expect_gradients(call, random_input(call, extents, ++seed));
        EXPECT_GT(count.compared, 100);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Similarity, Gradient, testing::ValuesIn(variants()), variant_name);

TEST(GradientAtKinks, IsFinite) {
  // Tokens on top of each other: D = 0 has no slope.
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.name);
    const Extents extents{1, 1, 3, 3, 4, 2};
    const Call call = make_call(variant, {}, extents);
    AttentionInput<double> input = random_input(call, extents, 59);
    input.key = input.query;
    const auto plan = resolve(call, extents);
    const Backward<double> found = slopes_of(*plan, input);
    for (const auto* t : {&found.query, &found.key, &found.value}) {
      for (const double x : t->data) EXPECT_TRUE(std::isfinite(x));
    }
  }
}

TEST(GradientAtKinks, SplitsTiesEqually) {
  // One pair of equal tokens: whatever moves the logit belongs to both alike. (A composed
  // similarity maps both sides differently.)
  for (const Variant& variant : variants()) {
    if (find_composed(variant.call.similarity) != nullptr) continue;
    SCOPED_TRACE(variant.name);
    const Extents extents{1, 1, 1, 1, 4, 1};
    const Call call = make_call(variant, {"none", {"full"}, "sigmoid", "mean", false}, extents);
    AttentionInput<double> input = random_input(call, extents, 60);
    input.key = input.query;
    const Backward<double> found = slopes_of(*resolve(call, extents), input);
    for (std::size_t i = 0; i < found.query.data.size(); ++i) {
      EXPECT_NEAR(found.query.data[i], found.key.data[i], 1e-14) << i;
    }
  }
}

TEST(GradientAtKinks, UmbralTiesShareTheHeight) {
  // One pair under sigmoid weights: dL/dheight = -gamma w (1 - w) v, half to each of two equal
  // heights.
  const Call call = call_from_text("umbral:map=none:weights=sigmoid");
  AttentionInput<double> input;
  input.query = Tensor4<double>({1, 1, 1, 2}, 0.5);
  input.key = input.query;
  input.value = Tensor4<double>({1, 1, 1, 1}, 1.0);
  const auto plan = resolve(call, check_extents(input));
  const Backward<double> found = slopes_of(*plan, input);
  const double w = 1 / (1 + std::exp(0.5));
  EXPECT_NEAR(found.query.data[1], -0.5 * w * (1 - w), 1e-15);
  EXPECT_NEAR(found.key.data[1], -0.5 * w * (1 - w), 1e-15);
  EXPECT_EQ(found.query.data[0], 0);
}

TEST(GradientAtKinks, OffsetHasNoneUnderSoftmax) {
  const Call call = call_from_text("hyperbolic");
  const Extents extents{1, 1, 6, 9, 4, 2};
  const AttentionInput<double> input = random_input(call, extents, 61);
  const auto plan = resolve(call, extents);
  const Backward<double> found = slopes_of(*plan, input);
  EXPECT_NEAR(found.parameters.at("offset").at(0), 0, 1e-14);
}

}  // namespace
}  // namespace conelab::tests
