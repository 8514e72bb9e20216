#include "core/statistics/exponent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/base/error.h"
#include "tests/core/statistics/noise.h"

namespace conelab {
namespace {

using fixtures::every_noise;
using fixtures::Noise;
using fixtures::noise_name;
using fixtures::simulate;

const std::vector<double> lengths = {256, 512, 1024, 2048, 4096, 8192, 16384};

std::vector<double> power_law(double exponent) {
  std::vector<double> times;
  for (const double n : lengths) times.push_back(1e-9 * std::pow(n, exponent));
  return times;
}

TEST(FitExponent, CoversNinetyThreeToNinetySevenPercentUnderEveryNoise) {
  // Heavy tails, for which a t-interval is conservative.
  const std::set<Noise> conservative = {Noise::bursts, Noise::hits, Noise::heavy};
  for (const Noise noise : every_noise) {
    Random random(9);
    constexpr int runs = 4000;
    int hits = 0, local_hits = 0;
    for (int i = 0; i < runs; ++i) {
      const ExponentFit fit = fit_exponent(lengths, simulate(power_law(1.9), 9, noise, random));
      hits += fit.exponent.low <= 1.9 && 1.9 <= fit.exponent.high;
      local_hits += fit.local[2].low <= 1.9 && 1.9 <= fit.local[2].high;
    }
    EXPECT_GE(100.0 * hits / runs, 93) << noise_name(noise);
    EXPECT_LE(100.0 * hits / runs, conservative.contains(noise) ? 99 : 97) << noise_name(noise);
    EXPECT_GE(100.0 * local_hits / runs, 93) << noise_name(noise);
  }
}

/// The method that this one replaces: least squares over all samples as if they were independent.
bool pooled_covers(const std::vector<std::vector<double>>& times, double truth) {
  std::vector<double> x, y;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    for (const double t : times[i]) {
      x.push_back(std::log(lengths[i]));
      y.push_back(std::log(t));
    }
  }
  const double slope = least_squares_slope(x, y);
  double mx = 0, my = 0, xx = 0, rest = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) mx += x[i] / n, my += y[i] / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    rest += std::pow(y[i] - my - slope * (x[i] - mx), 2);
  }
  return std::abs(slope - truth) <= 1.96 * std::sqrt(rest / (n - 2) / xx);
}

TEST(FitExponent, NeedsRoundsInRandomOrderWhereTheMachineDrifts) {
  // Lengths always in ascending order, the machine slowing down within every round: every round has
  // the same bias, which no number of rounds shows. Balanced orders turn it into noise.
  Random random(3);
  int ascending = 0, balanced = 0;
  constexpr int runs = 400;
  for (int i = 0; i < runs; ++i) {
    const auto trend = [](double position) { return 1 + 0.1 * position; };
    auto times = [&](bool in_order) {
      std::vector<std::vector<double>> t(lengths.size(), std::vector<double>(9));
      const auto orders = balanced_orders(7, 9, random.next());
      for (std::size_t r = 0; r < 9; ++r) {
        for (std::size_t p = 0; p < 7; ++p) {
          const std::size_t c = in_order ? p : static_cast<std::size_t>(orders[r][p]);
          t[c][r] =
              power_law(2)[c] * trend(static_cast<double>(p)) * std::exp(0.02 * random.normal());
        }
      }
      return t;
    };
    const ExponentFit bad = fit_exponent(lengths, times(true));
    const ExponentFit good = fit_exponent(lengths, times(false));
    ascending += bad.exponent.low <= 2 && 2 <= bad.exponent.high;
    balanced += good.exponent.low <= 2 && 2 <= good.exponent.high;
  }
  EXPECT_LT(ascending, runs / 20);
  EXPECT_GT(balanced, runs * 93 / 100);
}

TEST(FitExponent, KnowsThatPooledSamplesAreNotIndependent) {
  // Each run of a length keeps a state of its own for some rounds (page placement, say): the
  // samples of a length are then alike, and pooled least squares takes them for independent.
  Random random(4);
  int pooled = 0;
  constexpr int runs = 1000;
  for (int i = 0; i < runs; ++i) {
    auto times = simulate(power_law(2), 9, Noise::quiet, random);
    for (auto& row : times) {
      const double state = std::exp(0.05 * random.normal());
      for (double& t : row) t *= state;
    }
    pooled += pooled_covers(times, 2);
  }
  EXPECT_LT(pooled, runs * 70 / 100);
}

TEST(FitExponent, ExactPowerLawIsFoundExactly) {
  std::vector<std::vector<double>> times;
  for (const double t : power_law(2)) times.push_back({t, 1.5 * t, 0.7 * t});
  const ExponentFit fit = fit_exponent(lengths, times);
  ASSERT_TRUE(fit.resolved);
  EXPECT_NEAR(fit.exponent.value, 2, 1e-12);
  EXPECT_NEAR(fit.exponent.high, 2, 1e-6);
  ASSERT_EQ(fit.local.size(), 6u);
  EXPECT_NEAR(fit.local[0].value, 2, 1e-12);
}

TEST(FitExponent, LocalExponentsShowABend) {
  std::vector<std::vector<double>> times;
  for (const double n : lengths)
    times.push_back({1e-6 * n + 1e-9 * n * n, 1e-6 * n + 1e-9 * n * n});
  const ExponentFit fit = fit_exponent(lengths, times);
  EXPECT_FALSE(fit.resolved);
  EXPECT_NE(fit.why_not.find("2 complete rounds"), std::string::npos);
  ASSERT_EQ(fit.local.size(), 6u);
  EXPECT_LT(fit.local.front().value, 1.4);
  EXPECT_GT(fit.local.back().value, 1.85);
}

TEST(FitExponent, IsNotResolvedBelowThreeOctaves) {
  const std::vector<double> short_lengths = {256, 512, 1024};
  const std::vector<std::vector<double>> times = {{1, 1, 1}, {4, 4, 4}, {16, 16, 16}};
  const ExponentFit fit = fit_exponent(short_lengths, times);
  EXPECT_FALSE(fit.resolved);
  EXPECT_EQ(fit.why_not, "not resolved: 2 octaves of n (needs 3)");
  EXPECT_TRUE(std::isnan(fit.exponent.value));
  EXPECT_EQ(fit.local.size(), 2u);
  EXPECT_FALSE(fit_exponent({}, {}).resolved);
  EXPECT_FALSE(fit_exponent({256}, {{1}}).resolved);
}

TEST(FitExponent, ThreeRoundsCoverAtLeastNinetyThreePercent) {
  for (const Noise noise : every_noise) {
    Random random(41);
    constexpr int runs = 4000;
    int hits = 0;
    for (int i = 0; i < runs; ++i) {
      const ExponentFit fit = fit_exponent(lengths, simulate(power_law(1.9), 3, noise, random));
      hits += fit.exponent.low <= 1.9 && 1.9 <= fit.exponent.high;
    }
    EXPECT_GE(100.0 * hits / runs, 93) << noise_name(noise);
  }
}

TEST(FitExponent, RefusesShapesThatDoNotFit) {
  EXPECT_THROW((void)fit_exponent({256, 512}, {{1, 1, 1}}), Error);
  EXPECT_THROW((void)fit_exponent({512, 256}, {{1}, {1}}), Error);
  EXPECT_THROW((void)fit_exponent({256, 256}, {{1}, {1}}), Error);
  EXPECT_THROW((void)fit_exponent({0}, {{1}}), Error);
  EXPECT_THROW((void)fit_exponent({NAN}, {{1}}), Error);
}

TEST(FitExponent, FineGridsUseTheWholeOctave) {
  std::vector<double> n, log_n, log_t;
  std::vector<std::vector<double>> times;
  for (double x = 256; x <= 2048; x += 256) {
    n.push_back(x);
    const double t = x * x + 1e6;  // Bends: any other part of the octave has another slope.
    times.push_back({t, t, t});
    if (x < 1024) continue;
    log_n.push_back(std::log(x));
    log_t.push_back(std::log(t));
  }
  const ExponentFit fit = fit_exponent(n, times);
  EXPECT_TRUE(fit.resolved);
  ASSERT_EQ(fit.local.size(), n.size() - 1);
  EXPECT_NEAR(fit.local.back().value, least_squares_slope(log_n, log_t), 1e-9);
}

TEST(FitExponent, LeavesOutIncompleteRounds) {
  std::vector<std::vector<double>> times;
  for (const double t : power_law(2)) times.push_back({t, t, t, t});
  times[3][1] = NAN;
  times[5][1] = 1e9;
  const ExponentFit fit = fit_exponent(lengths, times);
  EXPECT_TRUE(fit.resolved);
  EXPECT_NEAR(fit.exponent.value, 2, 1e-12);
}

}  // namespace
}  // namespace conelab
