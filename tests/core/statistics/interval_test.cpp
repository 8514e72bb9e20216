#include "core/statistics/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/base/random.h"
#include "tests/core/statistics/noise.h"

namespace conelab {
namespace {

constexpr int simulations = 8000;

using Draw = std::function<double(Random&)>;
using Method = std::function<Interval(std::vector<double>)>;

/// How often the interval of `n` samples covers `truth`, in percent.
double covered(int n, double truth, const Draw& draw, const Method& method) {
  Random random(static_cast<std::uint64_t>(n) * 101);
  int hits = 0;
  for (int i = 0; i < simulations; ++i) {
    std::vector<double> x;
    for (int j = 0; j < n; ++j) x.push_back(draw(random));
    const Interval interval = method(std::move(x));
    hits += interval.low <= truth && truth <= interval.high;
  }
  return 100.0 * hits / simulations;
}

struct Distribution {
  const char* name;
  double median;
  Draw draw;
};

std::vector<Distribution> distributions() {
  return {
      {"normal", 0, [](Random& r) { return r.normal(); }},
      {"log-normal", 1, [](Random& r) { return std::exp(r.normal()); }},
      {"exponential", std::log(2.0), [](Random& r) { return -std::log(1 - r.uniform()); }},
      {"Cauchy", 0, [](Random& r) { return r.normal() / r.normal(); }},
      {"log-normal of 2 %", 1, [](Random& r) { return std::exp(0.02 * r.normal()); }},
      {"slow in 15 of 100",  // median: the 0.5 / 0.85 quantile of the quiet part
       0.2230, [](Random& r) { return r.uniform() < 0.15 ? 20 + r.normal() : r.normal(); }},
  };
}

TEST(Median, OfOddEvenAndNoSamples) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(median_interval({}).low));
  EXPECT_TRUE(std::isnan(sign_test_interval({}).value));
}

TEST(SignTestInterval, TakesTheTabulatedOrderStatistics) {
  const Interval nine = sign_test_interval({9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(nine.value, 5);
  EXPECT_EQ(nine.low, 2);
  EXPECT_EQ(nine.high, 8);
  EXPECT_NEAR(nine.coverage, 1 - 20.0 / 512, 1e-12);
  const Interval eight = sign_test_interval({8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(eight.low, 1);
  EXPECT_NEAR(eight.coverage, 1 - 2.0 / 256, 1e-12);
  const Interval three = sign_test_interval({1, 2, 3});
  EXPECT_EQ(three.high, 3);
  EXPECT_NEAR(three.coverage, 0.75, 1e-12);
  EXPECT_NEAR(sign_test_interval({4}).coverage, 0, 1e-12);
}

TEST(SignTestInterval, CoversExactlyWhatItSaysForEveryDistribution) {
  for (const Distribution& d : distributions()) {
    for (const int n : {3, 5, 6, 8, 9, 12, 20}) {
      const auto method = [](auto x) { return sign_test_interval(std::move(x)); };
      const double stated = method(std::vector<double>(static_cast<std::size_t>(n))).coverage;
      const double deviation = 100 * std::sqrt(stated * (1 - stated) / simulations);
      EXPECT_NEAR(covered(n, d.median, d.draw, method), 100 * stated, 4 * deviation)
          << d.name << " n=" << n;
    }
  }
}

TEST(MedianInterval, CoversNinetyThreeToNinetySevenPercent) {
  for (const Distribution& d : distributions()) {
    for (const int n : {6, 7, 8, 9, 10, 12, 16, 20, 31}) {
      const double percent =
          covered(n, d.median, d.draw, [](auto x) { return median_interval(std::move(x)); });
      EXPECT_GE(percent, 93) << d.name << " n=" << n;
      EXPECT_LE(percent, 97) << d.name << " n=" << n;
    }
  }
}

TEST(MedianInterval, InterpolatesAsHettmanspergerAndSheather) {
  std::vector<double> x;
  for (int i = 1; i <= 8; ++i) x.push_back(i);
  // gamma_1 = 254/256, gamma_2 = 238/256: part 0.675, weight 7 * 0.675 / (1 + 6 * 0.675).
  const Interval eight = median_interval(x);
  EXPECT_EQ(eight.value, 4.5);
  EXPECT_NEAR(eight.low, 1 + 4.725 / 5.05, 1e-9);
  EXPECT_NEAR(eight.high, 8 - 4.725 / 5.05, 1e-9);
  for (int i = 9; i <= 20; ++i) x.push_back(i);
  // 21700 of 2^20 outcomes have at most five below, 60460 at most six.
  const double wide = 1 - 43400 / 0x1p20, narrow = 1 - 120920 / 0x1p20;
  const Interval exact = sign_test_interval(x);
  EXPECT_EQ(exact.low, 6);
  EXPECT_EQ(exact.high, 15);
  EXPECT_NEAR(exact.coverage, wide, 1e-12);
  const double part = (wide - 0.95) / (wide - narrow);
  EXPECT_NEAR(median_interval(x).low, 6 + 14 * part / (6 + 8 * part), 1e-9);
  EXPECT_NEAR(median_interval(x).high, 15 - 14 * part / (6 + 8 * part), 1e-9);
}

TEST(MedianInterval, OfADriftingSeriesDoesNotCoverTheUndisturbedTime) {
  // Pins the limit that the header states.
  Random random(17);
  int hits = 0;
  for (int i = 0; i < 500; ++i) {
    const auto times = fixtures::simulate({1, 2, 3, 4, 5}, 9, fixtures::Noise::drift, random);
    const Interval interval = median_interval(times[0]);
    hits += interval.low <= 1 && 1 <= interval.high;
  }
  EXPECT_LT(hits, 500 * 15 / 100);
}

TEST(MedianInterval, LeavesOutMissingSamples) {
  EXPECT_EQ(median({NAN, 3, 1, NAN, 2}), 2);
  EXPECT_TRUE(std::isnan(median({NAN, NAN})));
  const Interval whole = median_interval({8, 1, 7, 2, 6, 3, 5, 4});
  const Interval gaps = median_interval({8, NAN, 1, 7, 2, NAN, 6, 3, 5, 4, NAN});
  EXPECT_EQ(whole.low, gaps.low);
  EXPECT_EQ(whole.high, gaps.high);
  EXPECT_EQ(sign_test_interval({1, NAN, 2}).coverage, 0.5);
}

TEST(MedianInterval, IsTheRangeOfTooFewSamples) {
  const Interval five = median_interval({1, 2, 3, 4, 5});
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 5);
  EXPECT_NEAR(five.coverage, 0.9375, 1e-12);
  EXPECT_EQ(median_interval({7}).low, 7);
  EXPECT_EQ(median_interval({1, 2, 3, 4, 5, 6, 7, 8}).coverage, 0.95);
}

TEST(SamplesToCover, AreTheFewestOfWhichIntervalsCoverTheLevel) {
  EXPECT_EQ(samples_to_cover(), 6);
  EXPECT_GE(sign_test_interval(std::vector<double>(6)).coverage, usual_level);
  EXPECT_LT(sign_test_interval(std::vector<double>(5)).coverage, usual_level);
}

/// The upper end of the interval of n samples with mean 0 whose mean has the standard error 1.
double t_of(int n) {
  std::vector<double> x(static_cast<std::size_t>(n));
  const double a = std::sqrt(0.5 * n * (n - 1));
  x[0] = a, x[1] = -a;
  return t_interval(x).high;
}

TEST(Student, QuantilesAreTheTabulatedOnes) {
  EXPECT_NEAR(t_of(2), 12.706204736, 1e-8);
  EXPECT_NEAR(t_of(3), 4.302652730, 1e-8);
  EXPECT_NEAR(t_of(8), 2.364624252, 1e-8);
  EXPECT_NEAR(t_of(9), 2.306004135, 1e-8);
  EXPECT_NEAR(t_of(31), 2.042272456, 1e-8);
}

TEST(Student, IntervalOfAMeanCoversNinetyFivePercent) {
  const double percent = covered(
      9, 0, [](Random& r) { return r.normal(); }, [](const auto& x) { return t_interval(x); });
  EXPECT_NEAR(percent, 95, 1);
  EXPECT_TRUE(std::isnan(t_interval({1}).low));
  EXPECT_TRUE(std::isnan(t_interval({}).value));
}

}  // namespace
}  // namespace conelab
