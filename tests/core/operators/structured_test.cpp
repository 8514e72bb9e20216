// Every structured operator of the table against the reference: outputs, gradients, what it
// refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/reference/evaluate.h"
#include "tests/core/tiles/cases.h"
#include "tests/helpers/errors.h"

namespace conelab::tests {
namespace {

/// The call with every combination of words of the operator's choices.
std::vector<Call> with_every_word(const Call& call, const OperatorInfo& info) {
  std::vector<Call> calls{call};
  for (const ParameterInfo& choice : info.parameters) {
    if (choice.domain != Domain::choice) continue;
    std::vector<Call> more;
    for (const Call& each : calls) {
      for (const std::string& word : choice_words(choice)) {
        more.push_back(each);
        more.back().parameters[choice.key] = word;
      }
    }
    calls = std::move(more);
  }
  return calls;
}

/// Masks that an operator combines with.
std::vector<std::string> masks_of(const OperatorInfo& info) {
  if (info.masks.data() != every_mask) return {info.masks.begin(), info.masks.end()};
  std::vector<std::string> all;
  for (const PartInfo& mask : list_masks()) all.push_back(mask.name);
  return all;
}

/// Calls with parts that only some operators take.
std::vector<Call> calls_with_parts() {
  std::vector<Call> calls;
  for (const char* text : {
           "multi-head:heads=2:similarity=penumbral:bias=alibi:masks=causal:gamma=0.5,1",
           "multi-head:heads=4:similarity=multiplicative:position=rope:weights=sigmoid",
           "random:R=random",
           "random:R=random:masks=causal:weights=sigmoid",
           "random:R=random:masks=graph",
           "random:R=random:masks=window:window=4",
           "recursive:heads=4:steps=2:similarity=laplacian:bias=alibi:masks=causal:gamma=1,2,3,4",
       }) {
    calls.push_back(with_random_tensors(call_from_text(text)));
  }
  return calls;
}

/// An operator with one of its masks, with its default words and with all others.
std::vector<Call> structured_calls() {
  std::vector<Call> calls = calls_with_parts();
  for (const OperatorRow& row : operator_table().subspan(1)) {
    for (const std::string& mask : masks_of(row.info)) {
      Call call;
      set_operator(call, row.info.name);
      call.masks = {mask};
      if (row.info.makes_heads) call.parameters["heads"] = "2";
      give_mask_parameters(call);
      calls.push_back(with_random_tensors(call));
      const std::vector<Call> others = with_every_word(calls.back(), row.info);
      calls.push_back(calls.back());
      calls.back().position = "sinusoidal";
      if (others.size() > 1) calls.insert(calls.end(), others.begin(), others.end());
    }
  }
  return calls;
}

/// Whether the call resolves for an input like this.
bool resolves(const Call& call, const AttentionInput<double>& input) {
  return !fixtures::caught([&] { return resolve(call, check_extents(input)); });
}

/// Whether the tensors that may be absent are given.
enum class Optional { given, absent };

/// As many keys as queries, or three more where the operator reads keys.
AttentionInput<double> tokens_of(const Call& call, const Extents& e, std::uint64_t seed,
                                 Optional optional = Optional::given) {
  Random random(seed);
  const std::int64_t heads = makes_heads(call) ? 1 : e.head;
  const auto tokens = [&](std::int64_t count, std::int64_t own) {
    Tensor4<double> x({e.batch, own, count, e.feature});
    for (double& number : x.data) number = random.uniform(-1.5, 1.5);
    return x;
  };
  AttentionInput<double> input;
  input.query = tokens(e.query, heads);
  input.key = input.value = input.query;
  if (reads_keys(call)) {
    const std::int64_t shared = makes_heads(call) ? 1 : e.key_heads();
    input.key = tokens(e.key + 3, shared);
    input.value = tokens(e.key + 3, shared);
  }
  for (std::int64_t i = 0; i < e.query * input.key.shape.token; ++i) {
    input.allowed.push_back(random.uniform(0, 1) < 0.75 ? 1 : 0);
  }
  for (std::int64_t b = 0; b < e.batch; ++b) {
    input.key_lengths.push_back(static_cast<std::int64_t>(random.uniform(0, 1) * (e.key + 1)));
  }
  draw_tensors(call, input, seed);
  if (optional == Optional::absent) return input;
  for (const ParameterInfo& info : call_parameters(call)) {
    Call with = call;
    with.parameters[info.key] = "random";
    if (info.domain == Domain::tensor && resolves(with, input)) draw_tensors(with, input, seed);
  }
  return input;
}

template <class T>
double error_of(const Call& call, const AttentionInput<double>& wide) {
  const AttentionInput<T> input = convert<T>(wide);
  const auto expected = reference::evaluate(reference::make_problem(call, convert<double>(input)));
  const auto plan = resolve(call, check_extents(input));
  return difference(forward(*plan, input).output, expected.output);
}

TEST(Structured, AgreesWithTheReference) {
  ASSERT_FALSE(structured_calls().empty());
  for (const Call& call : structured_calls()) {
    SCOPED_TRACE(call_text(call));
    for (const std::int64_t n : {1, 2, 13, 70}) {
      const Extents extents = with_key_heads({2, 2, n, n, 8, 8}, static_cast<std::size_t>(n));
      const AttentionInput<double> input = tokens_of(call, extents, 5);
      EXPECT_LE(error_of<double>(call, input), 1e-12) << n;
      EXPECT_LE(error_of<float>(call, input), 1e-5) << n;
      EXPECT_LE(error_of<Float16>(call, input), 4e-3) << n;
      const auto bare = tokens_of(call, {1, 2, n, n, 8, 8}, 5, Optional::absent);
      EXPECT_LE(error_of<double>(call, bare), 1e-12) << n;
    }
  }
}

/// Gives every differentiable number as a list, one value for each head.
Call with_lists(Call call, const Extents& extents) {
  const auto plan = resolve(call, extents);
  for (const Parameter& p : plan->parameters) {
    if (!p.is_number() || !p.info.differentiable) continue;
    std::vector<double> list;
    for (std::int64_t h = 0; h < plan->pairs.head; ++h) {
      list.push_back((1 + 0.5 * static_cast<double>(h)) * p.at(h));
    }
    call.parameters[p.info.key] = list;
  }
  return call;
}

void expect_gradients(const Call& call, AttentionInput<double> input) {
  using reference::Real;
  const auto plan = resolve(call, check_extents(input));
  const Forward<double> saved = forward(*plan, input);
  input.output_grad = saved.output;
  const Backward<double> found = backward(*plan, input, saved);
  reference::Problem problem = reference::make_problem(call, input);
  int compared = 0;
  const auto expect = [&](double slope, Real& x, const std::string& what) {
    const reference::Difference difference = reference::central_difference(problem, x);
    if (!difference.smooth) return;
    ++compared;
    EXPECT_NEAR(slope, difference.slope, 1e-6 * std::max(1.0, std::abs(difference.slope))) << what;
  };
  const auto expect_all = [&](const Tensor4<double>& slopes, Tensor4<Real>& x, const char* name) {
    for (std::size_t i = 0; i < slopes.data.size(); i += 2) {
      expect(slopes.data[i], x.data[i], fmt::format("{} {}", name, i));
    }
  };
  expect_all(found.query, problem.query, "q");
  expect_all(found.key, problem.key, "k");
  expect_all(found.value, problem.value, "v");
  for (const Parameter& p : plan->parameters) {
    if (!p.is_number() || !p.info.differentiable) continue;
    ASSERT_EQ(found.parameters.count(p.info.key), 1u) << p.info.key;
    ASSERT_EQ(found.parameters.at(p.info.key).size(), p.values.size()) << p.info.key;
    for (std::size_t i = 0; i < p.values.size(); ++i) {
      expect(found.parameters.at(p.info.key)[i], problem.numbers.at(p.info.key)[i],
             fmt::format("{} {}", p.info.key, i));
    }
  }
  for (auto& [name, tensor] : problem.tensors) {
    ASSERT_EQ(found.tensors.count(name), 1u) << name;
    ASSERT_EQ(found.tensors.at(name).extents, tensor.extents) << name;
    for (std::size_t i = 0; i < tensor.data.size(); i += 3) {
      expect(found.tensors.at(name).data[i], tensor.data[i], fmt::format("{} {}", name, i));
    }
  }
  EXPECT_GT(compared, 40);
}

TEST(Structured, HasTheGradientsOfTheReference) {
  std::size_t turn = 0;
  for (const Call& call : structured_calls()) {
    SCOPED_TRACE(call_text(call));
    const Extents extents = with_key_heads({1, 2, 7, 7, 8, 8}, turn++);
    expect_gradients(call, tokens_of(call, extents, 7));
    const AttentionInput<double> bare = tokens_of(call, extents, 7, Optional::absent);
    expect_gradients(with_lists(call, check_extents(bare)), bare);
  }
}

TEST(Structured, DoesNotDependOnThreadsOrBlocks) {
  for (const Call& call : structured_calls()) {
    for (const std::int64_t heads : {1, 3}) {  // Threads share a head, or have one each.
      SCOPED_TRACE(fmt::format("{}, {} heads", call_text(call), heads));
      const AttentionInput<float> input =
          convert<float>(tokens_of(call, with_key_heads({1, heads, 600, 600, 8, 8}, 1), 11));
      const auto plan = resolve(call, check_extents(input));
      const Forward<float> alone = forward(*plan, input, one_thread());
      EXPECT_EQ(alone.output.data, forward(*plan, input).output.data);
      const Backward<float> slopes = backward(*plan, input, alone, one_thread());
      const Backward<float> again = backward(*plan, input, alone);
      EXPECT_EQ(slopes.query.data, again.query.data);
      EXPECT_EQ(slopes.key.data, again.key.data);
      EXPECT_EQ(slopes.value.data, again.value.data);
      EXPECT_EQ(slopes.parameters, again.parameters);
      EXPECT_EQ(slopes.tensors, again.tensors);
    }
  }
}

TEST(Structured, RowsOfCausalOperatorsDoNotChangeWithLaterTokens) {
  for (const Call& call : structured_calls()) {
    if (call.masks != std::vector<std::string>{"causal"}) continue;
    SCOPED_TRACE(call_text(call));
    const std::int64_t n = 37, changed = 18;
    AttentionInput<double> input = tokens_of(call, {1, 1, n, n, 8, 8}, 13);
    const auto plan = resolve(call, check_extents(input));
    const Tensor4<double> before = forward(*plan, input).output;
    for (auto* tokens : {&input.query, &input.key, &input.value}) {
      const std::int64_t same_place = changed + tokens->shape.token - n;
      for (std::int64_t c = 0; c < 8; ++c) tokens->owned().at(0, 0, same_place, c) += 1;
    }
    const Tensor4<double> after = forward(*plan, input).output;
    for (std::int64_t c = 0; c < before.shape.feature; ++c) {
      for (std::int64_t i = 0; i < changed; ++i) {
        EXPECT_NEAR(before.at(0, 0, i, c), after.at(0, 0, i, c), 1e-14) << i;
      }
    }
    EXPECT_GT(difference(after, before), 1e-3);
  }
}

std::string refusal(const Call& call, const Extents& extents) {
  return fixtures::message_of([&] { return resolve(call, extents); });
}

TEST(Structured, RefusesWhatItDoesNotCombineWith) {
  const Extents extents{1, 1, 4, 4, 8, 8};
  Call call = with_random_tensors(call_from_text("agglomerative:bias=alibi"));
  EXPECT_THAT(refusal(call, extents), testing::HasSubstr("does not combine with bias alibi"));
  call = with_random_tensors(call_from_text("agglomerative:masks=window"));
  EXPECT_THAT(refusal(call, extents), testing::HasSubstr("full, causal"));
  call = with_random_tensors(call_from_text("agglomerative:classes=3"));
  EXPECT_THAT(refusal(call, extents), testing::HasSubstr("must divide d"));
  call = with_random_tensors(call_from_text("agglomerative:position=rope"));
  EXPECT_THAT(refusal(call, extents), testing::HasSubstr("position sinusoidal"));
  EXPECT_THAT(refusal(call_from_text("agglomerative"), extents), testing::HasSubstr("tensor P"));
  EXPECT_THAT(refusal(call_from_text("aglomerative"), extents),
              testing::HasSubstr("agglomerative"));
  EXPECT_THAT(refusal(call_from_text("penumbra"), extents), testing::HasSubstr("penumbral"));
}

/// The maps and the log-sum-exps that an operator has, each of the heads of its pairs.
TEST(Structured, HasTheWeightsOfTheReference) {
  for (const Call& call : structured_calls()) {
    SCOPED_TRACE(call_text(call));
    const AttentionInput<double> input =
        tokens_of(call, with_key_heads({2, 2, 13, 13, 8, 8}, 1), 13);
    const Answer<double> found = run(call, input);
    const auto expected = reference::evaluate(reference::make_problem(call, input));
    const auto expect_equal = [](const Tensor4<double>& mine, const auto& theirs) {
      // The reference gives only the outputs of some operators.
      if (!mine.empty() && !theirs.empty()) {
        EXPECT_LE(difference(mine, theirs), 1e-12);
      }
    };
    expect_equal(found.weights, expected.weights);
    expect_equal(found.logits, expected.logits);
    expect_equal(found.forward.lse, expected.lse);
    if (found.weights.empty()) continue;
    EXPECT_EQ(found.weights.shape, resolve(call, check_extents(input))->pairs);
  }
}

TEST(MultiHead, NamesWhatItDoesNotTake) {
  const Extents one{1, 1, 4, 6, 8, 8}, two{1, 2, 4, 6, 8, 8};
  EXPECT_THAT(refusal(call_from_text("multi-head"), one), testing::HasSubstr("P_query [d' x d]"));
  const Call call = with_random_tensors(call_from_text("multi-head:heads=2"));
  EXPECT_THAT(refusal(call, two), testing::HasSubstr("must have one (found 2;"));
  EXPECT_EQ(resolve(call, one)->pairs, (Shape4{1, 2, 4, 6}));
  Extents given = one;
  given.tensors["P_query"] = {4, 2, 8};
  EXPECT_THAT(refusal(call, given), testing::HasSubstr("make 4 heads"));
  given.tensors["P_query"] = {2, 3, 8};
  EXPECT_EQ(resolve(call, given)->chain->inner->extents.feature, 3);
  given.tensors["P_key"] = {2, 5, 8};
  EXPECT_THAT(refusal(call, given), testing::HasSubstr("P_key does not have its shape"));
  const Call odd = with_random_tensors(call_from_text("multi-head:heads=3"));
  EXPECT_THAT(refusal(odd, one), testing::HasSubstr("8 columns cannot be shared by 3 heads"));
  const Call key = with_random_tensors(call_from_text("multi-head:gama=1"));
  EXPECT_THAT(refusal(key, one), testing::HasSubstr("multi-head takes: "));
}

TEST(MultiHead, CountsProjectionsAndThePairsThatMasksAdmit) {
  const auto flops = [](const char* text) {
    const Call call = with_random_tensors(call_from_text(text));
    AttentionInput<double> input;
    input.query = input.key = input.value = Tensor4<double>({1, 1, 10, 8}, 1);
    draw_tensors(call, input);
    return pass_flops(*resolve(call, check_extents(input)), input, Pass::forward);
  };
  // 2 n d heads (2 d' + d_v') + 2 n^2 heads (d' + d_v'), d' = d_v' = 4
  EXPECT_EQ(flops("multi-head:heads=2"), 3840 + 3200);
  EXPECT_EQ(flops("multi-head:heads=2:P_output=random"), 3840 + 3200 + 1280);
  EXPECT_EQ(flops("multi-head:heads=2:masks=causal"), 3840 + 1760);
  EXPECT_EQ(flops("recursive:heads=2:steps=5"), 5 * (3840 + 3200));
  EXPECT_EQ(flops("random:R=random"), 2 * 100 * 8);
  EXPECT_EQ(flops("random"), 2 * 100 * (8 + 8));
}

TEST(Recursive, NeedsOutputsAsWideAsTokens) {
  Extents e{1, 1, 4, 4, 8, 8};
  const Call call = with_random_tensors(call_from_text("recursive:heads=2"));
  EXPECT_EQ(resolve(call, e)->output, (Shape4{1, 1, 4, 8}));
  e.tensors["P_value"] = {2, 3, 8};
  EXPECT_THAT(refusal(call, e), testing::HasSubstr("they need d = 8 columns (found 6)"));
}

TEST(RandomLogits, NamesTheTensorsOfItsForms) {
  const Extents e{1, 2, 4, 6, 8, 8};
  EXPECT_THAT(refusal(call_from_text("random"), e), testing::HasSubstr("R_query [n_q x rank]"));
  EXPECT_THAT(refusal(call_from_text("random"), e), testing::HasSubstr("tensor R [n_q x n_k]"));
  EXPECT_THAT(refusal(call_from_text("random:R_key=random"), e), testing::HasSubstr("R_key alone"));
  EXPECT_THAT(refusal(call_from_text("random:R=random:R_key=random:R_query=random"), e),
              testing::HasSubstr("found R and R_query"));
  EXPECT_THAT(refusal(call_from_text("random:R=random:bias=alibi"), e),
              testing::HasSubstr("does not combine with bias alibi"));
  const auto columns_of = [&](const char* text) {
    return resolve(call_from_text(text), e)->chain->extents.feature;
  };
  EXPECT_EQ(columns_of("random:R_query=random:R_key=random"), 8);
  EXPECT_EQ(columns_of("random:R_query=random:R_key=random:rank=3"), 3);
  EXPECT_EQ(columns_of("random:R=random"), 0);
}

TEST(RandomLogits, AreThoseOfDotOnTheFactors) {
  const Call call = call_from_text("random:R_query=random:R_key=random:rank=5:masks=causal");
  const AttentionInput<double> input = tokens_of(call, {2, 2, 20, 20, 8, 8}, 17);
  AttentionInput<double> factors = input;
  for (const auto& [name, tokens] :
       {std::pair{"R_query", &factors.query}, {"R_key", &factors.key}}) {
    const Array<double>& tensor = input.tensors.at(name);
    *tokens = Tensor4<double>({2, 2, tensor.extents[0], 5});
    for (std::int64_t head = 0; head < 4; ++head) {
      std::copy(tensor.data.begin(), tensor.data.end(), tokens->owned().row(head / 2, head % 2, 0));
    }
  }
  const Answer<double> found = run(call, input);
  const Answer<double> dot = run(call_from_text("dot:scale=1:masks=causal"), factors);
  EXPECT_EQ(found.forward.output.data, dot.forward.output.data);
  EXPECT_EQ(found.weights.data, dot.weights.data);
}

TEST(Agglomerative, OfTheLastCausalRowIsThatOfTheFullOne) {
  const Call full = with_random_tensors(call_from_text("agglomerative"));
  Call causal = full;
  causal.masks = {"causal"};
  const AttentionInput<double> input = tokens_of(full, {1, 1, 300, 300, 8, 8}, 3);
  const Extents extents = check_extents(input);
  const Tensor4<double> a = forward(*resolve(full, extents), input).output;
  const Tensor4<double> b = forward(*resolve(causal, extents), input).output;
  for (std::int64_t c = 0; c < 8; ++c) EXPECT_NEAR(a.at(0, 0, 299, c), b.at(0, 0, 299, c), 1e-13);
}

Tensor4<double> output_of(const std::string& text, const AttentionInput<double>& input) {
  return forward(*resolve(call_from_text(text), check_extents(input)), input).output;
}

TEST(BiBlosa, BackwardIsForwardOnTheReversedSequence) {
  const Call call = with_random_tensors(call_from_text("bi-blosa:direction=forward"));
  AttentionInput<double> input = tokens_of(call, {1, 1, 12, 12, 5, 5}, 3);
  const Tensor4<double> forwards = output_of("bi-blosa:direction=forward:block=4", input);
  AttentionInput<double> reversed = input;
  for (std::int64_t i = 0; i < 12; ++i) {
    std::copy_n(input.query.row(0, 0, 11 - i), 5, reversed.query.owned().row(0, 0, i));
  }
  const Tensor4<double> backwards = output_of("bi-blosa:direction=backward:block=4", reversed);
  for (std::int64_t i = 0; i < 12; ++i) {
    for (std::int64_t c = 0; c < 5; ++c) {
      EXPECT_NEAR(forwards.at(0, 0, i, c), backwards.at(0, 0, 11 - i, c), 1e-14);
    }
  }
}

TEST(BiBlosa, NamesTheTensorThatHasAnotherShape) {
  Extents extents{1, 1, 4, 4, 8, 8};
  const Call both = with_random_tensors(call_from_text("bi-blosa"));
  extents.tensors["W_key"] = {8, 8};
  EXPECT_THAT(refusal(both, extents),
              testing::AllOf(testing::HasSubstr("tensor W_key"), testing::HasSubstr("[8 x 8]"),
                             testing::HasSubstr("[2 x d x d] = [2 x 8 x 8]")));
  const Call one = with_random_tensors(call_from_text("bi-blosa:direction=backward"));
  EXPECT_EQ(refusal(one, extents), "");
  extents.tensors["W_fusion"] = {8, 16};
  EXPECT_THAT(refusal(one, extents), testing::HasSubstr("[d x 3d] = [8 x 24]"));
}

TEST(StructuredNan, OfOneTokenReachesTheRowsThatSeeIt) {
  for (const char* text : {"relation-network:masks=causal", "bi-blosa:direction=forward:block=4"}) {
    SCOPED_TRACE(text);
    const Call call = with_random_tensors(call_from_text(text));
    AttentionInput<double> input = tokens_of(call, {1, 1, 12, 12, 5, 5}, 3);
    const Tensor4<double> clean = output_of(text, input);
    input.query.owned().at(0, 0, 6, 2) = std::nan("");
    input.key.owned().at(0, 0, 6 + input.key.shape.token - 12, 2) = std::nan("");
    const Tensor4<double> found = output_of(text, input);
    for (std::int64_t i = 0; i < 12; ++i) {
      for (std::int64_t c = 0; c < clean.shape.feature; ++c) {
        const double x = found.at(0, 0, i, c);
        EXPECT_TRUE(i < 6 || std::isnan(x)) << i;
        EXPECT_TRUE(i >= 4 || std::abs(x - clean.at(0, 0, i, c)) < 1e-13) << i;
      }
    }
  }
}

}  // namespace
}  // namespace conelab::tests
