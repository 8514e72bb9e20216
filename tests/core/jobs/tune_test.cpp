#include "core/jobs/tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/jobs/job_table.h"
#include "core/source/trials_figure.h"

namespace conelab {
namespace {

using Parameters = std::map<std::string, std::string>;

JobSpec train(const std::string& similarity, const Parameters& over) {
  JobSpec spec{&job_named("train"), {}};
  spec.values = {{"input", "a.h5"},         {"output", "b.h5"},
                 {"tune", std::int64_t{8}}, {"similarity", similarity},
                 {"tune_over", over},       {"parameters", Parameters{{"epochs", "7"}}}};
  return spec;
}

TEST(Tune, TrialsTakeHaltonsPointsOnALogarithmicScale) {
  const JobSpec spec = train("umbral", {{"rate", "0.01..1"}, {"radius", "1.0..8"}});
  const char* const rates[] = {"0.1", "0.03162", "0.3162", "0.01778"};  // 1/2, 1/4, 3/4, 1/8
  const char* const radii[] = {"2", "4", "1.26", "2.52"};               // 1/3, 2/3, 1/9, 4/9
  for (std::int64_t t = 0; t < 4; ++t) {
    const JobSpec trial = trial_spec(spec, t);
    EXPECT_EQ(trial.parameters(),
              (Parameters{{"epochs", "7"}, {"rate", rates[t]}, {"radius", radii[t]}}));
    EXPECT_EQ(trial.text("seeds"), trial_seed);
    EXPECT_FALSE(trial.given("tune"));
    EXPECT_FALSE(trial.given("output"));
  }
  // An operator without a radius gets the same rates.
  const JobSpec dot = train("dot", {{"rate", "0.01..1"}, {"radius", "1.0..8"}});
  EXPECT_EQ(trial_spec(dot, 3).parameters().at("rate"), rates[3]);
  EXPECT_FALSE(trial_spec(dot, 3).parameters().contains("radius"));
}

TEST(Tune, BoundsMayBeWholeOrNegative) {
  const JobSpec spec = train("hyperbolic", {{"epochs", "10..1000"}, {"offset", "-1.0..3"}});
  EXPECT_EQ(trial_spec(spec, 0).parameters().at("epochs"), "100");
  EXPECT_EQ(trial_spec(spec, 1).parameters().at("epochs"), "32");
  EXPECT_EQ(trial_spec(spec, 0).parameters().at("offset"), "0.3333");
}

TEST(Tune, RefusesASpaceThatMeansNothing) {
  for (const Parameters& over : {Parameters{{"rat", "0.1..1"}},
                                 {{"rate", "1..0.1"}},
                                 {{"rate", "0.1"}},
                                 {{"rate", "0.1..100"}},
                                 {{"radius", "0.1..1"}},
                                 {{"tokens", "1..2"}}}) {
    EXPECT_THROW(check_spec(train("dot", over)), Error) << over.begin()->second;
  }
  EXPECT_NO_THROW(check_spec(train("dot", {{"rate", "0.1..1"}})));
  EXPECT_THROW(check_spec(train("dot,umbral", {{"rate", "0.1..1"}})), Error);
}

TEST(Tune, ExpectedBestIsTheMeanOverAllChoices) {
  const std::vector<double> values = {3, -1, 7, 2, 2};
  const auto best = expected_best(values, false), least = expected_best(values, true);
  ASSERT_EQ(best.size(), 5u);
  for (int k = 1; k <= 5; ++k) {
    double most = 0, low = 0, count = 0;
    for (unsigned chosen = 1; chosen < 32; ++chosen) {
      if (__builtin_popcount(chosen) != k) continue;
      double high = -1e9, least_here = 1e9;
      for (unsigned i = 0; i < 5; ++i) {
        if ((chosen >> i & 1) == 0) continue;
        high = std::max(high, values[i]), least_here = std::min(least_here, values[i]);
      }
      most += high, low += least_here, ++count;
    }
    EXPECT_NEAR(best[static_cast<std::size_t>(k - 1)], most / count, 1e-12) << k;
    EXPECT_NEAR(least[static_cast<std::size_t>(k - 1)], low / count, 1e-12) << k;
  }
  EXPECT_EQ(expected_best({1, std::nan(""), 3}, false), expected_best({1, 1, 3}, false));
}

}  // namespace
}  // namespace conelab
