// The oracle itself, against numbers that no code of this project computed.
#include <gtest/gtest.h>

#include <cmath>

#include "core/reference/evaluate.h"
#include "tests/core/tiles/vectors.h"

namespace conelab::reference {
namespace {

using tests::KnownAnswer;

const Tensor4<Real>& pick(const Result& result, const std::string& what) {
  if (what == "logits") return result.logits;
  if (what == "weights_are") return result.weights;
  return what == "lse" ? result.lse : result.output;
}

void expect_answer(const KnownAnswer& known, const std::string& what, const Tensor4<Real>& found) {
  const Tensor4<double>& answer = known.answers.at(what);
  ASSERT_EQ(found.data.size(), answer.data.size()) << known.file << ": " << known.name;
  for (std::size_t i = 0; i < answer.data.size(); ++i) {
    const double expected = answer.data[i];
    const auto value = static_cast<double>(found.data[i]);
    if (value == expected) continue;
    EXPECT_NEAR(value, expected, known.tolerance * std::max(1.0, std::abs(expected)))
        << known.file << ": " << known.name << ", " << what << " " << i;
  }
}

TEST(Reference, GivesEveryKnownAnswer) {
  ASSERT_GE(tests::known_answers().size(), 20u);
  for (const KnownAnswer& known : tests::known_answers()) {
    const Result result = evaluate(make_problem(known.call, known.input));
    for (const auto& [what, answer] : known.answers) {
      const Tensor4<Real>& found = pick(result, what);
      // Of a structured operator the reference has the output only.
      if (is_attention(known.call) || !found.empty()) expect_answer(known, what, found);
    }
  }
}

Problem small_dot_problem() {
  AttentionInput<double> input;
  input.query = Tensor4<double>({1, 1, 1, 1}, 1.0);
  input.key = Tensor4<double>({1, 1, 2, 1});
  input.value = Tensor4<double>({1, 1, 2, 1});
  input.key.owned().data = {0.0, 1.0};
  input.value.owned().data = {0.0, 1.0};
  const Call call = call_from_text("dot");
  return make_problem(call, input);
}

TEST(Reference, DifferencesGiveTheSlopeOfASigmoid) {
  // Output is sigma(scale q (k_2 - k_1)) = sigma(1); each slope is sigma(1) sigma(-1).
  Problem p = small_dot_problem();
  const double sigma = 1 / (1 + std::exp(-1.0));
  const Difference by_key = central_difference(p, p.key.at(0, 0, 1, 0));
  EXPECT_TRUE(by_key.smooth);
  EXPECT_NEAR(by_key.slope, sigma * (1 - sigma), 1e-13);
  EXPECT_NEAR(central_difference(p, p.numbers["scale"][0]).slope, sigma * (1 - sigma), 1e-13);
  EXPECT_NEAR(central_difference(p, p.value.at(0, 0, 1, 0)).slope, sigma, 1e-13);
}

TEST(Reference, DifferencesNoticeAKink) {
  Problem p = small_dot_problem();
  p.call.similarity = "laplacian";
  p.numbers["gamma"] = {1};
  p.call.map = "none";
  p.query.data[0] = 1;  // On the second key.
  EXPECT_FALSE(central_difference(p, p.query.data[0]).smooth);
  p.query.data[0] = 1 + 3e-5L;  // The kink is within the step.
  EXPECT_FALSE(central_difference(p, p.query.data[0]).smooth);
  p.query.data[0] = 0.5;
  EXPECT_TRUE(central_difference(p, p.query.data[0]).smooth);
}

TEST(Reference, RowsWithoutKeysAreZero) {
  Problem p = small_dot_problem();
  p.call.masks = {"padding"};
  p.key_lengths = {0};
  const Result r = evaluate(p);
  EXPECT_EQ(r.output.data[0], 0);
  EXPECT_EQ(r.weights.data[0], 0);
  EXPECT_EQ(r.lse.data[0], -std::numeric_limits<Real>::infinity());
}

}  // namespace
}  // namespace conelab::reference
