#include "core/figure/scaling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

ScalingSeries series(const std::string& name, double first, double exponent) {
  ScalingSeries s;
  s.name = name;
  for (int n = 256; n <= 16384; n *= 2) {
    const double y = first * std::pow(n / 256.0, exponent);
    s.x.push_back(n), s.y.push_back(y), s.low.push_back(0.9 * y), s.high.push_back(1.1 * y);
  }
  s.exponent = exponent, s.exponent_low = exponent - 0.02, s.exponent_high = exponent + 0.03;
  return s;
}

TEST(Scaling, SmallFigureIsItsGoldenText) {
  ScalingFigure f;
  f.series = {series("dot", 1e-3, 2), series("umbral", 2e-3, 1)};
  f.width = single_column, f.ratio_panel = true;
  expect_golden(draw_scaling(f), "scaling");
}

TEST(Scaling, LabelsNeverOverlapHoweverCloseTheLines) {
  for (const double width : {single_column, double_column}) {
    for (const std::size_t n : {1u, 2u, 6u, 14u}) {
      for (const bool ratio : {false, true}) {
        ScalingFigure f;
        f.width = width, f.ratio_panel = ratio;
        for (std::size_t i = 0; i < n; ++i)
          f.series.push_back(series("volume-preserving", 1e-3, 2));
        expect_good_figure(draw_scaling(f));
      }
    }
  }
}

TEST(Scaling, LegendShowsTheExponentAndItsInterval) {
  ScalingFigure f;
  f.series = {series("dot", 1e-3, 1.97)};
  f.series[0].exponent_low = -0.5;
  std::string all;
  for (const TextItem& item : texts(draw_scaling(f))) all += plain(item.runs) + "|";
  EXPECT_NE(all.find("n1.97  [−0.50, 2.00]"), std::string::npos) << all;
  EXPECT_NE(all.find("∝ n2"), std::string::npos);
}

TEST(Scaling, SlopeTwoIsDrawnAsSlopeTwo) {
  ScalingFigure f;
  f.series = {series("dot", 1, 2)};
  f.guides.clear();
  const DisplayList list = draw_scaling(f);
  for (const PathItem& path : items_of<PathItem>(list)) {
    if (path.paint.stroke.width != data_line) continue;
    const auto& points = path.path.segments;
    ASSERT_EQ(points.size(), 7u);
    const double first = std::get<MoveTo>(points[0]).to.y;
    const double second = std::get<LineTo>(points[1]).to.y, last = std::get<LineTo>(points[6]).to.y;
    EXPECT_NEAR((last - first) / (second - first), 6, 1e-9);  // Equal steps in log–log.
  }
}

TEST(Scaling, SamplesLieWhereTheirLinesAreDrawn) {
  ScalingFigure f;
  f.series = {series("dot", 1, 2), series("umbral", 2, 1)};
  f.ratio_panel = true;
  f.guides.clear();
  std::vector<Point> drawn;
  for (const PathItem& path : items_of<PathItem>(draw_scaling(f))) {
    if (path.paint.stroke.width != data_line) continue;
    for (const Segment& segment : path.path.segments) {
      if (const auto* move = std::get_if<MoveTo>(&segment)) drawn.push_back(move->to);
      if (const auto* line = std::get_if<LineTo>(&segment)) drawn.push_back(line->to);
    }
  }
  const std::vector<PlacedSample> placed = scaling_samples(f);
  ASSERT_EQ(placed.size(), 28u);
  ASSERT_EQ(drawn.size(), 28u);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    EXPECT_EQ(placed[i].at, drawn[i]);
    EXPECT_EQ(placed[i].ratio, i >= 14);
    EXPECT_EQ(placed[i].series, i / 7 % 2);
  }
  EXPECT_EQ(placed[1].x, 512);
  EXPECT_EQ(placed[1].y, 4);
}

TEST(Scaling, BandsLieBelowEveryLineAndMarker) {
  ScalingFigure f;
  f.series = {series("dot", 1, 2), series("umbral", 1.02, 2), series("ganea", 1.01, 2)};
  f.ratio_only = true;
  std::size_t bands = 0, lines = 0;
  for (const PathItem& path : items_of<PathItem>(draw_scaling(f))) {
    lines += path.paint.stroke.width == data_line;
    if (path.paint.fill.a == 0 || path.paint.fill.a > 60) continue;
    ++bands;
    EXPECT_EQ(lines, 0u);
  }
  EXPECT_EQ(bands, 3u);
  EXPECT_EQ(lines, 3u);
}

TEST(Scaling, RatioPanelDividesByTheFirstSeries) {
  ScalingFigure f;
  f.series = {series("dot", 1, 2), series("umbral", 3, 2)};
  f.ratio_only = true;
  const DisplayList list = draw_scaling(f);
  expect_good_figure(list);
  std::string all;
  for (const TextItem& item : texts(list)) all += plain(item.runs) + "|";
  EXPECT_NE(all.find("time / dot"), std::string::npos);
  EXPECT_EQ(all.find("n2.00"), std::string::npos);
}

TEST(Scaling, ALongBaseIsNamedByTheCaption) {
  const std::string base = "penumbral, gamma = 2, window = 64, causal, window";
  for (const double width : {single_column, double_column}) {
    ScalingFigure f;
    f.series = {series(base, 1, 2), series("penumbral, gamma = 2, window = 128, causal", 3, 2)};
    f.ratio_only = true, f.width = width;
    const DisplayList list = draw_scaling(f);
    expect_good_figure(list);
    const bool named = all_text(list).find("time / " + base) != std::string::npos;
    EXPECT_EQ(named, width == double_column);
    EXPECT_EQ(all_text(list).find("time / base") != std::string::npos, !named);
    EXPECT_EQ(list.metadata.description.find("Base: " + base) != std::string::npos, !named);
  }
}

TEST(Scaling, LabelsOfLongNamesAreWhole) {
  ScalingFigure f;
  f.series = {series("penumbral, gamma = 2, window = 64, causal", 1, 2),
              series("penumbral, gamma = 2, window = 128, causal", 1.1, 2)};
  f.width = single_column;
  const DisplayList list = draw_scaling(f);
  expect_good_figure(list);
  EXPECT_NE(all_text(list).find("window = 64,"), std::string::npos);
  EXPECT_NE(all_text(list).find("window = 128,"), std::string::npos);
  EXPECT_EQ(all_text(list).find("…"), std::string::npos);
}

TEST(Scaling, OneLengthHasNoGuide) {
  const auto has_guide = [](const ScalingFigure& f) {
    return all_text(draw_scaling(f)).find("∝") != std::string::npos;
  };
  ScalingFigure f;
  f.series = {{"dot", {1024}, {0.5}, {}, {}, {}, {}, {}},
              {"umbral", {2048}, {1}, {}, {}, {}, {}, {}}};
  EXPECT_FALSE(has_guide(f));
  f.series[0] = series("dot", 1e-3, 2);
  EXPECT_TRUE(has_guide(f));
}

/// A sweep that was stopped has curves that end far from the edge. The line from there to a label
/// must not look measured: it is dotted up to the edge, where the solid part begins.
TEST(Scaling, LeadersAreDottedInsideThePlot) {
  ScalingFigure f;
  f.series = {series("dot", 1e-3, 2), series("umbral", 2e-3, 2)};
  ScalingSeries& s = f.series[1];
  for (std::vector<double>* values : {&s.x, &s.y, &s.low, &s.high}) values->resize(2);
  std::vector<double> dotted, solid;
  const DisplayList list = draw_scaling(f);
  for (const PathItem& path : items_of<PathItem>(list)) {
    if (path.paint.stroke.width != thin_line) continue;
    if (path.paint.stroke.colour.a == 255 || path.paint.stroke.colour.a == 0) continue;
    const bool dots = !path.paint.stroke.dash.empty();
    const std::size_t corner = dots ? 1 : 0;
    (dots ? dotted : solid)
        .push_back(corner == 0 ? std::get<MoveTo>(path.path.segments[0]).to.x
                               : std::get<LineTo>(path.path.segments[1]).to.x);
  }
  EXPECT_EQ(dotted.size(), 2u);
  EXPECT_EQ(dotted, solid);
}

TEST(Scaling, TheCaptionOfOneRoundTellsOfNoIntervals) {
  ScalingFigure f;
  f.series = {series("dot", 1, 2)};
  f.coverage = 0;
  EXPECT_EQ(draw_scaling(f).metadata.description, "Medians; a case of one round has no interval");
}

TEST(Scaling, ExtremeInputsAreDrawn) {
  expect_good_figure(draw_scaling({}));
  ScalingFigure f;
  f.ratio_panel = true;
  f.series = {{"one point", {1024}, {0.5}, {}, {}, {}, {}, {}}};
  expect_good_figure(draw_scaling(f));
  f.series = {{"nothing", {}, {}, {}, {}, {}, {}, {}},
              {"bad", {1, -2, 3, NAN}, {0, 1, NAN, 1}, {}, {}, {}, {}, {}}};
  expect_good_figure(draw_scaling(f));
  f.series = {
      {"wide", {1, 1e6, 1e12}, {1e-12, 1, 1e12}, {0, -1, NAN}, {INFINITY, 2, 2e12}, NAN, {}, {}}};
  expect_good_figure(draw_scaling(f));
  f.series = {{"constant", {256, 512}, {1, 1}, {1, 1}, {1, 1}, 0, 0, 0},
              {std::string(200, 'n') + "中😀", {256, 512}, {1, 1}, {}, {}, {}, {}, {}}};
  expect_good_figure(draw_scaling(f));
}

TEST(Scaling, LengthsThatDifferAreMisuse) {
  ScalingFigure f;
  f.series = {series("dot", 1, 2)};
  f.series[0].low.pop_back();
  EXPECT_THROW((void)draw_scaling(f), Error);
}

}  // namespace
}  // namespace conelab::figure
