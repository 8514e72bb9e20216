// Every mask, bias, law of weights and composed similarity in the portable kernels' tile code, run
// on the host: fast = reference, gradients = the CPU's, tensors included.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/call/composed.h"
#include "core/pair/bias.h"
#include "core/pair/mask.h"
#include "tests/gpu/agreement.h"
#include "tests/helpers/errors.h"

namespace conelab::gpu::tests {
namespace {

using conelab::tests::bias_names;
using conelab::tests::mask_names;
using conelab::tests::weight_words;

const std::vector<Extents>& sizes() {
  static const std::vector<Extents> all{{2, 2, 19, 37, 5, 3}, {1, 2, 70, 131, 6, 9}};
  return all;
}

void expect_agreement_of(const std::string& text, const Extents& extents, std::uint64_t seed = 7) {
  SCOPED_TRACE(fmt::format("{}, n_q {}, n_k {}, d {}, d_v {}", text, extents.query, extents.key,
                           extents.feature, extents.value));
  const Call call = with_random_tensors(call_from_text(text));
  expect_agreement(call, random_input(call, extents, seed));
}

/// A similarity by its name, with tensors drawn.
Variant named(const char* similarity) { return {similarity, call_from_text(similarity)}; }

bool is_refused(const Parts& parts) {
  if (parts.weights.find("soft_cap") != std::string::npos) return true;  // On the CPU only.
  const bool over_queries = parts.weights == "softmax:axis=query";
  return over_queries &&
         (find_mask(parts.masks.front())->stopped >= 0 || find_bias(parts.bias)->of_queries);
}

TEST(PortablePairs, AgreeUnderEveryMask) {
  for (const std::string& mask : mask_names()) {
    for (const char* similarity : {"dot", "umbral"}) {
      for (const std::string& weights : weight_words()) {
        const Parts parts{"none", {mask}, weights, "mean", true};
        if (is_refused(parts)) continue;
        for (const Extents& extents : sizes()) {
          SCOPED_TRACE(fmt::format("{} {} {} n_q {}", similarity, mask, weights, extents.query));
          const Call call = make_call(named(similarity), parts, extents);
          expect_agreement(call, random_input(call, extents, 7));
        }
      }
    }
  }
}

TEST(PortablePairs, AgreeWithEveryBias) {
  for (const std::string& bias : bias_names()) {
    if (find_bias(bias)->of_pairs) continue;  // It is computed on the CPU only.
    for (const char* mask : {"causal", "graph"}) {
      for (const std::string& weights : weight_words()) {
        const Parts parts{bias, {mask}, weights, "mean", true};
        if (is_refused(parts)) continue;
        for (const Extents& extents : sizes()) {
          SCOPED_TRACE(fmt::format("{} {} {} n_q {}", bias, mask, weights, extents.query));
          const Call call = make_call(named("laplacian"), parts, extents);
          expect_agreement(call, random_input(call, extents, 9));
        }
      }
    }
  }
}

/// The midpoint does not depend on the scale of weights, the softmax over queries sets it.
TEST(PortablePairs, AgreeOnMidpointsOverQueries) {
  for (const char* mask : {"full", "causal", "strided"}) {
    const Parts parts{"alibi", {mask}, "softmax:axis=query", "einstein", true};
    for (const Extents& extents : sizes()) {
      SCOPED_TRACE(fmt::format("{} n_q {}", mask, extents.query));
      const Call call = make_call(named("penumbral"), parts, extents);
      expect_agreement(call, random_input(call, extents, 13));
    }
  }
}

/// Sigmoids of logits below -50 are exponentials, and the midpoint does not depend on their scale.
template <class T>
void expect_midpoints_of_exponentials(const std::string& text, double tolerance) {
  SCOPED_TRACE(text);
  Call call = call_from_text(text + ":aggregate=einstein:weights=sigmoid");
  conelab::tests::give_mask_parameters(call);
  const auto input = convert<T>(random_input(call, {2, 1, 70, 135, 4, 3}, 19));
  const Storage storage = sizeof(T) == 8 ? Storage::f64 : Storage::f32;
  const Emulation<T> a = emulate(call, input, storage);
  call.weights = "exp";
  const Emulation<T> b = emulate(call, input, storage);
  EXPECT_LE(difference(a.forward.output, b.forward.output), tolerance);
  EXPECT_LE(difference(a.forward.lse, b.forward.lse), tolerance);
  EXPECT_LE(difference(a.backward.query, b.backward.query), 100 * tolerance);
  EXPECT_LE(difference(a.backward.key, b.backward.key), 100 * tolerance);
  EXPECT_LE(difference(a.backward.value, b.backward.value), 100 * tolerance);
}

TEST(PortablePairs, AgreeOnMidpointsOfSigmoidsOfAnySize) {
  for (const char* offset : {"50", "300", "4000"}) {
    for (const char* parts : {"", ":masks=causal:bias=alibi", ":masks=strided"}) {
      const std::string text = std::string("hyperbolic:offset=") + offset + parts;
      expect_midpoints_of_exponentials<double>(text, 1e-12);
      expect_midpoints_of_exponentials<float>(text, 5e-6);
    }
  }
}

TEST(PortablePairs, AgreeWithComposedSimilarities) {
  for (const ComposedSimilarity& composed : composed_similarities()) {
    for (const Parts& parts : {Parts{"none", {"full"}, "softmax", "mean", false},
                               Parts{"alibi", {"causal"}, "softmax", "einstein", true},
                               Parts{"t5", {"graph"}, "softmax:axis=query", "mean", true},
                               Parts{"none", {"strided", "padding"}, "sigmoid", "mean", false}}) {
      for (const Extents& extents : sizes()) {
        SCOPED_TRACE(fmt::format("{} {} {} n_q {}", composed.name, parts.masks.front(),
                                 parts.weights, extents.query));
        const Call call = make_call(named(composed.name), parts, extents);
        expect_agreement(call, random_input(call, extents, 11));
      }
    }
  }
}

/// v_a has 5 numbers by default: several slices of 64 columns, with tails, in both halves.
TEST(PortablePairs, AddTanhOfManyTerms) {
  for (const std::int64_t terms : {16, 64, 70, 130}) {
    const Extents extents{1, 1, 20, 66, 4, 3};
    Call call = call_from_text("additive:masks=causal");
    const auto tensor = [&](std::vector<std::int64_t> shape, double first) {
      Array<double> t{std::move(shape), {}};
      for (std::int64_t i = 0; i < t.extents[0] * (t.extents.size() > 1 ? t.extents[1] : 1); ++i) {
        t.data.push_back(std::sin(first + 0.7 * static_cast<double>(i)));
      }
      return t;
    };
    AttentionInput<double> input = random_input(with_random_tensors(call), extents, 5);
    input.tensors["W"] = tensor({terms, 4}, 0.1);
    input.tensors["U"] = tensor({terms, 4}, 0.9);
    input.tensors["v_a"] = tensor({terms}, 0.4);
    SCOPED_TRACE(terms);
    expect_agreement(call, input);
  }
}

TEST(PortablePairs, AgreeOnGrids) {
  for (const char* text : {"penumbral:bias=hype:grid=10x15", "dot:bias=hype:grid=150",
                           "laplacian:bias=hype:grid=10x15:hype_mu=0.1,0.05;0.2,0.1:masks=causal",
                           "dot:bias=hype:grid=5x3x10:hype_tau=1,-1,0.5:masks=strided",
                           "dot:bias=hype:grid=10x15:masks=explicit:weights=softmax:axis=query",
                           "additive:bias=hype:grid=10x15"}) {
    expect_agreement_of(text, {1, 2, 130, 150, 6, 3});
  }
}

TEST(PortablePairs, RefuseGradientsOfGridsOfManyAxes) {
  const Extents extents{1, 1, 16, 16, 3, 2};
  const Call call = call_from_text("dot:bias=hype:grid=2x2x2x2");
  const AttentionInput<double> input = random_input(call, extents, 7);
  const auto exact = reference::evaluate(reference::make_problem(call, input));
  const auto found = emulate(call, input, Storage::f64, false).forward.output;
  EXPECT_LE(conelab::tests::difference(found, exact.output), 1e-12);
  EXPECT_EQ(fixtures::message_of([&] { return emulate(call, input, Storage::f64); }),
            "device cuda: gradients of bias hype on a grid of 4 axes are computed on the CPU only");
}

TEST(PortablePairs, AgreeOnRelativePositions) {
  for (const Extents& extents : {Extents{2, 2, 70, 135, 6, 3}, Extents{1, 2, 130, 66, 6, 9}}) {
    for (const char* text :
         {"dot:shaw_v=random:shaw_k=random", "dot:shaw_v=random:masks=causal",
          "penumbral:shaw_v=random:shaw_k=random:clip=0:masks=padding",
          "laplacian:shaw_v=random:shaw_k=random:clip=500:weights=sigmoid",
          "dot:shaw_v=random:shaw_k=random:clip=3:scale=2,0.5:masks=strided:stride=7",
          "umbral:shaw_v=random:clip=40:weights=exp:masks=explicit",
          "dot:shaw_k=random:clip=4:position=rope:weights=softmax:axis=query",
          "hyperbolic:shaw_k=random:clip=5:aggregate=einstein:value_map=lift"}) {
      expect_agreement_of(std::string(text) + ":bias=shaw", extents, 37);
    }
  }
}

TEST(PortablePairs, StopGradientsAsTheCpuDoes) {
  for (const char* text :
       {"transformer-xl:segment=16:memory=9", "penumbral:masks=segment:segment=32:memory=5",
        "multiplicative:masks=segment:segment=16", "dot:masks=segment:segment=70:bias=t5"}) {
    expect_agreement_of(text, {1, 2, 130, 150, 6, 3});
  }
}

TEST(PortablePairs, RefuseGradientsOverQueriesThatAreStopped) {
  const Extents extents{1, 1, 16, 16, 3, 2};
  const Call call = call_from_text("dot:masks=segment:axis=query");
  EXPECT_THROW((void)emulate(call, random_input(call, extents, 7), Storage::f64), Error);
}

/// A graph's pairs alone take memory, on both sides, and tiles hold nothing else.
TEST(PortablePairs, ListThePairsOfSparseMasks) {
  const Extents extents{3, 1, 1000, 1000, 2, 1};
  Call call = call_from_text("dot:masks=graph");
  AttentionInput<double> input = random_input(with_random_tensors(call), extents, 3);
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < 1000; ++i) edges.insert(edges.end(), {i, (i * 37 + 500) % 1000});
  input.indices["edge"] = {{1000, 2}, edges};
  const auto plan = resolve(call, check_extents(input));
  const Operands<double> operands = make_operands(*plan, input, Storage::f64, {});
  EXPECT_EQ(operands.shape.lists, 1);
  EXPECT_EQ(operands.query_lists.first.size(), 17u);
  std::size_t pairs = 0;
  for (const std::uint64_t rows : operands.query_lists.rows) pairs += std::popcount(rows);
  std::size_t transposed = 0;
  for (const std::uint64_t rows : operands.key_lists.rows) transposed += std::popcount(rows);
  const Mask mask = plan->mask(input);
  std::size_t expected = 0;
  for (std::int64_t i = 0; i < 1000; ++i) expected += mask.keys(0, i).size();
  EXPECT_EQ(pairs, expected);
  EXPECT_EQ(transposed, expected);
  EXPECT_LE(operands.query_lists.token.size(), expected);
  expect_agreement(call, input);
}

TEST(PortablePairs, KeepFloatsPrecision) {
  for (const std::string& text : portable_calls()) expect_agreement_on(emulated_backend(), text);
}

}  // namespace
}  // namespace conelab::gpu::tests
