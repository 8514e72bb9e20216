#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/report/table.h"

namespace conelab {
namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

std::string shown(double value, double half) {
  return plain_number(number_text({value, value - half, value + half, usual_level}));
}
std::string shown(double value) {
  return plain_number(number_text({value, absent, absent, absent}));
}

TEST(NumberText, EndsWhereItsIntervalDoes) {
  EXPECT_EQ(shown(0.93123, 0.0042), "0.931 ± 0.004");
  EXPECT_EQ(shown(0.93123, 0.00213), "0.9312 ± 0.0021");
  EXPECT_EQ(shown(0.93123, 0.00354), "0.9312 ± 0.0035");
  EXPECT_EQ(shown(0.93123, 0.00356), "0.931 ± 0.004");
  EXPECT_EQ(shown(0.93123, 0.0097), "0.931 ± 0.010");
  EXPECT_EQ(shown(-2.5, 0.21), "−2.50 ± 0.21");
  EXPECT_EQ(shown(123.4, 56), "120 ± 60");
}

TEST(NumberText, OfASmallOrLargeNumberHasAPowerOfAThousand) {
  EXPECT_EQ(shown(1.2347e-5, 3.1e-7), "(12.35 ± 0.31) · 10⁻⁶");
  EXPECT_EQ(shown(1234567, 4200), "(1.235 ± 0.004) · 10⁶");
  EXPECT_EQ(latex_number(number_text({1234567, 1234567 - 4200, 1234567 + 4200, usual_level})),
            "(1.235 \\pm 0.004) \\cdot 10^{6}");
}

TEST(NumberText, OfAnIntervalThatIsNotSymmetricHasBothBounds) {
  EXPECT_EQ(plain_number(number_text({1.24, 1.21, 1.30, usual_level})), "1.24 [1.21, 1.30]");
  EXPECT_EQ(latex_number(number_text({1.24, 1.21, 1.30, usual_level})), "1.24\\;[1.21,\\,1.30]");
}

TEST(NumberText, WithoutAnIntervalHasFourDigitsOrIsWhole) {
  EXPECT_EQ(shown(0.123456), "0.1235");
  EXPECT_EQ(shown(1170), "1170");
  EXPECT_EQ(shown(1234567890), "1.235 · 10⁹");
  EXPECT_EQ(shown(0), "0");
  EXPECT_EQ(shown(-0.0), "0");
  EXPECT_EQ(shown(2.34567e-9), "2.346 · 10⁻⁹");
  EXPECT_EQ(shown(123456.78), "123457");
  EXPECT_EQ(shown(absent), "–");
  EXPECT_EQ(shown(INFINITY), "–");
}

TEST(NumberText, OfEqualSamplesHasNoSpread) { EXPECT_EQ(shown(1, 0), "1 ± 0"); }

TEST(NumberText, NeverPrintsMinusZero) { EXPECT_EQ(shown(-0.0001, 0.01), "0.000 ± 0.010"); }

}  // namespace
}  // namespace conelab
