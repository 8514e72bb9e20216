// Inputs in memory of the caller: tokens of a model that lie as [batch, token, head, feature], and
// heads that share their tokens. Results are, bit for bit, those of dense copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "tests/core/tiles/cases.h"
#include "tests/core/tiles/model_memory.h"
#include "tests/helpers/errors.h"

namespace conelab::tests {
namespace {

template <class Number>
bool same_bits(const std::vector<Number>& a, const std::vector<Number>& b) {
  return std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}
template <class T>
void expect_same(const Tensor4<T>& found, const Tensor4<T>& expected, const char* what) {
  EXPECT_EQ(found.shape, expected.shape) << what;
  EXPECT_TRUE(same_bits(found.data, expected.data)) << what;
}

template <class T>
void expect_same_results(const Call& call, const AttentionInput<T>& strided,
                         const AttentionInput<T>& dense) {
  const Answer<T> found = run(call, strided), expected = run(call, dense);
  expect_same(found.forward.output, expected.forward.output, "output");
  expect_same(found.forward.lse, expected.forward.lse, "lse");
  expect_same(found.logits, expected.logits, "logits");
  expect_same(found.weights, expected.weights, "weights");
  const auto plan = resolve(call, check_extents(dense));
  const auto slopes = backward(*plan, strided, found.forward, one_thread());
  const auto others = backward(*plan, dense, expected.forward, one_thread());
  expect_same(slopes.query, others.query, "dL/dq");
  expect_same(slopes.key, others.key, "dL/dk");
  expect_same(slopes.value, others.value, "dL/dv");
  for (const auto& [key, numbers] : others.parameters) {
    EXPECT_TRUE(same_bits(slopes.parameters.at(key), numbers)) << key;
  }
  for (const auto& [key, tensor] : others.tensors) {
    EXPECT_TRUE(same_bits(slopes.tensors.at(key).data, tensor.data)) << key;
  }
}

template <class T>
void give_last_head_to_all(Tensor4<T>& tensor) {
  const Shape4& s = tensor.shape;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.head; ++h) {
      std::copy_n(tensor.row(b, s.head - 1, 0), s.token * s.feature, tensor.row(b, h, 0));
    }
  }
}

/// Compares an input with the same in a model's memory: for each head its own tokens, for all heads
/// those of the last one, and tokens whose last lies first.
template <class T>
void expect_dense_results(const Call& call, AttentionInput<double> wide) {
  struct Layout {
    bool shares_heads, backwards;
  };
  for (const Layout& layout : {Layout{false, false}, Layout{true, false}, Layout{false, true}}) {
    AttentionInput<T> dense = convert<T>(wide);
    if (layout.shares_heads) {
      for (auto* t : {&dense.query, &dense.key, &dense.value, &dense.output_grad}) {
        give_last_head_to_all(t->owned());
      }
    }
    for (const double filling : {std::nan(""), 3.0}) {
      SCOPED_TRACE(fmt::format("heads share tokens: {}, backwards: {}, filling {}",
                               layout.shares_heads, layout.backwards, filling));
      ModelMemory<T> memory(filling, layout.shares_heads, layout.backwards);
      expect_same_results(call, memory.place(dense), dense);
    }
  }
}

/// As many keys as queries, or several tiles of them if the operator reads keys; dL/doutput in the
/// sizes of the output.
AttentionInput<double> input_of(const Call& call) {
  const std::int64_t queries = 70, keys = reads_keys(call) ? 600 : queries;
  AttentionInput<double> input =
      random_input(call, {2, makes_heads(call) ? 1 : 2, queries, keys, 32, 32}, 3, 0.4);
  const auto plan = resolve(call, check_extents(input));
  Random random(4);
  Tensor4<double> grad(plan->output);
  for (double& x : grad.data) x = random.uniform(-1, 1);
  input.output_grad = std::move(grad);
  return input;
}

TEST(StridedInput, HasTheResultsOfADenseCopyForEveryOperator) {
  for (const std::string& name : operator_names()) {
    SCOPED_TRACE(name);
    Call call;
    set_operator(call, name);
    if (makes_heads(call)) call.parameters["heads"] = "2";
    call = with_random_tensors(call);
    const AttentionInput<double> input = input_of(call);
    expect_dense_results<double>(call, input);
    expect_dense_results<float>(call, input);
    expect_dense_results<Float16>(call, input);
    expect_dense_results<Bfloat16>(call, input);
  }
}

TEST(StridedInput, HasTheResultsOfADenseCopyWithEveryPartOfAttention) {
  std::vector<Parts> all{{.aggregate = "einstein"}};
  for (const std::string& bias : bias_names()) all.push_back({.bias = bias});
  for (const std::string& mask : mask_names()) all.push_back({.masks = {mask}});
  for (const std::string& weights : weight_words()) all.push_back({.weights = weights});
  for (const std::string& map : value_map_names()) all.push_back({.value_map = map});
  Variant dot{"dot", {}};
  dot.call.similarity = "dot";
  for (const Parts& parts : all) {
    const Extents extents{2, 2, 36, 36, 16, 16};
    const Call call = make_call(dot, parts, extents);
    SCOPED_TRACE(call_text(call));
    AttentionInput<double> input = random_input(call, extents, 5);
    expect_dense_results<float>(call, input);
    expect_dense_results<Bfloat16>(call, input);
    input.value.owned().at(1, 1, 30, 7) = std::nan("");
    if (parts.value_map == "none") expect_dense_results<float>(call, input);
  }
  AttentionInput<double> far = random_input(call_from_text("laplacian"), {2, 2, 9, 40, 8, 8}, 7);
  for (double& x : far.key.owned().data) x += 100;  // The keys have a centre.
  expect_dense_results<float>(call_from_text("laplacian"), far);
  for (const bool joins_heads : {false, true}) {
    expect_dense_results<float>(dot.call,
                                projected_input(dot.call, {2, 2, 9, 9, 8, 8}, 6, joins_heads));
  }
}

TEST(StridedInput, MustHaveMemoryForTokensThatDoNotOverlap) {
  const std::vector<float> numbers(96, 1);
  const Shape4 shape{2, 2, 3, 8};
  AttentionInput<float> sound;
  sound.query = sound.key = sound.value = {numbers.data(), shape, {48, 24, 8}};
  const auto plan = resolve(call_from_text("dot"), check_extents(sound));
  const auto message = [&](const StridedTensor4<float>& key, const StridedTensor4<float>& grad) {
    AttentionInput<float> input = sound;
    input.key = key;
    input.output_grad = grad;
    return fixtures::misuse_of([&] { return forward(*plan, input, one_thread()); });
  };
  EXPECT_EQ(message({numbers.data(), shape, {0, 0, 0}}, {}), "");
  EXPECT_EQ(message({numbers.data(), shape, {48, 8, 16}}, sound.query), "");
  EXPECT_EQ(message({numbers.data(), shape, {48, 24, 7}}, {}),
            "the tokens of k overlap (expected a stride of 0 or of at least 8 numbers, found 7)");
  EXPECT_EQ(message({numbers.data() + 24, shape, {48, -24, 8}}, {}), "");
  EXPECT_THAT(message({numbers.data(), shape, {48, -7, 8}}, {}), testing::HasSubstr("heads of k"));
  EXPECT_THAT(message({numbers.data(), shape, {1, 24, 8}}, {}),
              testing::HasSubstr("batch elements of k"));
  EXPECT_EQ(
      message(sound.key, {nullptr, shape, {48, 24, 8}}),
      "output_grad has no memory for its numbers (expected 96 of them, in the shape [2, 2, 3, "
      "8])");
}

}  // namespace
}  // namespace conelab::tests
