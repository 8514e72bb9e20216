#include "core/bench/case_problem.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/call/plan.h"

namespace conelab {
namespace {

template <class T>
class CaseError : public ::testing::Test {};

using Types = ::testing::Types<float, double, Float16, Bfloat16>;
TYPED_TEST_SUITE(CaseError, Types);

/// What one call computes, to be broken: 2 batch elements of 2 heads of 40 tokens.
template <class T>
struct Computed {
  AttentionInput<T> input;
  Call call;
  Forward<T> result;
  Backward<T> gradient;

  Computed() {
    const AttentionInput<float> random =
        random_input({{"dim", "8"}, {"head", "2"}, {"seq_len", "40"}}, 2, 1);
    if constexpr (std::is_same_v<T, float>)
      input = random;
    else
      input = convert<T>(random);
    const auto plan = resolve(call, check_extents(input));
    call = plan->call;
    result = forward(*plan, input);
    gradient = backward(*plan, input, result);
  }
  [[nodiscard]] double of_output() const { return output_error(call, input, result.output); }
  [[nodiscard]] double of_gradient() const { return gradient_error(call, input, gradient, {}); }
};

template <class T>
void add(Tensor4<T>& tensor, std::int64_t batch, std::int64_t head, double what) {
  T& x = tensor.at(batch, head, 4, 7);
  x = static_cast<T>(static_cast<double>(x) + what);
}

TYPED_TEST(CaseError, OfAnOutputIsThatOfItsWorstHead) {
  Computed<TypeParam> c;
  EXPECT_LT(c.of_output(), 0.03);
  add(c.result.output, 1, 1, 1);
  EXPECT_NEAR(c.of_output(), 1, 0.05);
  add(c.result.output, 0, 1, std::nan(""));
  EXPECT_TRUE(std::isnan(c.of_output()));
}

TYPED_TEST(CaseError, OfGradientsIsThatOfTheWorstOfThem) {
  Computed<TypeParam> c;
  EXPECT_LT(c.of_gradient(), 0.1);
  add(c.gradient.query, 0, 0, 1);
  EXPECT_NEAR(c.of_gradient(), 1, 0.1);
  if (sizeof(TypeParam) == sizeof(double)) return;  // Some slopes of one head.
  add(c.gradient.value, 1, 0, 3);
  EXPECT_NEAR(c.of_gradient(), 3, 0.1);
  add(c.gradient.key, 1, 1, std::nan(""));
  EXPECT_TRUE(std::isnan(c.of_gradient()));
}

}  // namespace
}  // namespace conelab
