#include "core/bench/figures.h"

#include <algorithm>
#include <cmath>

#include "core/bench/result.h"
#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using testing::BenchTest;
using testing::error_of;
using testing::fake_sweep;

class BenchFigures : public BenchTest {};

TEST_F(BenchFigures, DrawTheChosenOperatorsAtOnePlace) {
  Sweep sweep = fake_sweep({"steady", "chatty", "broken"}, {256, 512}, 6);
  sweep.passes = {"forward", "backward"};
  run(sweep);
  const auto cases = measured();
  EXPECT_EQ(label_values(cases, "pass"), sweep.passes);
  const BenchSelection all = select_cases(cases, {}, {});
  EXPECT_EQ(all.operators, sweep.operations);
  EXPECT_EQ(all.place.pass, "forward");
  const figure::ScalingFigure scaling = scaling_figure(all);
  ASSERT_EQ(scaling.series.size(), 3u);
  EXPECT_EQ(scaling.series[1].ratio.size(), 2u);
  const auto points = roofline_cases(all);
  EXPECT_EQ(points[0]->labels.seq_len, 512);
  EXPECT_EQ(points[2], nullptr);
  const BenchSelection one =
      select_cases(cases, {}, {{"operators", "chatty"}, {"pass", "backward"}, {"dim", ""}});
  EXPECT_EQ(one.operators, std::vector<std::string>{"chatty"});
  EXPECT_EQ(scaling_figure(one).caption.find("backward"), 0u);
}

TEST_F(BenchFigures, UnknownLabelsAreMisuse) {
  run(fake_sweep({"steady"}, {256}, 2));
  const auto cases = measured();
  EXPECT_NE(error_of([&] {
              (void)select_cases(cases, {}, {{"pass", "forwards"}});
            }).find("2: "),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              (void)select_cases(cases, {}, {{"operators", "steadi"}});
            }).find("steady"),
            std::string::npos);
}

TEST_F(BenchFigures, AreDrawnOfASweepThatStillRuns) {
  BenchOptions o = options();
  std::vector<std::size_t> points;
  o.sampled = [&](const BenchResult& result) {
    const LabelledFile file = bench_file(result);
    const BenchSelection selection =
        select_cases(measured_cases(file, "live"), measured_exponents(file, "live"), {});
    std::size_t finite = 0;
    for (const MeasuredCase& c : selection.cases) finite += std::isfinite(c.time) ? 1 : 0;
    points.push_back(finite);
    (void)draw_scaling(scaling_figure(selection));
    (void)draw_roofline(roofline_figure(selection));
  };
  run(fake_sweep({"steady", "chatty"}, {256, 512}, 3), o);
  ASSERT_EQ(points.size(), 18u);
  EXPECT_LE(points.front(), 1u);
  EXPECT_EQ(points.back(), 2u);  // "chatty" has no time.
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end()));
}

}  // namespace
}  // namespace conelab
