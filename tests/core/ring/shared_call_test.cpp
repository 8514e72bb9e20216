// A call whose tokens the ranks hold in consecutive shares of any size.
#include "core/ring/shared_call.h"

#include <gtest/gtest.h>

#include <mutex>
#include <numeric>

#include "core/base/error.h"
#include "core/ring/own_rows.h"
#include "tests/core/ring/thread_ranks.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

/// A dense tensor's view of `rows` of its tokens.
TensorView view(const char* name, Tensor4<double>& tensor, Rows rows) {
  const Shape4 s = tensor.shape;
  return {name,
          NumberType::f64,
          tensor.row(0, 0, rows.begin),
          {s.batch, s.head, rows.count(), s.feature},
          {s.head * s.token * s.feature, s.token * s.feature, s.feature, 1}};
}

struct WholeCall {
  Tensor4<double> output, lse, q, k, v;
  std::vector<double> gamma;
};

Rows share_of(const std::vector<std::int64_t>& shares, int rank) {
  const std::int64_t first =
      std::accumulate(shares.begin(), shares.begin() + rank, std::int64_t{0});
  return {first, first + shares[static_cast<std::size_t>(rank)]};
}

WholeCall computed(const AttentionInput<double>& input, const Shares& shares) {
  Tensor4<double> q = input.query.dense(), k = input.key.dense(), v = input.value.dense();
  Tensor4<double> grad = input.output_grad.dense();
  WholeCall whole{grad, Tensor4<double>({q.shape.batch, q.shape.head, q.shape.token, 1}),
                  q,    k,
                  v,    std::vector<double>(1, 0)};
  std::mutex mutex;
  const Call call = call_from_text("penumbral:gamma=1.5:mask=causal");
  run_ranks(static_cast<int>(shares.queries.size()), [&](Ranks& ranks) {
    const Rows own = share_of(shares.queries, ranks.rank());
    const Rows keys = share_of(shares.keys, ranks.rank());
    const std::vector<TensorView> inputs = {view("q", q, own), view("k", k, keys),
                                            view("v", v, keys)};
    const auto shared = share(call, inputs, shares, ranks);
    shared->forward(std::vector{view("output", whole.output, own), view("lse", whole.lse, own)},
                    one_thread());
    std::vector<double> gamma(1, -1);
    std::vector<TensorView> results = {view("q", whole.q, own),
                                       view("k", whole.k, keys),
                                       view("v", whole.v, keys),
                                       {"gamma", NumberType::f64, gamma.data(), {1}, {1}}};
    for (int pass = 0; pass < 2; ++pass) {  // The second gives the same once more.
      shared->backward(view("output_grad", grad, own), results, one_thread());
    }
    const std::lock_guard lock(mutex);
    whole.gamma[0] += gamma[0];
  });
  return whole;
}

TEST(SharedCall, GivesTheSameBitsForAnyShares) {
  const AttentionInput<double> input =
      random_input(call_from_text("penumbral"), {2, 4, 37, 60, 6, 3, {}, {}, 2, 2}, 5);
  const WholeCall one = computed(input, {{37}, {60}});
  for (const Shares& shares :
       {Shares{{18, 19}, {50, 10}}, Shares{{0, 37}, {30, 30}}, Shares{{5, 30, 2}, {20, 1, 39}}}) {
    const WholeCall more = computed(input, shares);
    EXPECT_EQ(more.output.data, one.output.data);
    EXPECT_EQ(more.lse.data, one.lse.data);
    EXPECT_EQ(more.q.data, one.q.data);
    EXPECT_EQ(more.k.data, one.k.data);
    EXPECT_EQ(more.v.data, one.v.data);
    EXPECT_EQ(more.gamma, one.gamma);
  }
}

TEST(SharedCall, EqualsOneCallButForRounding) {
  AttentionInput<double> input =
      random_input(call_from_text("penumbral"), {2, 4, 37, 60, 6, 3, {}, {}, 2, 2}, 5);
  const WholeCall found = computed(input, {{20, 17}, {31, 29}});
  const auto plan =
      resolve(call_from_text("penumbral:gamma=1.5:mask=causal"), check_extents(input));
  const Forward<double> saved = forward(*plan, input, one_thread());
  const Backward<double> gradients = backward(*plan, input, saved, one_thread());
  EXPECT_LE(difference(found.output, saved.output), 1e-10);
  EXPECT_LE(difference(found.lse, saved.lse), 1e-10);
  EXPECT_LE(difference(found.q, gradients.query), 1e-10);
  EXPECT_LE(difference(found.k, gradients.key), 1e-10);
  EXPECT_LE(difference(found.v, gradients.value), 1e-10);
  EXPECT_NEAR(found.gamma[0], gradients.parameters.at("gamma")[0], 1e-9);
}

TEST(SharedCall, RefusesWhatRanksDoNotShare) {
  Tensor4<double> q({1, 1, 4, 3});
  run_ranks(1, [&](Ranks& ranks) {
    const std::vector<TensorView> inputs = {view("q", q, {0, 4})};
    EXPECT_THROW((void)share(call_from_text("star"), inputs, {{4}, {4}}, ranks), Error);
  });
}

}  // namespace
}  // namespace conelab::tests
