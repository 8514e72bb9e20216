// Calls on views of memory: results are those of the typed interface, for every operator.
#include "core/operators/prepared_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "core/base/error.h"
#include "tests/core/tiles/cases.h"
#include "tests/helpers/errors.h"

namespace conelab::tests {
namespace {

using fixtures::message_of;
using testing::HasSubstr;

std::vector<std::int64_t> dense(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

template <class T>
TensorView view_of(const char* name, std::vector<T>& numbers, std::vector<std::int64_t> sizes) {
  constexpr NumberType type = std::is_same_v<T, double>         ? NumberType::f64
                              : std::is_same_v<T, float>        ? NumberType::f32
                              : std::is_same_v<T, Float16>      ? NumberType::f16
                              : std::is_same_v<T, Bfloat16>     ? NumberType::bf16
                              : std::is_same_v<T, std::int64_t> ? NumberType::i64
                                                                : NumberType::u8;
  std::vector<std::int64_t> strides = dense(sizes);
  return {name, type, numbers.data(), std::move(sizes), std::move(strides)};
}

/// Memory for the results of a pass.
struct Results {
  std::vector<std::vector<std::byte>> memory;
  std::vector<TensorView> views;

  Results(const PreparedCall& call, Pass pass) {
    for (TensorView view : call.results(pass)) {
      memory.emplace_back(static_cast<std::size_t>(view.count()) * sizeof(double));
      view.data = memory.back().data();
      view.strides = dense(view.sizes);
      views.push_back(view);
    }
  }
  template <class Number>
  [[nodiscard]] std::vector<Number> of(const std::string& name) const {
    for (const TensorView& view : views) {
      const auto* data = static_cast<const Number*>(view.data);
      if (view.name == name) return {data, data + view.count()};
    }
    ADD_FAILURE() << name;
    return {};
  }
};

template <class Number>
bool same(const std::vector<Number>& a, const std::vector<Number>& b) {
  return std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

/// An input, and views of its tensors.
template <class T>
struct Given {
  AttentionInput<T> input;
  Tensor4<T> q, k, v, output_grad;
  std::vector<TensorView> views;

  Given(const Call& call, const AttentionInput<double>& wide) : input(convert<T>(wide)) {
    draw_tensors(call, input, 0);
    q = input.query.dense();
    k = input.key.dense();
    v = input.value.dense();
    for (auto [name, tensor] : {std::pair{"q", &q}, {"k", &k}, {"v", &v}}) {
      const Shape4& s = tensor->shape;
      views.push_back(view_of(name, tensor->data, {s.batch, s.head, s.token, s.feature}));
    }
    for (auto& [name, tensor] : input.tensors) {
      views.push_back(view_of(name.c_str(), tensor.data, tensor.extents));
    }
    for (auto& [name, tensor] : input.indices) {
      views.push_back(view_of(name.c_str(), tensor.data, tensor.extents));
    }
  }
};

template <class T>
void expect_same_as_typed(const Call& call, const AttentionInput<double>& wide) {
  Given<T> given(call, wide);
  const auto prepared = prepare(call, given.views);
  const auto plan = resolve(call, check_extents(given.input));
  const auto forward = conelab::forward(*plan, given.input, one_thread());
  const auto backward = conelab::backward(*plan, given.input, forward, one_thread());

  Results out(*prepared, Pass::forward), gradients(*prepared, Pass::backward);
  prepared->forward(given.views, out.views, one_thread());
  EXPECT_TRUE(same(out.of<T>("output"), forward.output.data));
  EXPECT_EQ(out.views.size() > 1, !forward.lse.empty());
  if (!forward.lse.empty()) {
    EXPECT_TRUE(same(out.of<Compute<T>>("lse"), forward.lse.data));
  }
  std::vector<TensorView> inputs = given.views;
  inputs.insert(inputs.end(), out.views.begin(), out.views.end());
  prepared->backward(inputs, gradients.views, one_thread());
  EXPECT_TRUE(same(gradients.of<T>("q"), backward.query.data));
  EXPECT_EQ(gradients.views.size(), 1 + (backward.key.empty() ? 0 : 1) +
                                        (backward.value.empty() ? 0 : 1) +
                                        backward.parameters.size() + backward.tensors.size());
  for (const auto& [key, numbers] : backward.parameters) {
    EXPECT_TRUE(same(gradients.of<double>(key), numbers)) << key;
  }
  for (const auto& [key, tensor] : backward.tensors) {
    EXPECT_TRUE(same(gradients.of<double>(key), tensor.data)) << key;
  }
}

Call call_of(const std::string& name) {
  Call call = call_from_text(name);
  if (makes_heads(call)) call.parameters["heads"] = "2";
  give_mask_parameters(call);
  return with_random_tensors(call);
}

AttentionInput<double> tokens_for(const Call& call) {
  AttentionInput<double> input =
      random_input(Call{}, {2, makes_heads(call) ? 1 : 2, 9, 9, 8, 8}, 3);
  input.tensors.clear();
  input.indices.clear();
  input.output_grad = {};
  input.allowed.clear();
  input.key_lengths.clear();
  if (!reads_keys(call)) input.key = input.value = input.query;
  return input;
}

TEST(PreparedCall, ComputesWhatTheTypedInterfaceDoes) {
  std::vector<std::string> names = operator_names();
  for (const char* more :
       {"dot:axis=query", "penumbral:aggregate=einstein:value_map=polar", "laplacian:masks=causal",
        "hyperbolic:weights=sigmoid", "umbral:gamma=1,2:bias=alibi", "dot:position=rope"}) {
    names.emplace_back(more);
  }
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const Call call = call_of(name);
    const AttentionInput<double> input = tokens_for(call);
    expect_same_as_typed<double>(call, input);
    expect_same_as_typed<float>(call, input);
    expect_same_as_typed<Bfloat16>(call, input);
  }
}

TEST(PreparedCall, WritesToAnyStridesAndReadsThem) {
  const Call call = call_of("penumbral");
  Given<float> given(call, tokens_for(call));
  const auto prepared = prepare(call, given.views);
  Results dense_out(*prepared, Pass::forward);
  prepared->forward(given.views, dense_out.views, one_thread());
  // [batch, token, head, feature] in memory, with a number of padding behind each token.
  std::vector<float> memory(2 * 9 * 2 * 9, -1);
  const TensorView strided{"output", NumberType::f32, memory.data(), {2, 2, 9, 8}, {162, 9, 18, 1}};
  prepared->forward(given.views, {&strided, 1}, one_thread());
  const std::vector<float> expected = dense_out.of<float>("output");
  std::size_t at = 0;
  for_each_offset(strided, [&](std::int64_t offset) {
    EXPECT_EQ(memory[static_cast<std::size_t>(offset)], expected[at++]);
  });
  EXPECT_EQ(at, expected.size());
  EXPECT_EQ(std::count(memory.begin(), memory.end(), -1.0f), 2 * 9 * 2);
}

TEST(PreparedCall, LseAloneGivesAnyTileOfTheWeights) {
  for (const char* name :
       {"penumbral", "dot:masks=causal", "dot:axis=query", "umbral:weights=exp"}) {
    SCOPED_TRACE(name);
    const Call call = call_of(name);
    Given<double> given(call, tokens_for(call));
    const auto prepared = prepare(call, given.views);
    const auto whole = attention_map(prepared->plan(), given.input, Map2d::weights, one_thread());
    Results out(*prepared, Pass::forward);
    prepared->forward(given.views, out.views, one_thread());
    std::vector<TensorView> inputs(given.views.begin(), given.views.begin() + 2);  // Without v.
    for (const bool with_lse : {true, false}) {
      if (with_lse) inputs.push_back(out.views[1]);
      std::vector<double> tile(3 * 4);
      prepared->tile(inputs, Map2d::weights, {1, 1, 2, 5, 5, 9}, view_of("tile", tile, {3, 4}),
                     one_thread());
      for (std::int64_t i = 0; i < 12; ++i) {
        EXPECT_NEAR(tile[static_cast<std::size_t>(i)], whole.at(1, 1, 2 + i / 4, 5 + i % 4), 1e-14);
      }
      if (with_lse) inputs.pop_back();
    }
  }
}

std::string refusal(const std::string& call, std::vector<TensorView> views) {
  return message_of([&] { return prepare(call_from_text(call), views); });
}

TEST(PreparedCall, SaysWhatIsWrongWithAView) {
  std::vector<float> floats(64);
  std::vector<double> doubles(64);
  const TensorView q = view_of("q", floats, {2, 4, 8});
  EXPECT_THAT(refusal("dot", {}), HasSubstr("there is no q"));
  EXPECT_THAT(refusal("dot", {q, view_of("k", doubles, {2, 4, 8})}),
              HasSubstr("k has numbers of another type (expected f32, found f64)"));
  EXPECT_THAT(refusal("dot", {q, view_of("kk", floats, {2, 4, 8})}), HasSubstr("'kk'"));
  EXPECT_THAT(refusal("dot", {view_of("q", floats, {8})}), HasSubstr("q has 1 axes"));
  TensorView turned = q;
  turned.strides = {32, 1, 4};
  EXPECT_THAT(refusal("dot", {turned}), HasSubstr("features of q are not contiguous"));
  TensorView scattered = view_of("q", floats, {2, 2, 1, 4, 4});
  scattered.strides = {16, 100, 16, 4, 1};
  EXPECT_THAT(refusal("dot", {scattered}), HasSubstr("leading axes of q"));
  EXPECT_THAT(refusal("nosuch", {q}), HasSubstr("nosuch"));
  const auto prepared = prepare(call_from_text("dot"), {&q, 1});
  const TensorView wrong = view_of("output", floats, {2, 8, 4});
  EXPECT_THAT(message_of([&] {
                prepared->forward({&q, 1}, {&wrong, 1}, one_thread());
              }),
              HasSubstr("expected [1 x 2 x 4 x 8], found [2 x 8 x 4]"));
}

TEST(PreparedCall, TakesAMaskAndLengths) {
  const Call causal = call_of("dot:masks=causal"), plain = call_of("dot");
  Given<double> given(plain, tokens_for(plain));
  std::vector<std::uint8_t> seen;
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 9; ++j) seen.push_back(j <= i ? 1 : 0);
  }
  std::vector<TensorView> masked = given.views;
  masked.push_back(view_of("mask", seen, {9, 9}));
  const auto by_word = prepare(causal, given.views), by_array = prepare(plain, masked);
  Results a(*by_word, Pass::forward), b(*by_array, Pass::forward);
  by_word->forward(given.views, a.views, one_thread());
  by_array->forward(masked, b.views, one_thread());
  for (std::size_t i = 0; i < a.of<double>("output").size(); ++i) {
    EXPECT_NEAR(a.of<double>("output")[i], b.of<double>("output")[i], 1e-14);
  }
  std::vector<std::int64_t> lengths = {9, 4};
  std::vector<TensorView> padded = given.views;
  padded.push_back(view_of("lengths", lengths, {2}));
  const auto with_lengths = prepare(call_of("dot:masks=padding"), padded);
  Results c(*with_lengths, Pass::forward);
  with_lengths->forward(padded, c.views, one_thread());
  std::vector<std::uint8_t> keys(18, 1);
  std::fill(keys.begin() + 9 + 4, keys.end(), 0);
  masked.back() = view_of("mask", keys, {2, 1, 1, 9});
  const auto with_keys = prepare(plain, masked);
  Results d(*with_keys, Pass::forward);
  with_keys->forward(masked, d.views, one_thread());
  for (std::size_t i = 0; i < c.of<double>("output").size(); ++i) {
    EXPECT_NEAR(d.of<double>("output")[i], c.of<double>("output")[i], 1e-14);
  }
  masked.back() = view_of("mask", keys, {2, 9});
  EXPECT_THROW(prepare(plain, masked)->forward(masked, d.views, one_thread()), Error);
}

}  // namespace
}  // namespace conelab::tests
