// Few queries, whose keys are packed tile by tile or used where they lie: their rows are those of
// the same queries among more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/call/call.h"
#include "core/operators/operator.h"
#include "tests/core/tiles/cases.h"
#include "tests/core/tiles/model_memory.h"

namespace conelab::tests {
namespace {

/// More than a tile has, and fewer than those for which the tile unit multiplies floats.
constexpr std::int64_t many = 72;

template <class T>
AttentionInput<T> random_tokens(const Extents& extents, const char* call) {
  return convert<T>(random_input(call_from_text(call), extents, 7));
}

/// Returns the first `count` queries of a problem.
template <class T>
AttentionInput<T> first_queries(const AttentionInput<T>& input, std::int64_t count) {
  AttentionInput<T> few = input;
  const Shape4& s = input.query.shape;
  Tensor4<T> query({s.batch, s.head, count, s.feature});
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.head; ++h) {
      copy_tokens(input.query.tokens(b, h).part(0, count), query.row(b, h, 0));
    }
  }
  few.query = std::move(query);
  few.output_grad = {};
  few.allowed.clear();
  return few;
}

template <class T>
Forward<T> computed(const char* call, const AttentionInput<T>& input, int threads = 2) {
  return forward(*resolve(call_from_text(call), check_extents(input)), input,
                 with_threads(threads));
}

/// Expects the same bits if `exact` is 0, but for float tensors of up to 8 queries.
template <class T>
void expect_rows_of_many(const char* call, const Extents& extents, double exact) {
  const AttentionInput<T> input = random_tokens<T>(extents, call);
  const Forward<T> all = computed(call, input);
  for (const std::int64_t count : {1, 3, 12}) {
    // Keys that are used where they lie are measured in another order.
    const bool lying = std::is_same_v<T, float> && count < 12;
    const double tolerance = lying ? std::max(exact, 1e-6) : exact;
    const Forward<T> few = computed(call, first_queries(input, count));
    for (std::int64_t h = 0; h < extents.head; ++h) {
      for (std::int64_t i = 0; i < count; ++i) {
        EXPECT_NEAR(*few.lse.row(0, h, i), *all.lse.row(0, h, i), 10 * tolerance) << call << count;
        for (std::int64_t c = 0; c < extents.value; ++c) {
          const double expected = static_cast<double>(all.output.at(0, h, i, c));
          ASSERT_NEAR(static_cast<double>(few.output.at(0, h, i, c)), expected,
                      tolerance * (1 + std::abs(expected)))
              << call << " " << count << " queries, head " << h << ", query " << i;
        }
      }
    }
  }
}

TEST(FewQueries, HaveTheRowsOfMany) {
  for (Extents extents : {Extents{1, 4, many, 1500, 33, 40}, Extents{1, 4, many, 1025, 64, 64},
                          Extents{1, 4, many, 9000, 24, 8}}) {
    const double joined = extents.key > 4096 ? 1e-5 : 0;
    for (const std::int64_t key_heads : {1, 2, 4}) {
      extents.key_head = extents.value_head = key_heads;
      for (const char* call :
           {"dot", "laplacian", "penumbral:gamma=0.2", "umbral:gamma=0.1",
            "penumbral:gamma=0.1,0.2,0.3,0.4:height=1,2,3,4", "hyperbolic", "dot:weights=sigmoid",
            "umbral:masks=padding", "umbral:weights=exp:gamma=0.5"}) {
        expect_rows_of_many<float>(call, extents, joined);
      }
      expect_rows_of_many<Bfloat16>("penumbral", extents, 0x1p-7);
      expect_rows_of_many<Float16>("dot", extents, 0x1p-10);
    }
  }
}

template <class T>
bool same_bits(const Forward<T>& a, const Forward<T>& b) {
  return std::ranges::equal(a.output.data, b.output.data, [](T x, T y) {
    return static_cast<float>(x) == static_cast<float>(y);
  });
}

template <class T>
void expect_same_bits_for_any_threads_and_layout() {
  Extents extents{2, 4, 2, 9000, 64, 64};
  extents.key_head = extents.value_head = 2;
  for (const char* call : {"dot", "penumbral", "umbral:bias=alibi:masks=causal"}) {
    const AttentionInput<T> input = random_tokens<T>(extents, call);
    const Forward<T> expected = computed(call, input, 1);
    EXPECT_TRUE(same_bits(computed(call, input, 2), expected)) << call;
    ModelMemory<T> memory(std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(same_bits(computed(call, memory.place(input), 2), expected)) << call;
  }
}

TEST(FewQueries, HaveTheSameBitsForAnyThreadsAndLayout) {
  expect_same_bits_for_any_threads_and_layout<float>();
  expect_same_bits_for_any_threads_and_layout<Bfloat16>();
}

/// They make NaN of what sees them, and of nothing else.
template <class T>
void expect_that_only_rows_that_see_it_are_not_finite() {
  const Extents extents{1, 2, 2, 1500, 32, 32};
  for (const char* call : {"dot", "laplacian", "penumbral", "umbral"}) {
    for (const float number :
         {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
          std::numeric_limits<float>::quiet_NaN(), 1e30F}) {
      AttentionInput<T> input = random_tokens<T>(extents, call);
      const Forward<T> sound = computed(call, input);
      input.key.owned().row(0, 1, 1200)[3] = T(number);
      const Forward<T> found = computed(call, input);
      EXPECT_EQ(std::isnan(static_cast<float>(found.output.at(0, 1, 0, 0))), true)
          << call << number;
      EXPECT_EQ(static_cast<float>(found.output.at(0, 0, 0, 0)),
                static_cast<float>(sound.output.at(0, 0, 0, 0)));
      AttentionInput<T> weighed = random_tokens<T>(extents, call);
      weighed.value.owned().row(0, 1, 700)[3] = T(number);
      const Forward<T> beside = computed(call, weighed);
      EXPECT_EQ(std::isfinite(static_cast<float>(beside.output.at(0, 1, 0, 3))),
                std::isfinite(number))
          << call;
      EXPECT_NEAR(static_cast<float>(beside.output.at(0, 1, 0, 4)),
                  static_cast<float>(sound.output.at(0, 1, 0, 4)), 1e-6)
          << call;
    }
  }
}

/// Keys far from the queries, and one close to them: the largest logits are some 1e4, so that a
/// measure that another pass rounds in its last bits would show in the weights and the gradients.
template <class T>
void expect_that_passes_and_maps_agree(const char* call) {
  const Extents extents{1, 2, 1, 700, 48, 32};
  AttentionInput<T> input = random_tokens<T>(extents, call);
  for (T& x : input.query.owned().data) x *= 60;
  for (T& x : input.key.owned().data) x *= 60;
  for (std::int64_t h = 0; h < 2; ++h) {
    std::copy_n(input.query.owned().row(0, h, 0), 48, input.key.owned().row(0, h, 3));
    for (std::int64_t j = 0; j < 700; ++j) input.key.owned().row(0, h, j)[47] = T(0.3);
    input.query.owned().row(0, h, 0)[47] = T(0.4);
  }
  const std::shared_ptr<const Plan> plan = resolve(call_from_text(call), check_extents(input));
  const Forward<T> saved = forward(*plan, input);
  const auto weights = attention_map(*plan, input, Map2d::weights);
  for (std::int64_t h = 0; h < 2; ++h) {
    double sum = 0;
    for (std::int64_t j = 0; j < 700; ++j) sum += static_cast<double>(weights.at(0, h, 0, j));
    EXPECT_NEAR(sum, 1, sizeof(T) == 4 ? 2e-6 : 1e-14) << call << " head " << h;
  }
  // The gradients of the values sum to that of the output, because the weights sum to 1.
  input.output_grad = Tensor4<T>({1, 2, 1, 32}, T(1));
  const Backward<T> gradients = backward(*plan, input, saved);
  for (std::int64_t h = 0; h < 2; ++h) {
    double sum = 0;
    for (std::int64_t j = 0; j < 700; ++j) {
      sum += static_cast<double>(gradients.value.at(0, h, j, 5));
    }
    EXPECT_NEAR(sum, 1, sizeof(T) == 4 ? 2e-6 : 1e-14) << call << " head " << h;
  }
}

TEST(FewQueries, PassesAndMapsRoundLargeLogitsAlike) {
  for (const char* call : {"dot", "laplacian", "penumbral:gamma=9", "umbral:gamma=9"}) {
    expect_that_passes_and_maps_agree<float>(call);
    expect_that_passes_and_maps_agree<double>(call);
  }
}

TEST(FewQueries, KeepWhatIsNotFiniteToTheRowsThatSeeIt) {
  expect_that_only_rows_that_see_it_are_not_finite<float>();
  expect_that_only_rows_that_see_it_are_not_finite<Bfloat16>();
}

}  // namespace
}  // namespace conelab::tests
