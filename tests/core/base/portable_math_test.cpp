#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/random.h"

namespace conelab {
namespace {

constexpr double ulp = 0x1p-52;

/// The largest relative error of f against g on random numbers from `low` to `high`.
template <class F, class G>
double relative_error(F f, G g, double low, double high) {
  Random random(7);
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = low + (high - low) * random.uniform();
    const auto exact = static_cast<double>(g(static_cast<long double>(x)));
    worst = std::max(worst, std::abs(f(x) - exact) / std::abs(exact));
  }
  return worst;
}

// Measured against 64-bit mantissas: log 1.94, exp 1.00, acosh 1.00 times 2^-52.
TEST(PortableMath, LogarithmAndExponentialAreAccurate) {
  const auto log = [](long double x) { return std::log(x); };
  EXPECT_LT(relative_error(portable::log, log, 1e-6, 0.9), 2 * ulp);
  EXPECT_LT(relative_error(portable::log, log, 1.1, 1e6), 2 * ulp);
  const auto exp = [](long double x) { return std::exp(x); };
  EXPECT_LT(relative_error(portable::exp, exp, -700, 700), 2 * ulp);
  EXPECT_LT(relative_error(portable::exp, exp, -1, 1), 2 * ulp);
  EXPECT_LT(relative_error(
                portable::acosh, [](long double x) { return std::acosh(x); }, 1.5, 1e6),
            3 * ulp);
}

TEST(PortableMath, SineAndCosineAreAccurate) {
  Random random(8);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = (random.uniform() - 0.5) * (i % 2 == 0 ? 14 : 1e5);
    worst = std::max(worst, std::abs(portable::sin(x) - std::sin(x)));
    worst = std::max(worst, std::abs(portable::cos(x) - std::cos(x)));
  }
  EXPECT_LE(worst, ulp);
  EXPECT_EQ(portable::sin(0), 0);
  EXPECT_EQ(portable::cos(0), 1);
}

TEST(PortableMath, ExponentialEndsInZeroAndInfinity) {
  EXPECT_EQ(portable::exp(0), 1);
  EXPECT_EQ(portable::exp(-1e3), 0);
  EXPECT_EQ(portable::exp(1e3), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace conelab
