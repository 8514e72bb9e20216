// The bias "explicit": its sizes, its memory, its gradient, and the order in which that is summed.
#include "core/tiles/pair_bias.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/operators/prepared_call.h"
#include "core/reference/evaluate.h"
#include "tests/core/tiles/cases.h"
#include "tests/helpers/errors.h"

namespace conelab::tests {
namespace {

const Extents sizes{2, 3, 70, 150, 5, 3};

/// Returns every way in which a bias may stand for the pairs: each axis whole or of size 1, and
/// leading axes absent.
std::vector<std::vector<std::int64_t>> shapes_of(const Extents& e) {
  const std::int64_t whole[] = {e.batch, e.head, e.query, e.key};
  std::vector<std::vector<std::int64_t>> all{
      {e.query, e.key}, {e.head, e.query, e.key}, {1, e.key}};
  for (int bits = 0; bits < 16; ++bits) {
    all.emplace_back();
    for (int axis = 0; axis < 4; ++axis) all.back().push_back((bits >> axis & 1) ? whole[axis] : 1);
  }
  return all;
}

template <class T>
Array<T> random_bias(const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  Random random(seed);
  Array<T> bias{shape, {}};
  std::int64_t size = 1;
  for (const std::int64_t n : shape) size *= n;
  for (std::int64_t i = 0; i < size; ++i) {
    bias.data.push_back(static_cast<T>(random.uniform(-1.5, 1.5)));
  }
  return bias;
}

AttentionInput<double> input_with(const Call& call, const Extents& e,
                                  const std::vector<std::int64_t>& shape) {
  AttentionInput<double> input = random_input(call, e, 3);
  input.tensors["bias"] = random_bias<double>(shape, 5);
  return input;
}

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t n : shape) text += std::to_string(n) + " ";
  return text;
}

TEST(PairBias, StandsForPairsInEveryShape) {
  for (const char* text : {"dot:bias=explicit:masks=causal", "umbral:bias=explicit:masks=strided",
                           "penumbral:bias=explicit:weights=sigmoid:position=rope"}) {
    Call call = call_from_text(text);
    give_mask_parameters(call);
    for (const auto& shape : shapes_of(sizes)) {
      SCOPED_TRACE(std::string(text) + " " + text_of(shape));
      const AttentionInput<double> wide = input_with(call, {2, 3, 70, 150, 4, 3}, shape);
      const auto expected = reference::evaluate(reference::make_problem(call, wide));
      const Answer<double> found = run(call, wide);
      EXPECT_LT(difference(found.forward.output, expected.output), 1e-12);
      EXPECT_LT(difference(found.logits, expected.logits), 1e-12);
      for (const auto& half : {convert<float>(run(call, convert<Bfloat16>(wide)).forward.output),
                               convert<float>(run(call, convert<Float16>(wide)).forward.output)}) {
        EXPECT_LT(difference(half, expected.output), 0.03);
      }
    }
  }
}

TEST(PairBias, HasTheGradientOfTheReferenceInEveryShape) {
  const Extents few{2, 2, 3, 4, 3, 2};
  for (const char* text : {"dot:bias=explicit", "laplacian:bias=explicit:masks=strided:stride=2"}) {
    const Call call = call_from_text(text);
    for (const auto& shape : shapes_of(few)) {
      SCOPED_TRACE(std::string(text) + " " + text_of(shape));
      const AttentionInput<double> input = input_with(call, few, shape);
      const auto plan = resolve(call, check_extents(input));
      const auto found = backward(*plan, input, forward(*plan, input));
      reference::Problem problem = reference::make_problem(call, input);
      const Array<double>& slopes = found.tensors.at("bias");
      ASSERT_EQ(slopes.extents, shape);
      Array<reference::Real>& bias = problem.tensors.at("bias");
      for (std::size_t i = 0; i < bias.data.size(); ++i) {
        EXPECT_NEAR(slopes.data[i], reference::central_difference(problem, bias.data[i]).slope,
                    1e-8);
      }
    }
  }
}

TEST(PairBias, HasTheSameGradientForAnyNumberOfThreads) {
  for (const char* text : {"dot:bias=explicit:masks=causal", "dot:bias=explicit:masks=strided"}) {
    Call call = call_from_text(text);
    give_mask_parameters(call);
    const Extents tiles{2, 3, 200, 400, 5, 3};
    for (const auto& shape : shapes_of(tiles)) {
      SCOPED_TRACE(std::string(text) + " " + text_of(shape));
      const auto input = convert<float>(input_with(call, tiles, shape));
      const auto plan = resolve(call, check_extents(input));
      const auto of_threads = [&](int threads) {
        const Execution run = with_threads(threads);
        return backward(*plan, input, forward(*plan, input, run), run).tensors.at("bias");
      };
      const Array<double> one = of_threads(1);
      for (const int threads : {2, 7, 64}) EXPECT_TRUE(of_threads(threads) == one) << threads;
    }
  }
}

/// The gradient is an array as large as all pairs, which nobody pays for who does not ask for it.
TEST(PairBias, HasAGradientOnlyWhereItIsWanted) {
  const Call call = call_from_text("dot:bias=explicit");
  AttentionInput<double> input = input_with(call, sizes, {70, 150});
  const auto plan = resolve(call, check_extents(input));
  const auto saved = forward(*plan, input);
  const auto with = backward(*plan, input, saved);
  input.wants_bias_gradient = false;
  const auto without = backward(*plan, input, saved);
  EXPECT_EQ(with.tensors.count("bias"), 1u);
  EXPECT_EQ(without.tensors.count("bias"), 0u);
  EXPECT_EQ(with.query.data, without.query.data);
}

/// A caller's memory may have any strides, also backwards.
TEST(PairBias, IsReadWhereItLies) {
  const Call call = call_from_text("dot:bias=explicit");
  AttentionInput<float> input = convert<float>(input_with(call, {1, 2, 9, 33, 4, 3}, {2, 9, 33}));
  const Array<float> bias = input.tensors.at("bias");
  const auto plan = resolve(call, check_extents(input));
  const Forward<float> expected = forward(*plan, input);
  // [n_k, head, n_q] with the queries backwards.
  std::vector<float> memory(bias.data.size());
  for (std::int64_t h = 0; h < 2; ++h) {
    for (std::int64_t i = 0; i < 9; ++i) {
      for (std::int64_t j = 0; j < 33; ++j) {
        memory[static_cast<std::size_t>((j * 2 + h) * 9 + 8 - i)] =
            bias.data[static_cast<std::size_t>((h * 9 + i) * 33 + j)];
      }
    }
  }
  input.tensors["bias"].data.clear();
  input.bias = {"bias", NumberType::f32, memory.data() + 8, {2, 9, 33}, {9, -1, 18}};
  EXPECT_EQ(forward(*plan, input).output.data, expected.output.data);
  const auto grad = backward(*plan, input, expected).tensors.at("bias");
  EXPECT_EQ(grad.extents, bias.extents);
}

TEST(PairBias, HidesPairsOfMinusInfinityAndKeepsNanToTheRowsThatSeeIt) {
  const Call call = call_from_text("penumbral:bias=explicit:masks=causal");
  AttentionInput<double> input = input_with(call, {1, 1, 6, 6, 4, 3}, {6, 6});
  std::vector<double>& bias = input.tensors.at("bias").data;
  constexpr double endless = std::numeric_limits<double>::infinity();
  for (int j = 0; j < 6; ++j) bias[6 * 1 + j] = -endless;
  bias[6 * 2 + 5] = std::nan("");  // The mask hides it.
  bias[6 * 4 + 3] = std::nan("");
  bias[6 * 5 + 0] = endless;
  const Answer<double> found = run(call, input);
  const auto expected = reference::evaluate(reference::make_problem(call, input));
  EXPECT_LT(difference(found.forward.output, expected.output), 1e-12);
  EXPECT_EQ(found.forward.lse.at(0, 0, 1, 0), -endless);
  for (int row = 0; row < 6; ++row) {
    EXPECT_EQ(std::isnan(found.forward.output.at(0, 0, row, 0)), row == 4 || row == 5) << row;
  }
  const auto plan = resolve(call, check_extents(input));
  const auto grad = backward(*plan, input, forward(*plan, input)).tensors.at("bias");
  for (int row = 0; row < 6; ++row) {
    for (int j = 0; j < 6; ++j) {
      EXPECT_EQ(std::isnan(grad.data[static_cast<std::size_t>(6 * row + j)]), row >= 4 && j <= row)
          << row << " " << j;
    }
  }
}

TEST(PairBias, OfOtherSizesIsRefusedInOneLine) {
  const Call call = call_from_text("dot:bias=explicit");
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{
           {70, 149}, {150}, {4, 70, 150}, {2, 2, 70, 150}, {1, 1, 1, 70, 150}}) {
    AttentionInput<double> input = random_input(call, sizes, 3);
    input.tensors["bias"] = random_bias<double>(shape, 5);
    const std::string said =
        fixtures::message_of([&] { return resolve(call, check_extents(input)); });
    EXPECT_EQ(said.find('\n'), std::string::npos);
    EXPECT_NE(said.find("bias"), std::string::npos) << text_of(shape);
  }
  EXPECT_THROW((void)resolve(call, {1, 1, 4, 4, 3, 3}), Error);  // There is none.
}

TEST(PairBias, OfATextIsTheTensorOfTheBiasThatReadsIt) {
  Call call = call_from_text("dot:bias=@b.npy");
  EXPECT_EQ(call.bias, "explicit");
  EXPECT_EQ(call.parameters.at("bias").text(), "@b.npy");
  EXPECT_EQ(call_text(call), "dot:bias=@b.npy");
  EXPECT_EQ(call_from_text(call_text(call)), call);
  call = with_random_tensors(call_from_text("dot:bias=explicit"));
  EXPECT_EQ(call_from_text(call_text(call)), call);
}

}  // namespace
}  // namespace conelab::tests
