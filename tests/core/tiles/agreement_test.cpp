// Fast = reference: every part, every size around the tiles' edges, every SIMD target, both types.
#include <gtest/gtest.h>

#include <array>

#include "core/base/error.h"
#include "core/call/call.h"
#include "core/simd/kernels.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

constexpr double float_tolerance = 1e-5;
constexpr double double_tolerance = 1e-12;

const std::vector<Parts>& all_parts() {
  static const std::vector<Parts> parts{
      {},
      {"alibi", {"causal"}, "softmax", "mean", true},
      {"hype", {"window", "causal"}, "softmax", "einstein", true},
      {"none", {"explicit", "padding"}, "softmax", "mean", false},
      {"t5", {"padding"}, "sigmoid", "mean", true},
      {"none", {"strided", "window"}, "softmax", "einstein", true},
      {"t5", {"graph", "causal"}, "softmax", "mean", false},
      {"alibi", {"window", "explicit"}, "sigmoid", "einstein", false},
      {"none", {"padding"}, "exp", "mean", true},
      {"t5", {"causal"}, "exp", "einstein", false},
      {"none", {"full"}, "softmax:axis=query", "mean", false},
      {"hype", {"window", "explicit"}, "softmax:axis=query", "einstein", true},
      {"alibi", {"graph"}, "softmax:axis=query", "mean", true, "lift"},
      {"alibi", {"causal"}, "softmax:soft_cap=1", "mean", true},
      {"explicit", {"graph"}, "softmax:sinks=random:soft_cap=1", "mean", true},
      {"explicit", {"window"}, "softmax:axis=query:soft_cap=1", "einstein", false},
      {"none", {"full"}, "sigmoid:soft_cap=1", "mean", false}};
  return parts;
}

std::string describe(const Parts& parts, const Extents& e) {
  return fmt::format("bias {}, mask {}, {}, {}, n_q {}, n_k {}, d {}, d_v {}", parts.bias,
                     parts.masks.front(), parts.weights, parts.aggregate, e.query, e.key, e.feature,
                     e.value);
}

/// Returns the factor by which errors of weights may exceed those of logits, which are compared
/// relative to their magnitude. It is 1 for weights that are at most 1. A weight e^logit has the
/// absolute error of its logit as its relative error, and so do sums of such weights.
double weight_error_factor(const Call& call, const Tensor4<reference::Real>& logits) {
  reference::Real largest = 1;
  if (call.weights != "exp") return 1;
  for (const reference::Real logit : logits.data) largest = std::max(largest, logit);
  return static_cast<double>(largest);
}

template <class T>
void expect_agreement(const Call& call, const AttentionInput<double>& wide, double tolerance,
                      const Execution& execution = one_thread()) {
  const AttentionInput<T> input = convert<T>(wide);
  // The reference sees the numbers that the engine sees, rounded to T.
  const auto expected = reference::evaluate(reference::make_problem(call, convert<double>(input)));
  const Answer<T> found = run(call, input, execution);
  EXPECT_LE(difference(found.logits, expected.logits), tolerance) << "logits";
  const double of_weights = tolerance * weight_error_factor(call, expected.logits);
  EXPECT_LE(difference(found.weights, expected.weights), of_weights) << "weights";
  EXPECT_LE(difference(found.forward.output, expected.output), of_weights) << "output";
  EXPECT_LE(difference(found.forward.lse, expected.lse), tolerance) << "lse";
}

void expect_agreement(const Call& call, const AttentionInput<double>& input) {
  expect_agreement<double>(call, input, double_tolerance);
  expect_agreement<float>(call, input, float_tolerance);
}

bool is_finite_family(const Variant& variant) {
  const std::string& name = variant.call.similarity;
  return name == "ganea" || name.find("finite") != std::string::npos;
}

class Agreement : public testing::TestWithParam<Variant> {};

TEST_P(Agreement, OfEveryPart) {
  std::size_t turn = 0;
  for (const Parts& parts : all_parts()) {
    const Extents extents = with_key_heads({2, 4, 19, 37, 5, 3}, turn++);
    SCOPED_TRACE(describe(parts, extents));
    const Call call = make_call(GetParam(), parts, extents);
    const AttentionInput<double> input = random_input(call, extents, 7);
    expect_agreement(call, input);
  }
}

/// Any two parts together, on small sizes.
TEST_P(Agreement, OfAnyTwoParts) {
  std::uint64_t seed = 400;
  int compared = 0;
  for (const Parts& parts : pairwise_parts()) {
    const Extents extents = with_key_heads({1, 2, 7, 9, 4, 3}, seed);
    SCOPED_TRACE(describe(parts, extents) + " " + parts.value_map + " " + parts.position);
    try {
      const Call call = make_call(GetParam(), parts, extents);
      const AttentionInput<double> input = random_input(call, extents, ++seed, 0.75);
      expect_agreement(call, input);
      ++compared;
    } catch (const Error& error) {
      EXPECT_TRUE(may_be_refused(chosen_parts(GetParam(), parts), false)) << error.what();
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    }
  }
  EXPECT_GE(compared, 20);
}

/// Every bias and every mask of the tables, alone and joined, sparse masks over several tiles.
TEST(AgreementOfParts, OfEveryBiasAndMask) {
  std::size_t turn = 0;
  for (const char* similarity : {"dot", "laplacian", "penumbral", "multiplicative", "additive"}) {
    const Variant variant{similarity, call_from_text(similarity)};
    for (const std::string& bias : bias_names(similarity)) {
      for (const std::string& mask : mask_names()) {
        const Extents extents = with_key_heads({1, 2, 130, 150, 5, 3}, ++turn);
        const Parts parts{bias, {mask}, mask == "graph" ? "sigmoid" : "softmax", "mean", true};
        SCOPED_TRACE(std::string(similarity) + ": " + describe(parts, extents));
        const Call call = make_call(variant, parts, extents);
        const AttentionInput<double> input = random_input(call, extents, 29);
        expect_agreement(call, input);
      }
    }
  }
}

/// Every law of weights and every value map of the tables, over tiles and sparse masks, with fewer
/// queries than keys and with more.
TEST(AgreementOfParts, OfEveryWeightsAndValueMap) {
  for (const Extents& extents : {Extents{1, 2, 70, 150, 5, 4}, Extents{1, 1, 100, 40, 5, 4}}) {
    for (const char* similarity : {"dot", "hyperbolic", "multiplicative"}) {
      const Variant variant{similarity, call_from_text(similarity)};
      for (const std::string& weights : weight_words()) {
        for (const std::string& value_map : value_map_names()) {
          for (const char* mask : {"full", "causal", "strided"}) {
            const char* aggregate = value_map == "none" ? "mean" : "einstein";
            const Parts parts{"t5", {mask}, weights, aggregate, true, value_map};
            SCOPED_TRACE(std::string(similarity) + ": " + describe(parts, extents) + value_map);
            const Call call = make_call(variant, parts, extents);
            const AttentionInput<double> input = random_input(call, extents, 37, 0.75);
            expect_agreement(call, input);
          }
        }
      }
    }
  }
}

/// The parameters of a part, with every word of its choices once.
std::vector<std::map<std::string, std::string>> choices_of_part(const PartInfo& part) {
  std::vector<std::map<std::string, std::string>> all{{}};
  for (const ParameterInfo& p : part.parameters) {
    if (p.domain != Domain::choice) continue;
    for (const std::string& word : choice_words(p)) all.push_back({{p.key, word}});
  }
  return all;
}

TEST(AgreementOfParts, OfEveryPosition) {
  for (const Extents& extents : {Extents{2, 3, 19, 37, 6, 3}, Extents{1, 1, 3, 500, 4, 2},
                                 with_key_heads({1, 4, 21, 9, 4, 3}, 1)}) {
    for (const PartInfo& position : list_positions()) {
      for (const auto& choice : choices_of_part(position)) {
        for (const char* text :
             {"dot", "multiplicative", "additive", "gat", "penumbral:masks=causal", "umbral"}) {
          Call call = with_random_tensors(call_from_text(text));
          call.position = position.name;
          for (const auto& [key, word] : choice) call.parameters[key] = word;
          SCOPED_TRACE(call_text(call));
          const AttentionInput<double> input = random_input(call, extents, 31);
          expect_agreement(call, input);
        }
      }
    }
  }
}

TEST(AgreementOfParts, OfProjections) {
  const Extents extents = with_key_heads({2, 4, 19, 37, 4, 3}, 1);
  for (const char* text : {"dot:bias=alibi", "dot:bias=shaw:shaw_v=random:shaw_k=random:clip=3",
                           "multiplicative:position=rope:masks=causal", "penumbral:weights=sigmoid",
                           "umbral:masks=graph"}) {
    for (const bool joins_heads : {false, true}) {
      const Call call = with_random_tensors(call_from_text(text));
      const AttentionInput<double> input = projected_input(call, extents, 37, joins_heads);
      SCOPED_TRACE(text);
      expect_agreement(call, input);
    }
  }
}

/// HyPE on grids over several tiles, and as columns, whose product is the bias.
TEST(AgreementOfParts, OfHypeOnGridsAndAsColumns) {
  const Extents extents{1, 2, 130, 150, 6, 3};
  for (const char* text :
       {"dot:bias=hype:hype_form=columns", "multiplicative:bias=hype:hype_form=columns",
        "dot:bias=hype:hype_form=columns:position=rope:scale=-2,0.5:masks=causal",
        "penumbral:bias=hype:grid=10x15", "dot:bias=hype:grid=150",
        "laplacian:bias=hype:grid=10x15:hype_mu=0.1,0.05;0.2,0.1:masks=causal",
        "dot:bias=hype:grid=5x3x10:hype_tau=1,-1,0.5:masks=strided",
        "dot:bias=hype:grid=10x15:hype_mu=0.1,0.05;0.2,0.1:hype_form=columns:masks=window:window="
        "30"}) {
    SCOPED_TRACE(text);
    const Call call = with_random_tensors(call_from_text(text));
    const AttentionInput<double> input = random_input(call, extents, 37);
    expect_agreement(call, input);
  }
}

/// Relative positions of keys and values, with fewer queries than keys and with more.
TEST(AgreementOfParts, OfRelativePositions) {
  for (const Extents& extents : {Extents{2, 2, 130, 600, 6, 3}, Extents{1, 2, 300, 90, 6, 9}}) {
    for (const char* text :
         {"dot:shaw_v=random:shaw_k=random", "dot:shaw_v=random:masks=causal",
          "relation:shaw_v=random:shaw_k=random:weights=exp", "multiplicative:shaw_v=random",
          "additive:shaw_v=random:masks=causal", "gat:shaw_v=random:clip=3",
          "penumbral:shaw_v=random:shaw_k=random:clip=0:masks=padding",
          "laplacian:shaw_v=random:shaw_k=random:clip=500:weights=sigmoid",
          "dot:shaw_v=random:shaw_k=random:clip=3:scale=2,0.5:masks=strided:stride=7",
          "umbral:shaw_v=random:clip=40:weights=exp:masks=explicit",
          "dot:shaw_k=random:clip=4:position=rope:weights=softmax:axis=query",
          "hyperbolic:shaw_k=random:clip=5:aggregate=einstein:value_map=lift"}) {
      SCOPED_TRACE(text);
      Call call = call_from_text(text);
      call.bias = "shaw";
      const AttentionInput<double> input = random_input(call, extents, 37);
      expect_agreement(call, input);
    }
  }
}

TEST_P(Agreement, AroundTheEdgesOfTiles) {
  const std::vector<std::array<std::int64_t, 4>> sizes{
      {0, 5, 3, 1},     {5, 0, 3, 1},       {1, 1, 2, 1},     {2, 1, 3, 5},
      {1, 2, 8, 7},     {63, 65, 31, 3},    {64, 64, 32, 8},  {65, 63, 33, 33},
      {97, 129, 64, 1}, {127, 128, 65, 17}, {3, 257, 128, 5}, {257, 3, 2, 9}};
  std::uint64_t seed = 100;
  for (const auto& [n_q, n_k, d, d_v] : sizes) {
    const Extents extents{1, 1, n_q, n_k, d, d_v};
    const Parts parts{"none", {seed % 2 == 0 ? "causal" : "full"}, "softmax", "mean", false};
    SCOPED_TRACE(describe(parts, extents));
    const Call call = make_call(GetParam(), parts, extents);
    const double spread = 4 / std::sqrt(static_cast<double>(d) + 1);
    const AttentionInput<double> input = random_input(call, extents, ++seed, spread);
    expect_agreement<double>(call, input, double_tolerance);
    // Among 257 directions of a circle some are all but opposite, where the finite families' float
    // formulas cancel (see their headers).
    const bool opposite = d == 2 && GetParam().call.map == "none" && is_finite_family(GetParam());
    expect_agreement<float>(call, input, opposite ? 5e-4 : float_tolerance);
  }
}

TEST_P(Agreement, OfEverySimdTarget) {
  ASSERT_FALSE(simd_targets().empty());
  const Extents extents{1, 1, 33, 70, 9, 5};
  const Call call = make_call(GetParam(), {"alibi", {"causal"}, "softmax", "mean", false}, extents);
  const AttentionInput<double> input = random_input(call, extents, 11);
  Execution execution = one_thread();
  for (const std::string& target : simd_targets<double>()) {
    execution.simd = target;
    expect_agreement<double>(call, input, double_tolerance, execution);
  }
  for (const std::string& target : simd_targets<float>()) {
    SCOPED_TRACE(target);
    execution.simd = target;
    expect_agreement<float>(call, input, float_tolerance, execution);
  }
}

TEST_P(Agreement, OfTwinsAndNearTwins) {
  // Keys are the queries themselves, moved by less and less: D is tiny against |x|.
  const Extents extents{1, 1, 40, 40, 9, 2};
  const Call call = make_call(GetParam(), {}, extents);
  AttentionInput<double> input = random_input(call, extents, 13);
  for (std::int64_t i = 0; i < extents.key; ++i) {
    const double move = i % 4 == 0 ? 0 : std::pow(10.0, -static_cast<double>(i % 10) - 1);
    for (std::int64_t c = 0; c < extents.feature; ++c) {
      const bool keep = c + 1 == extents.feature;  // The last coordinate closes a model's point.
      input.key.owned().at(0, 0, i, c) = input.query.at(0, 0, i, c) + (keep ? 0 : move);
    }
  }
  if (GetParam().name == "hyperbolic_hyperboloid_none") {
    for (std::int64_t i = 0; i < extents.key; ++i) {
      double time2 = 1;
      for (std::int64_t c = 0; c + 1 < extents.feature; ++c) {
        time2 += input.key.at(0, 0, i, c) * input.key.at(0, 0, i, c);
      }
      input.key.owned().at(0, 0, i, extents.feature - 1) = std::sqrt(time2);
    }
  }
  expect_agreement(call, input);
}

TEST_P(Agreement, OfALongHead) {
  const Extents extents{1, 1, 20, 1025, 7, 3};
  const Call call = make_call(GetParam(), {"none", {"causal"}, "softmax", "mean", false}, extents);
  const AttentionInput<double> input = random_input(call, extents, 17);
  expect_agreement(call, input);
}

/// Groups of queries see parts of several tiles, from their middle or up to it.
TEST(Masks, OfManyTilesAgreeWithTheReference) {
  const Extents extents{2, 1, 150, 1300, 5, 3};
  for (const char* text : {"dot:masks=causal", "penumbral:masks=window:window=300",
                           "laplacian:masks=window+causal:window=700:bias=alibi",
                           "umbral:masks=padding", "dot:masks=explicit+window:window=520"}) {
    SCOPED_TRACE(text);
    const Call call = call_from_text(text);
    const AttentionInput<double> input = random_input(call, extents, 23);
    expect_agreement(call, input);
  }
}

TEST_P(Agreement, OfOneRectangleWithTheWholeMap) {
  const Extents extents{2, 2, 70, 90, 4, 3};
  const Call call = make_call(GetParam(), {"alibi", {"causal"}, "softmax", "mean", true}, extents);
  const AttentionInput<double> input = random_input(call, extents, 19);
  const auto plan = resolve(call, extents);
  const Answer<double> whole = run(call, input);
  for (const Map2d which : {Map2d::logits, Map2d::weights}) {
    std::vector<double> tile(21 * 40);
    PairMap<double>(*plan, input).tile(which, &whole.forward, {1, 1, 45, 66, 30, 70}, tile.data());
    const Tensor4<double>& map = which == Map2d::logits ? whole.logits : whole.weights;
    for (std::int64_t i = 0; i < 21; ++i) {
      for (std::int64_t j = 0; j < 40; ++j) {
        const double expected = map.at(1, 1, 45 + i, 30 + j);
        const double found = tile[static_cast<std::size_t>(i * 40 + j)];
        if (found == expected) continue;
        EXPECT_NEAR(found, expected, 1e-13 * std::max(1.0, std::abs(expected))) << i << ", " << j;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Similarity, Agreement, testing::ValuesIn(variants()), variant_name);

}  // namespace
}  // namespace conelab::tests
