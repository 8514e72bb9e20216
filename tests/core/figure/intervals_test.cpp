#include "core/figure/intervals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/error.h"
#include "core/source/figure_table.h"
#include "tests/core/figure/figure_checks.h"
#include "tests/helpers/errors.h"

namespace conelab::figure {
namespace {

/// Tokens (x, height) of the half-plane under umbral cones with sinh r = 1/2, so that the interval
/// of a token is [x - height/2, x + height/2].
tree::HeadElements umbral_tokens(const std::vector<std::array<double, 2>>& tokens) {
  tree::HeadElements out{geometry::cone_system("umbral", {{"radius", std::asinh(0.5)}}), {}};
  for (const auto& [x, height] : tokens) {
    out.elements.push_back(
        geometry::element_at(out.system, geometry::Vector::Constant(1, x), height));
  }
  return out;
}

FigureInput intervals_input() {
  tree::HeadTree t;
  t.placed = umbral_tokens({{0, 10}, {-2, 2}, {2, 2}, {2.25, 0.5}});
  t.size = 4;
  FigureInput input;
  input.info = &figure_named("intervals");
  input.tree = std::make_shared<tree::HeadTree>(std::move(t));
  input.tokens = {"root", "left", "right", "leaf"};
  return input;
}

TEST(Intervals, HaveTheLengthOfTheirHeightAndHullsThatOfTheLca) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<std::array<double, 2>> tokens;
  for (int i = 0; i < 40; ++i) tokens.push_back({3 * normal(random), std::exp(normal(random))});
  for (const char* name : {"umbral", "penumbral"}) {
    tree::HeadElements placed{geometry::cone_system(name), {}};
    for (const auto& [x, height] : tokens) {
      placed.elements.push_back(
          geometry::element_at(placed.system, geometry::Vector::Constant(1, x), height / 50));
    }
    const auto intervals = intervals_of(placed, "the test");
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (name[0] == 'u') {
        EXPECT_NEAR(intervals[i].high - intervals[i].low, tokens[i][1] / 50, 1e-14);
      }
      for (std::size_t j = 0; j < tokens.size(); ++j) {
        const auto &a = placed.elements[i], &b = placed.elements[j];
        const geometry::Lca lca = geometry::lca(placed.system, a, b);
        const Interval both = hull(intervals[i], intervals[j]);
        const double length = name[0] == 'u' ? lca.radial : 2 * lca.shadow;
        EXPECT_NEAR(both.high - both.low, length, 1e-12 * (1 + length));
        if (i != j) {
          EXPECT_EQ(intervals[i].spans(intervals[j]),
                    geometry::is_ancestor(geometry::Base::plane, a, b));
        }
      }
    }
  }
}

TEST(Intervals, StandBelowAllThatSpanThemAndShareARowOnlyApart) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 60; ++round) {
    const int places = round % 2 == 0 ? 6 : 1000;  // Few places give equal ends and intervals.
    std::uniform_int_distribution<int> end(0, places);
    std::vector<Interval> t;
    for (int i = 0; i < 30; ++i) {
      const int a = end(random), b = end(random);
      t.push_back({static_cast<double>(std::min(a, b)), static_cast<double>(std::max(a, b))});
    }
    t.push_back({std::nan(""), std::nan("")});
    const IntervalRows rows = interval_rows(t);
    for (std::size_t i = 0; i < 30; ++i) {
      // The longest chain above, from the intervals by length.
      std::vector<std::size_t> order(30);
      for (std::size_t k = 0; k < 30; ++k) order[k] = k;
      std::ranges::sort(order, {}, [&](std::size_t k) { return t[k].low - t[k].high; });
      std::vector<std::size_t> chain(30, 0);
      for (const std::size_t k : order) {
        for (const std::size_t above : order) {
          if (t[above].spans(t[k]) && t[above] != t[k])
            chain[k] = std::max(chain[k], chain[above] + 1);
        }
      }
      ASSERT_EQ(rows.level[i], chain[i]) << round << ", " << i;
      EXPECT_GE(rows.row[i], rows.first_row[rows.level[i]]);
      EXPECT_LT(rows.row[i], rows.first_row[rows.level[i] + 1]);
      for (std::size_t j = 0; j < i; ++j) {
        if (rows.row[i] != rows.row[j]) continue;
        EXPECT_TRUE(t[i].high < t[j].low || t[j].high < t[i].low);
      }
    }
  }
}

TEST(Intervals, AreBarsBelowThoseOfTheirAncestorsWithTheirNames) {
  const FigureInput input = intervals_input();
  const DisplayList list = input.info->make(input);
  expect_good_figure(list);
  const std::string all = all_text(list);
  for (const char* name : {"|root|", "|left|", "|right|", "|leaf|"}) {
    EXPECT_NE(all.find(name), std::string::npos) << all;
  }
  IntervalFigure f{.intervals = intervals_of(*input.tree->placed, ""), .names = input.tokens};
  f.by_rank = false, f.width = 300;
  const DrawnIntervals drawn = place_intervals(f);
  EXPECT_EQ(drawn.rows.level, (std::vector<std::size_t>{0, 1, 1, 2}));
  EXPECT_NEAR(drawn.bars[1].width / drawn.bars[0].width, 0.2, 1e-12);
  EXPECT_NEAR(drawn.bars[3].x, drawn.field.x + 0.7 * drawn.field.width, 1e-9);
  EXPECT_EQ(drawn.bars[1].y, drawn.bars[2].y);
}

TEST(Intervals, ScalesKeepTheOrderOfEnds) {
  const IntervalScale rank{true, {0, 1, 100, 1000}}, linear{false, {0, 1, 100, 1000}};
  EXPECT_DOUBLE_EQ(rank(1), 1.0 / 3);
  EXPECT_DOUBLE_EQ(rank(550), 2.5 / 3);
  EXPECT_DOUBLE_EQ(linear(100), 0.1);
  EXPECT_EQ(rank(-5), 0);
  EXPECT_EQ(rank(5000), 1);
}

TEST(Intervals, ShowTheHullOfAPairOfNumbersOrTexts) {
  FigureInput input = intervals_input();
  input.parameters["pair"] = "1,3";
  const DisplayList numbers = input.info->make(input);
  expect_good_figure(numbers);
  // From -3 to 2.5.
  EXPECT_NE(all_text(numbers).find("LCA of left and leaf: height 5.5"), std::string::npos);
  input.parameters["pair"] = "left,leaf";
  EXPECT_EQ(dump(input.info->make(input)), dump(numbers));
  for (const auto& [typed, said] : std::vector<std::array<std::string, 2>>{
           {"left", "two tokens"}, {"left,loaf", "did you mean 'leaf'"}, {"1,4", "from 0 to 3"}}) {
    input.parameters["pair"] = typed;
    const Error error = fixtures::error_of([&] { return input.info->make(input); });
    EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << typed << error.what();
  }
}

TEST(Intervals, ShowOnlyWhatATokenSpans) {
  FigureInput input = intervals_input();
  input.parameters["within"] = "right";
  const DisplayList list = input.info->make(input);
  const std::string all = all_text(list);
  EXPECT_NE(all.find("|leaf|"), std::string::npos);
  EXPECT_EQ(all.find("|left|"), std::string::npos);
  EXPECT_NE(list.metadata.description.find("2 of 4 tokens that right spans"), std::string::npos);
  input.parameters["pair"] = "left,leaf";
  EXPECT_THROW((void)input.info->make(input), Error);
}

TEST(Intervals, ShowValuesOnlyWhereThereAreSome) {
  FigureInput input = intervals_input();
  input.parameters["colour"] = "value";
  EXPECT_THROW((void)input.info->make(input), Error);
  input.own = std::vector<double>{1, 2, 3, 4};
  EXPECT_NE(all_text(input.info->make(input)).find("|v|"), std::string::npos);
  input.parameters["colour"] = "height";
  expect_good_figure(input.info->make(input));
}

TEST(Intervals, AreRefusedInOtherDimensionsAndFamilies) {
  tree::HeadElements high{geometry::cone_system("umbral"), {}};
  high.elements.push_back(geometry::element_at(high.system, geometry::Vector::Constant(2, 0.1), 1));
  EXPECT_THROW((void)intervals_of(high, "the figure"), Error);
  EXPECT_THROW((void)intervals_of({geometry::cone_system("umbral-finite"), {}}, "the figure"),
               Error);
}

}  // namespace
}  // namespace conelab::figure
