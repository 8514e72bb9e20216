// Few queries, whose keys are packed tile by tile: their rows are those of the same queries among
// more.
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

/// Expects the same bits if `tolerance` is 0.
template <class T>
void expect_rows_of_many(const char* call, const Extents& extents, double tolerance) {
  const AttentionInput<T> input = random_tokens<T>(extents, call);
  const Forward<T> all = computed(call, input);
  for (const std::int64_t count : {1, 3, 12}) {
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

TEST(FewQueries, KeepWhatIsNotFiniteToTheRowsThatSeeIt) {
  expect_that_only_rows_that_see_it_are_not_finite<float>();
  expect_that_only_rows_that_see_it_are_not_finite<Bfloat16>();
}

}  // namespace
}  // namespace conelab::tests
