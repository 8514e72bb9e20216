#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/source/figure_table.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

void add_cases(FigureInput& input, const char* operation, double power, std::int64_t longest) {
  MeasuredExponent exponent;
  exponent.labels = {{"operator", operation}};
  exponent.value = power, exponent.low = power - 0.03, exponent.high = power + 0.04;
  input.exponents.push_back(exponent);
  for (std::int64_t n = 256; n <= longest; n *= 2) {
    MeasuredCase c;
    c.labels = {{"operator", operation}, {"seq_len", std::to_string(n)}};
    c.time = 1e-3 * std::pow(static_cast<double>(n) / 256, power);
    c.time_low = 0.95 * c.time, c.time_high = 1.05 * c.time;
    c.samples.assign(9, c.time);
    input.cases.push_back(c);
  }
}

FigureInput growth_input() {
  FigureInput input;
  input.info = &figure_named("growth");
  add_cases(input, "dot", 2, 16384);
  add_cases(input, "agglomerative", 1, 262144);
  add_cases(input, "dot:masks=strided", 1.5, 65536);
  return input;
}

/// The lines of the group "guides", each as its points.
std::vector<std::vector<Point>> guide_lines(const DisplayList& list) {
  std::vector<std::vector<Point>> lines;
  bool inside = false;
  for (const Item& item : list.items) {
    if (const auto* begin = std::get_if<GroupBegin>(&item)) inside = begin->id == "guides";
    if (std::get_if<GroupEnd>(&item) != nullptr) inside = false;
    const auto* path = std::get_if<PathItem>(&item);
    if (path == nullptr || !inside) continue;
    lines.emplace_back();
    for (const Segment& segment : path->path.segments) {
      if (const auto* move = std::get_if<MoveTo>(&segment)) lines.back().push_back(move->to);
      if (const auto* line = std::get_if<LineTo>(&segment)) lines.back().push_back(line->to);
    }
  }
  return lines;
}

TEST(Growth, OperatorsOfDifferentOrderShareAPlot) {
  for (const double width : {single_column, double_column}) {
    FigureInput input = growth_input();
    input.width = width;
    const DisplayList list = input.info->make(input);
    expect_good_figure(list);
    const std::string all = all_text(list);
    for (const char* text : {"|dot|", "|agglomerative|", "|∝ n|", "|∝ n log n|", "|∝ n2|",
                             "n2.00  [1.97, 2.04]", "n1.00  [0.97, 1.04]", "n1.50"}) {
      EXPECT_NE(all.find(text), std::string::npos) << text << " in " << all;
    }
  }
}

TEST(Growth, BeginsAtOneToken) {
  const std::vector<std::vector<const char*>> all = {{"1"}, {"1", "2"}, {"1", "2", "1024"}};
  for (const char* guides : {"n,n log n,n sqrt n,n^2", "n log n", "n^2", "none"}) {
    for (const std::vector<const char*>& lengths : all) {
      FigureInput input = growth_input();
      input.parameters["guides"] = guides;
      input.cases.erase(input.cases.begin() + 1, input.cases.end());
      for (const char* n : lengths) {
        input.cases.push_back(input.cases.front());
        input.cases.back().labels.set("seq_len", n);
      }
      input.cases.erase(input.cases.begin());
      SCOPED_TRACE(fmt::format("{}, {} lengths", guides, lengths.size()));
      const DisplayList list = input.info->make(input);
      expect_good_figure(list);
      for (const auto& line : guide_lines(list)) {
        for (const Point& p : line) EXPECT_TRUE(std::isfinite(p.x) && std::isfinite(p.y));
      }
    }
  }
}

/// Eleven operators of the same order, each a little slower than the one before.
FigureInput crowded_input() {
  FigureInput input;
  input.info = &figure_named("growth");
  for (const char* name :
       {"dot", "gat", "relation", "multiplicative", "laplacian", "umbral", "penumbral",
        "hyperbolic", "umbral-finite", "ganea", "penumbral-finite"}) {
    const auto first = static_cast<std::ptrdiff_t>(input.cases.size());
    const double factor = 1 + 0.02 * static_cast<double>(input.cases.size());
    add_cases(input, name, 2, 16384);
    for (auto c = input.cases.begin() + first; c != input.cases.end(); ++c) {
      c->time *= factor, c->time_low *= factor, c->time_high *= factor;
    }
  }
  return input;
}

/// Points along the curves of measurements.
std::vector<Point> points_of_curves(const DisplayList& list) {
  std::vector<Point> points;
  for (const PathItem& path : items_of<PathItem>(list)) {
    if (path.paint.stroke.width != data_line) continue;
    Point from{};
    for (const Segment& segment : path.path.segments) {
      if (const auto* move = std::get_if<MoveTo>(&segment)) from = move->to;
      const auto* line = std::get_if<LineTo>(&segment);
      for (int k = 0; line != nullptr && k <= 50; ++k) {
        points.push_back(
            {from.x + (line->to.x - from.x) * k / 50, from.y + (line->to.y - from.y) * k / 50});
      }
      if (line != nullptr) from = line->to;
    }
  }
  return points;
}

TEST(Growth, LabelsOfGuidesCoverNoCurve) {
  for (FigureInput input : {growth_input(), crowded_input()}) {
    for (const double width : {single_column, 249.0, double_column}) {
      input.width = width;
      const DisplayList list = input.info->make(input);
      expect_good_figure(list);
      const std::vector<Point> curves = points_of_curves(list);
      EXPECT_GT(curves.size(), 500u);
      int labels = 0;
      for (const TextItem& item : texts(list)) {
        const std::string text = plain(item.runs);
        if (!text.starts_with("∝")) continue;
        ++labels;
        for (const Point& p : curves) {
          EXPECT_FALSE(is_near(text_quad(item), p, 0.5)) << text << ' ' << width;
        }
      }
      EXPECT_EQ(labels, 4);
    }
  }
}

TEST(Growth, GuidesMeetAtTheShortestLengthAndHaveTheirSlopes) {
  FigureInput input = growth_input();
  const auto lines = guide_lines(input.info->make(input));
  ASSERT_EQ(lines.size(), 4u);
  // In log-log, n^e rises by e times what n does.
  const auto rise = [&](std::size_t k) { return lines[k].front().y - lines[k].back().y; };
  for (std::size_t k = 1; k < 4; ++k) {
    EXPECT_NEAR(lines[k].front().x, lines[0].front().x, 1e-9);
    EXPECT_NEAR(lines[k].front().y, lines[0].front().y, 1e-9);
  }
  EXPECT_NEAR(rise(2) / rise(0), 1.5, 1e-9);
  EXPECT_NEAR(rise(3) / rise(0), 2, 1e-9);
  // n log n lies between n and n sqrt n here, and is the one that is bent.
  EXPECT_GT(rise(1), rise(0));
  EXPECT_LT(rise(1), rise(2));
  ASSERT_GT(lines[1].size(), 3u);
  EXPECT_GT(lines[1].front().y - lines[1][lines[1].size() / 2].y, rise(1) / 2);
}

TEST(Growth, GuidesAreChosen) {
  FigureInput input = growth_input();
  input.parameters["guides"] = "none";
  EXPECT_TRUE(guide_lines(input.info->make(input)).empty());
  input.parameters["guides"] = "n,n^2";
  EXPECT_EQ(guide_lines(input.info->make(input)).size(), 2u);
  input.parameters["guides"] = "n^3";
  EXPECT_THROW((void)input.info->make(input), Error);
}

TEST(Growth, SeveralValuesOfALabelAreCurvesOfTheirOwn) {
  FigureInput input = growth_input();
  input.cases.resize(4);  // Of dot.
  const std::size_t count = input.cases.size();
  for (std::size_t i = 0; i < count; ++i) {
    MeasuredCase wide = input.cases[i];
    wide.labels.set("dim", 128);
    wide.time *= 2;
    input.cases.push_back(wide);
  }
  const std::string one = all_text(input.info->make(input));
  EXPECT_NE(one.find("64"), std::string::npos) << one;
  EXPECT_EQ(one.find("128"), std::string::npos) << one;
  input.parameters["dim"] = "64,128";
  const std::string both = all_text(input.info->make(input));
  EXPECT_NE(both.find("dot, d = 64"), std::string::npos) << both;
  EXPECT_NE(both.find("dot, d = 128"), std::string::npos) << both;
  input.parameters["dim"] = "64,32";
  EXPECT_THROW((void)input.info->make(input), Error);
}

TEST(Growth, ACaseOfTwoFilesOrOfNoneIsMisuse) {
  FigureInput twice = growth_input();
  add_cases(twice, "dot", 2, 512);
  EXPECT_THROW((void)twice.info->make(twice), Error);
  FigureInput elsewhere = growth_input();
  MeasuredCase c = elsewhere.cases.front();
  c.labels = {{"operator", "umbral"}, {"seq_len", "256"}, {"dim", "128"}};
  elsewhere.cases.push_back(c);
  EXPECT_THROW((void)elsewhere.info->make(elsewhere), Error);
  elsewhere.parameters["operators"] = "dot,agglomerative";
  EXPECT_NO_THROW((void)elsewhere.info->make(elsewhere));
}

}  // namespace
}  // namespace conelab::figure
