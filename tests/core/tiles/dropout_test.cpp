// Dropout of weights: which pairs it drops, sums of what is left, gradients, and what does not
// change it.
#include "core/base/dropout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/tiles/cases.h"
#include "tests/helpers/errors.h"

namespace conelab::tests {
namespace {

constexpr double dropped_share = 0.3;

/// Masks in tiles and in lists, each law of weights, midpoints, values of positions, and sinks.
const char* const dropped_texts[] = {"dot:masks=causal",
                                     "penumbral:gamma=2",
                                     "umbral:radius=0.5:masks=strided:stride=5",
                                     "laplacian:weights=sigmoid",
                                     "dot:axis=query:masks=causal",
                                     "dot:axis=query:masks=strided:stride=5",
                                     "additive",
                                     "penumbral:map=psi:aggregate=einstein:value_map=polar",
                                     "dot:bias=shaw:shaw_v=random:masks=strided:stride=5",
                                     "dot:bias=shaw:shaw_k=random:shaw_v=random",
                                     "dot:sinks=random:soft_cap=2"};

struct Dropped {
  Call call;
  AttentionInput<double> input;
  std::shared_ptr<const Plan> plan;
};

Dropped dropped(const std::string& text, const Extents& extents) {
  const Call call = with_random_tensors(call_from_text(text));
  AttentionInput<double> input = random_input(call, extents, 5, 0.9);
  auto plan = draw_tensors(call, input, 3);
  input.dropout = {dropped_share, 11};
  return {call, std::move(input), std::move(plan)};
}

double loss(const Dropped& d) {
  const Forward<double> found = forward(*d.plan, d.input, one_thread());
  double sum = 0;
  for (std::size_t i = 0; i < found.output.data.size(); ++i) {
    sum += found.output.data[i] * d.input.output_grad.row(0, 0, 0)[i];
  }
  return sum;
}

/// Values that are the rows of the identity make the output d_ij w_ij.
TEST(Dropout, MultipliesWeightsByZeroOrTheInverseOfWhatIsKept) {
  for (const char* text : {"dot:masks=causal", "umbral:masks=strided:stride=5", "dot:axis=query"}) {
    SCOPED_TRACE(text);
    Dropped d = dropped(text, {2, 2, 60, 70, 5, 70});
    Tensor4<double> identity({2, 2, 70, 70});
    for (std::int64_t i = 0; i < 280; ++i)
      identity.data[static_cast<std::size_t>(i * 70 + i % 70)] = 1;
    d.input.value = identity;
    const Answer<double> found = run(d.call, d.input);
    int zeros = 0, pairs = 0;
    for (std::size_t i = 0; i < found.weights.data.size(); ++i) {
      const double weight = found.weights.data[i], product = found.forward.output.data[i];
      if (weight == 0) continue;
      ++pairs;
      zeros += static_cast<int>(product == 0);
      EXPECT_NEAR(product, product == 0 ? 0 : weight / (1 - dropped_share), 1e-12);
    }
    EXPECT_NEAR(zeros, dropped_share * pairs,
                5 * std::sqrt(dropped_share * (1 - dropped_share) * pairs));
    // The row sums and their logarithms are those without dropout.
    d.input.dropout = {};
    EXPECT_EQ(run(d.call, d.input).forward.lse.data, found.forward.lse.data);
  }
}

TEST(Dropout, HasTheGradientsOfItsOutput) {
  for (const char* text : dropped_texts) {
    SCOPED_TRACE(text);
    Dropped d = dropped(text, {2, 2, 20, 23, 4, 3});
    const Forward<double> saved = forward(*d.plan, d.input, one_thread());
    const Backward<double> found = backward(*d.plan, d.input, saved, one_thread());
    const auto expect = [&](Tensor4<double>& x, const Tensor4<double>& slopes, const char* name) {
      for (std::size_t i = 0; i < x.data.size(); i += 17) {
        const double before = x.data[i], step = 1e-5;
        x.data[i] = before + step;
        const double up = loss(d);
        x.data[i] = before - step;
        const double down = loss(d);
        x.data[i] = before;
        EXPECT_NEAR(slopes.data[i], (up - down) / (2 * step), 2e-7) << name << " " << i;
      }
    };
    expect(d.input.query.owned(), found.query, "q");
    expect(d.input.key.owned(), found.key, "k");
    expect(d.input.value.owned(), found.value, "v");
    for (const auto& [name, slopes] : found.tensors) {
      Array<double>& tensor = d.input.tensors.at(name);
      const double before = tensor.data.back();
      tensor.data.back() = before + 1e-5;
      const double up = loss(d);
      tensor.data.back() = before - 1e-5;
      EXPECT_NEAR(slopes.data.back(), (up - loss(d)) / 2e-5, 2e-7) << name;
      tensor.data.back() = before;
    }
  }
}

TEST(Dropout, HasTheSameBitsForAnyThreadsAndSlices) {
  for (const char* text :
       {"penumbral:masks=causal", "dot:masks=strided:stride=7", "dot:axis=query"}) {
    SCOPED_TRACE(text);
    const Dropped d = dropped(text, {2, 2, 400, 400, 4, 3});
    const auto of_threads = [&](int threads) {
      const Execution run = with_threads(threads);
      const Forward<double> saved = forward(*d.plan, d.input, run);
      return std::pair{saved.output, backward(*d.plan, d.input, saved, run)};
    };
    const auto one = of_threads(1), three = of_threads(3);
    EXPECT_EQ(one.first.data, three.first.data);
    EXPECT_EQ(one.second.query.data, three.second.query.data);
    EXPECT_EQ(one.second.key.data, three.second.key.data);
    EXPECT_EQ(one.second.value.data, three.second.value.data);
  }
  Dropped whole = dropped("dot", {1, 1, 40, 40, 4, 3}), part = whole;
  const Forward<double> all = forward(*whole.plan, whole.input, one_thread());
  Tensor4<double> queries({1, 1, 10, 4});
  std::copy_n(whole.input.query.row(0, 0, 25), 40, queries.data.data());
  part.input.query = queries;
  part.input.output_grad = {};
  part.input.allowed.clear();
  part.input.positions = {25, 0, 40, 40};
  const Answer<double> found = run(part.call, part.input);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_NEAR(found.forward.output.data[i], all.output.row(0, 0, 25)[i], 1e-14);
  }
}

TEST(Dropout, IsOfAFewQueriesOf16BitsToo) {
  const Dropped d = dropped("dot", {1, 2, 4, 300, 8, 6});
  const auto wide = run(d.call, d.input);
  EXPECT_LT(difference(run(d.call, convert<Bfloat16>(d.input)).forward.output, wide.forward.output),
            0.05);
}

TEST(Dropout, IsRefusedWhereItIsNotComputed) {
  const auto message = [](const std::string& text, double p) -> std::string {
    Dropped d = dropped(text, {1, 1, 8, 8, 2, 2});
    d.input.dropout.share = p;
    return fixtures::message_of([&] { return forward(*d.plan, d.input, one_thread()); });
  };
  EXPECT_THAT(message("dot", 1), testing::HasSubstr("in [0, 1) (found 1)"));
  EXPECT_THAT(message("dot", -0.1), testing::HasSubstr("in [0, 1)"));
  EXPECT_THAT(message("umbral:evaluation=intervals", 0.1), testing::HasSubstr("has no dropout"));
  EXPECT_EQ(message("umbral", 0.1), "");
}

}  // namespace
}  // namespace conelab::tests
