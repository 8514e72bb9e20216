// The C interface: statuses, error texts, results in memory of the caller.
#include "core/capi/conelab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/helpers/memory.h"

namespace conelab::tests {
namespace {

using testing::HasSubstr;

/// Two heads of n tokens of d features, and what they give.
struct Small {
  std::vector<float> q, output;
  std::int64_t sizes[3], strides[3];
  conelab_tensor input{"q", q.data(), CONELAB_F32, 3, sizes, strides};
  conelab_tensor result{"output", output.data(), CONELAB_F32, 3, sizes, strides};

  explicit Small(std::int64_t n = 8, std::int64_t d = 4)
      : q(static_cast<std::size_t>(2 * n * d)),
        output(q.size()),
        sizes{2, n, d},
        strides{n * d, d, 1} {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = 0.1f * static_cast<float>(i % 7);
  }
};

TEST(CInterface, ComputesOutputsGradientsAndTiles) {
  Small s;
  conelab_plan* plan = nullptr;
  ASSERT_EQ(conelab_prepare("penumbral:gamma=2", &s.input, 1, &plan), CONELAB_OK);
  std::size_t count = 0;
  const conelab_tensor* results = conelab_results(plan, CONELAB_BACKWARD, &count);
  ASSERT_EQ(count, 5U);  // q, k, v, gamma, height
  EXPECT_STREQ(results[3].name, "gamma");
  EXPECT_EQ(results[3].dtype, CONELAB_F64);
  ASSERT_EQ(conelab_forward(plan, &s.input, 1, &s.result, 1, nullptr), CONELAB_OK);
  EXPECT_NE(s.output.front(), 0);

  double gamma = 0;
  const std::int64_t one = 1;
  const conelab_tensor slope{"gamma", &gamma, CONELAB_F64, 1, &one, &one};
  ASSERT_EQ(conelab_backward(plan, &s.input, 1, &slope, 1, nullptr), CONELAB_OK);
  EXPECT_NE(gamma, 0);

  float weights[8] = {};
  const std::int64_t sizes[] = {1, 8}, strides[] = {8, 1};
  const conelab_tensor tile{"tile", weights, CONELAB_F32, 2, sizes, strides};
  const conelab_tile row{0, 1, 3, 4, 0, 8};
  ASSERT_EQ(conelab_map_tile(plan, &s.input, 1, CONELAB_WEIGHTS, &row, &tile, nullptr), CONELAB_OK);
  float sum = 0;
  for (const float w : weights) sum += w;
  EXPECT_NEAR(sum, 1, 1e-6);
  conelab_release(plan);
  conelab_release(nullptr);
}

TEST(CInterface, SaysHowSumsWereComputed) {
  Small s;
  std::int64_t sizes[] = {2, 16, 2}, strides[] = {32, 2, 1};
  s.input.sizes = s.result.sizes = sizes;
  s.input.strides = s.result.strides = strides;
  const char* const found[][2] = {{"umbral:evaluation=intervals", "intervals"},
                                  {"umbral:evaluation=pairs", "pairs"},
                                  {"dot", ""}};
  for (const auto& [call, evaluation] : found) {
    conelab_plan* plan = nullptr;
    ASSERT_EQ(conelab_prepare(call, &s.input, 1, &plan), CONELAB_OK);
    ASSERT_EQ(conelab_forward(plan, &s.input, 1, &s.result, 1, nullptr), CONELAB_OK);
    EXPECT_STREQ(conelab_evaluation(), evaluation) << call;
    conelab_release(plan);
  }
}

TEST(CInterface, DropsWeightsByASeed) {
  Small s;
  double dropout[] = {0.5, 3};
  const std::int64_t two = 2, one = 1;
  conelab_tensor inputs[] = {s.input, {"dropout", dropout, CONELAB_F64, 1, &two, &one}};
  conelab_plan* plan = nullptr;
  ASSERT_EQ(conelab_prepare("dot", inputs, 2, &plan), CONELAB_OK);
  ASSERT_EQ(conelab_forward(plan, inputs, 2, &s.result, 1, nullptr), CONELAB_OK);
  const std::vector<float> first = s.output;
  dropout[1] = 4;
  ASSERT_EQ(conelab_forward(plan, inputs, 2, &s.result, 1, nullptr), CONELAB_OK);
  EXPECT_NE(s.output, first);
  dropout[1] = 3;
  ASSERT_EQ(conelab_forward(plan, inputs, 2, &s.result, 1, nullptr), CONELAB_OK);
  EXPECT_EQ(s.output, first);
  dropout[1] = -1;
  EXPECT_EQ(conelab_forward(plan, inputs, 2, &s.result, 1, nullptr), CONELAB_MISUSE);
  EXPECT_THAT(conelab_error(), HasSubstr("seed of dropout"));
  conelab_release(plan);
}

TEST(CInterface, ATensorWithoutStridesIsDenseAndOneWithoutSizesRefused) {
  Small s;
  conelab_plan* plan = nullptr;
  ASSERT_EQ(conelab_prepare("umbral", &s.input, 1, &plan), CONELAB_OK);
  ASSERT_EQ(conelab_forward(plan, &s.input, 1, &s.result, 1, nullptr), CONELAB_OK);
  const std::vector<float> found = std::exchange(s.output, std::vector<float>(64));
  s.input.strides = s.result.strides = nullptr;
  s.result.data = s.output.data();
  ASSERT_EQ(conelab_forward(plan, &s.input, 1, &s.result, 1, nullptr), CONELAB_OK);
  EXPECT_EQ(s.output, found);
  s.sizes[2] = -4;
  EXPECT_EQ(conelab_forward(plan, &s.input, 1, &s.result, 1, nullptr), CONELAB_MISUSE);
  EXPECT_THAT(conelab_error(), HasSubstr("axis 2 of a tensor has -4 entries"));
  s.sizes[2] = 4;
  s.input.sizes = nullptr;
  EXPECT_EQ(conelab_forward(plan, &s.input, 1, &s.result, 1, nullptr), CONELAB_MISUSE);
  EXPECT_THAT(conelab_error(), HasSubstr("tensor q has no sizes"));
  conelab_release(plan);
}

TEST(CInterface, StatesErrorsByThread) {
  Small s;
  conelab_plan* plan = nullptr;
  EXPECT_EQ(conelab_prepare("penumbrel", &s.input, 1, &plan), CONELAB_MISUSE);
  EXPECT_EQ(plan, nullptr);
  EXPECT_THAT(conelab_error(), HasSubstr("did you mean 'penumbral'"));
  std::thread([] { EXPECT_STREQ(conelab_error(), ""); }).join();
  EXPECT_EQ(conelab_prepare("dot:gamma=1", &s.input, 1, &plan), CONELAB_MISUSE);
  EXPECT_THAT(conelab_error(), HasSubstr("gamma"));
}

TEST(CInterface, StopsWhereTheCallerWantsIt) {
  Small s;
  conelab_plan* plan = nullptr;
  ASSERT_EQ(conelab_prepare("dot", &s.input, 1, &plan), CONELAB_OK);
  const conelab_run run{1, [](void*) { return 1; }, nullptr};
  EXPECT_EQ(conelab_forward(plan, &s.input, 1, &s.result, 1, &run), CONELAB_INTERRUPTED);
  conelab_release(plan);
}

TEST(CInterface, ServesTwoThreadsAtOnce) {
  Small s;
  conelab_plan* plan = nullptr;
  ASSERT_EQ(conelab_prepare("umbral", &s.input, 1, &plan), CONELAB_OK);
  ASSERT_EQ(conelab_forward(plan, &s.input, 1, &s.result, 1, nullptr), CONELAB_OK);
  const auto compute = [&] {
    std::vector<float> own(64);
    conelab_tensor result = s.result;
    result.data = own.data();
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(conelab_forward(plan, &s.input, 1, &result, 1, nullptr), CONELAB_OK);
      EXPECT_EQ(own, s.output);
    }
  };
  std::thread one(compute), two(compute);
  one.join();
  two.join();
  conelab_release(plan);
}

/// The passes are so long that two threads share them.
TEST(CInterface, KeepsNoMemoryOfItsCalls) {
  Small s(72, 64);
  const conelab_run run{2, nullptr, nullptr};
  fixtures::expect_calls_keep_no_memory(20'000, [&](int) {
    conelab_plan* plan = nullptr;
    EXPECT_EQ(conelab_prepare("dot", &s.input, 1, &plan), CONELAB_OK);
    EXPECT_EQ(conelab_forward(plan, &s.input, 1, &s.result, 1, &run), CONELAB_OK);
    conelab_release(plan);
  });
}

}  // namespace
}  // namespace conelab::tests
