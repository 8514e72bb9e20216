// The numerical promise: on N(0,1) tokens with planted twins and near-twins, errors against float64
// are at most twice those of the same formula evaluated plainly in the type of the tensors, in
// outputs and in the gradients of q, k and v.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/bench/case_problem.h"
#include "core/call/call_text.h"
#include "core/simd/kernels.h"
#include "tests/core/tiles/cases.h"
#include "tests/core/tiles/plain.h"

namespace conelab::tests {
namespace {

/// The largest absolute differences from float64.
struct LargestErrors {
  double output = 0, query = 0, key = 0, value = 0;

  void widen(const LargestErrors& e) {
    output = std::fmax(output, e.output);
    query = std::fmax(query, e.query);
    key = std::fmax(key, e.key);
    value = std::fmax(value, e.value);
  }
};

template <class S>
double largest_error(const Tensor4<S>& found, const Tensor4<double>& exact) {
  double most = 0;
  for (std::size_t i = 0; i < exact.data.size(); ++i) {
    const double e = std::abs(static_cast<double>(found.data[i]) - exact.data[i]);
    if (!(e <= most)) most = e;
  }
  return most;
}

template <class Output, class Gradients>
LargestErrors largest_errors(const Output& output, const Gradients& found,
                             const Forward<double>& exact, const Backward<double>& gradients) {
  return {largest_error(output, exact.output), largest_error(found.query, gradients.query),
          largest_error(found.key, gradients.key), largest_error(found.value, gradients.value)};
}

template <class S>
AttentionInput<S> promise_input(const Call& call, std::uint64_t seed) {
  Case c;
  c.set("seq_len", 256);
  c.set("dim", 64);
  c.set("head", 1);
  AttentionInput<float> input = random_input(c, 1, seed);
  if (call.aggregate == "einstein") {  // Values inside the ball.
    for (float& x : input.value.data) x *= 0.05F;
  }
  return convert<S>(input);
}

template <class S>
void expect_promise(const std::string& text) {
  const Call call = call_from_text(text);
  LargestErrors plain;
  std::map<std::string, LargestErrors> found;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const AttentionInput<S> input = promise_input<S>(call, seed);
    const auto plan = resolve(call, check_extents(input));
    const AttentionInput<double> wide = convert<double>(input);
    const Forward<double> exact = forward(*plan, wide, one_thread());
    const Backward<double> gradients = backward(*plan, wide, exact, one_thread());
    const Plain p = evaluate_plainly(*plan, input);
    plain.widen(largest_errors(p.output, p, exact, gradients));
    for (const std::string& target : simd_targets<S>()) {
      Execution execution = one_thread();
      execution.simd = target;
      const Forward<S> saved = forward(*plan, input, execution);
      const Backward<S> slopes = backward(*plan, input, saved, execution);
      found[target].widen(largest_errors(saved.output, slopes, exact, gradients));
    }
  }
  for (const auto& [target, e] : found) {
    if (std::getenv("SHOW") != nullptr)
      printf("%-50s %-8s %.2f %.2f %.2f %.2f   plain %.1e %.1e %.1e %.1e\n", text.c_str(),
             target.c_str(), e.output / plain.output, e.query / plain.query, e.key / plain.key,
             e.value / plain.value, plain.output, plain.query, plain.key, plain.value);
    EXPECT_LE(e.output, 2 * plain.output) << target;
    EXPECT_LE(e.query, 2 * plain.query) << target;
    EXPECT_LE(e.key, 2 * plain.key) << target;
    EXPECT_LE(e.value, 2 * plain.value) << target;
  }
}

/// Every similarity of the table, and some of its calls with other parts.
std::vector<std::string> promised_calls() {
  std::vector<std::string> calls;
  for (const SimilarityRow& row : similarity_table()) {
    const SimilarityInfo& info = row.info;
    std::string text = info.name;
    if (info.choice != nullptr) text += std::string(":") + info.choice->key + "=" + info.word;
    calls.push_back(text);
  }
  for (const char* text :
       {"umbral:radius=0.1", "penumbral:gamma=1.3", "laplacian:aggregate=einstein",
        "dot:aggregate=einstein", "laplacian:weights=sigmoid",
        "laplacian:bias=hype:masks=window:window=150", "penumbral:masks=causal"}) {
    calls.emplace_back(text);
  }
  return calls;
}

class Promise : public testing::TestWithParam<std::string> {};

TEST_P(Promise, HoldsInFloat32) { expect_promise<float>(GetParam()); }
TEST_P(Promise, HoldsInFloat16) { expect_promise<Float16>(GetParam()); }
TEST_P(Promise, HoldsInBfloat16) { expect_promise<Bfloat16>(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Call, Promise, testing::ValuesIn(promised_calls()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace conelab::tests
