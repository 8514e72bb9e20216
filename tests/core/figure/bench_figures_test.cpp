#include "core/figure/bench_figures.h"

#include <algorithm>
#include <cmath>

#include "core/bench/result.h"
#include "core/bench/summary.h"
#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using fixtures::BenchTest;
using fixtures::failure_of;
using fixtures::fake_sweep;

class BenchFigures : public BenchTest {};

TEST_F(BenchFigures, DrawTheChosenOperatorsAtOnePlace) {
  Sweep sweep = fake_sweep({"steady", "chatty", "broken"}, {256, 512}, 6);
  sweep["pass"] = {"forward", "backward"};
  run(sweep);
  const auto cases = measured();
  EXPECT_EQ(label_values(cases, "pass"), sweep["pass"]);
  EXPECT_EQ(label_values(cases, "seq_len"), (std::vector<std::string>{"256", "512"}));
  EXPECT_THROW((void)label_values(cases, "length"), Error);
  const BenchSelection all = select_cases(cases, {}, {});
  EXPECT_EQ(all.operators, sweep["operator"]);
  EXPECT_EQ(all.fixed["pass"], "forward");
  const figure::ScalingFigure scaling = scaling_figure(all);
  ASSERT_EQ(scaling.series.size(), 3u);
  EXPECT_EQ(scaling.series[1].ratio.size(), 2u);
  const auto points = roofline_cases(all);
  EXPECT_EQ(points[0]->labels.number("seq_len"), 512);
  EXPECT_EQ(points[2], nullptr);
  const BenchSelection one =
      select_cases(cases, {}, {{"operators", "chatty"}, {"pass", "backward"}, {"dim", ""}});
  EXPECT_EQ(one.operators, std::vector<std::string>{"chatty"});
  EXPECT_EQ(scaling_figure(one).caption.find("backward"), 0u);
}

/// A case of an operator at a length that reaches `share` of the peak.
MeasuredCase reached(const char* operation, std::int64_t length, double share) {
  MeasuredCase c;
  c.labels = {{"operator", operation}, {"head", "1"}, {"seq_len", std::to_string(length)}};
  c.flops = 1e9 * share, c.bytes = 1e6, c.peak_flops = 1e9;
  c.time = c.time_low = c.time_high = 1;
  return c;
}

TEST_F(BenchFigures, OperatorsAreNamedByDifferentTitles) {
  const auto names = [](const std::vector<const char*>& operators) {
    std::vector<MeasuredCase> cases;
    for (const char* operation : operators) cases.push_back(reached(operation, 64, 0.9));
    const BenchSelection selection = select_cases(cases, {}, {});
    std::vector<std::string> scaling, roofline;
    for (const auto& s : scaling_figure(selection).series) scaling.push_back(s.name);
    for (const auto& p : roofline_figure(selection).points) roofline.push_back(p.name);
    EXPECT_EQ(scaling, roofline);
    return scaling;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({"dot", "penumbral:gamma=2:masks=causal+window:window=64", "peer:sdpa"}),
            (Names{"dot", "penumbral, gamma = 2, window = 64, causal, window", "peer:sdpa"}));
  // Alike as titles: by a bias, and by a map.
  EXPECT_EQ(names({"dot:bias=x", "dot:map=x", "umbral"}),
            (Names{"dot:bias=x", "dot:map=x", "umbral"}));
}

TEST_F(BenchFigures, NoRatioIsDrawnWhereTheBaseHasNoTime) {
  MeasuredCase missing = reached("dot", 128, 0.9);
  missing.status = CaseStatus::crashed;
  missing.time = std::nan("");
  figure::ScalingFigure figure = scaling_figure(
      select_cases({reached("dot", 64, 0.9), missing, reached("dot", 256, 0.9)}, {}, {}));
  figure.ratio_only = true;
  std::vector<double> drawn;
  for (const figure::PlacedSample& s : scaling_samples(figure)) drawn.push_back(s.x);
  EXPECT_EQ(drawn, (std::vector<double>{64, 256}));
}

TEST_F(BenchFigures, ARoofThatAKernelExceedsIsNone) {
  const auto roof = [](const std::vector<MeasuredCase>& cases) {
    return roofline_figure(select_cases(cases, {}, {}));
  };
  const auto lies_above = [](const figure::RooflineFigure& f) {
    return f.caption.find("above the multiply-add peak") != std::string::npos;
  };
  const figure::RooflineFigure sound = roof({reached("dot", 64, 0.9), reached("umbral", 64, 0.7)});
  EXPECT_TRUE(sound.peaks[0].trusted);
  EXPECT_FALSE(lies_above(sound));
  const figure::RooflineFigure wrong = roof({reached("dot", 64, 1.2), reached("umbral", 64, 0.7)});
  EXPECT_FALSE(wrong.peaks[0].trusted);
  EXPECT_TRUE(lies_above(wrong));
  MeasuredCase unknown = reached("dot", 64, 0.9);
  unknown.peak_flops = std::nan("");
  EXPECT_NE(roof({unknown}).caption.find("there is no roof"), std::string::npos);
  const TextTable table = summary_table({reached("dot", 64, 1.2), reached("umbral", 64, 0.7)});
  const auto column = std::find(table.header.begin(), table.header.end(), "of peak");
  const auto at = static_cast<std::size_t>(column - table.header.begin());
  EXPECT_EQ(table.rows[0][at], "(120 %)");
  EXPECT_EQ(table.rows[1][at], "70 %");
}

TEST_F(BenchFigures, TheRoofSlopesWhereTheBandwidthIsKnown) {
  const auto roof = [](double bandwidth) {
    MeasuredCase c = reached("dot", 64, 0.9);
    c.bandwidth = bandwidth;
    return roofline_figure(select_cases({c}, {}, {}));
  };
  const auto described = [&](double bandwidth) {
    return draw_roofline(roof(bandwidth)).metadata.description;
  };
  EXPECT_EQ(roof(1e7).bandwidths[0].value, 1e7);
  EXPECT_EQ(roof(1e7).points[0].intensity, 900);
  EXPECT_EQ(described(1e7).find("the roof has no slope"), std::string::npos);
  EXPECT_EQ(described(1e7).find("above the slope"), std::string::npos);
  EXPECT_NE(described(std::nan("")).find("the roof has no slope"), std::string::npos);
  EXPECT_NE(described(1e5).find("above the slope"), std::string::npos);  // of 1 MB each second
}

TEST_F(BenchFigures, RooflineNamesACommonLengthOnce) {
  const auto figure = [](std::int64_t length) {
    return roofline_figure(
        select_cases({reached("dot", 64, 0.9), reached("umbral", length, 0.7)}, {}, {}));
  };
  EXPECT_EQ(figure(64).points[1].name, "umbral");
  EXPECT_TRUE(figure(64).caption.ends_with(", n = 64"));
  EXPECT_EQ(figure(128).points[1].name, "umbral, n = 128");
  EXPECT_TRUE(figure(128).caption.ends_with("1 head"));
}

TEST_F(BenchFigures, UnknownLabelsAreMisuse) {
  run(fake_sweep({"steady"}, {256}, 2));
  const auto cases = measured();
  EXPECT_NE(failure_of([&] {
              (void)select_cases(cases, {}, {{"pass", "forwards"}});
            }).find("2: "),
            std::string::npos);
  EXPECT_NE(failure_of([&] {
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
