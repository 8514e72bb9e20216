#include "core/statistics/claim.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.h"

namespace conelab {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Interval named(const std::string& name) {
  if (name == "a") return {10, 9, 11, usual_level};
  if (name == "b") return {20, 19, 21, usual_level};
  if (name == "lone") return {3, none, none, none};
  if (name == "none") return {none, none, none, none};
  misuse("unknown number '{}'", name);
}
std::string verdict(const std::string& relation) {
  return claim_verdict_name(judge_claim(relation, named).verdict);
}

TEST(Claim, HoldsOrFailsOverTheWholeInterval) {
  EXPECT_EQ(verdict("{a} < {b}"), "agrees");
  EXPECT_EQ(verdict("{a} > {b}"), "does not agree");
  EXPECT_EQ(verdict("{a} < 10.5"), "undecided");
  EXPECT_EQ(verdict("{a} <= 11"), "agrees");
  EXPECT_EQ(verdict("9 >= {a}"), "undecided");
  EXPECT_EQ(verdict("8.9 >= {a}"), "does not agree");
  EXPECT_EQ(verdict("{a} = 10.9"), "agrees");
  EXPECT_EQ(verdict("{a} = 11.1"), "does not agree");
}

TEST(Claim, OfLoneNumbersIsDecidedByThem) {
  EXPECT_EQ(verdict("{lone} < 3"), "does not agree");
  EXPECT_EQ(verdict("{lone} <= 3"), "agrees");
  EXPECT_EQ(verdict("{lone} = 3.0000000001"), "agrees");
  EXPECT_EQ(verdict("{lone} = 3.1"), "does not agree");
}

TEST(Claim, CombinesTheIntervalsOfFactorsInSquares) {
  // The relative half widths are 1/10 and 1/20: the quotient is 2 (1 ± 0.1118), times 3.
  const ClaimResult result = judge_claim("3 * {b} / {a} <= 7", named);
  EXPECT_NEAR(result.left.value, 6, 1e-12);
  EXPECT_NEAR(result.left.high, 6 * (1 + 0.1118033989), 1e-9);
  EXPECT_EQ(result.verdict, ClaimVerdict::agrees);
  EXPECT_EQ(verdict("3*{b}/{a} <= 6.5"), "undecided");
}

TEST(Claim, OfAMissingNumberIsUndecided) { EXPECT_EQ(verdict("{none} < 3"), "undecided"); }

TEST(Claim, OfAnotherFormIsMisuse) {
  for (const char* wrong :
       {"{a}", "{a} < ", "{a} < x", "{a} < {c}", "a < 3", "{a} < 1 + 2", "{a} > 1/0"}) {
    EXPECT_THROW((void)judge_claim(wrong, named), Error) << wrong;
  }
}

}  // namespace
}  // namespace conelab
