#include "core/figure/arcs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/random.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

ArcsFigure some_arcs(std::size_t n, std::size_t panels, ArcArrangement arrangement) {
  Random random(n + panels);
  ArcsFigure f;
  f.arrangement = arrangement;
  for (std::size_t p = 0; p < panels; ++p) {
    ArcsPanel panel;
    panel.title = "operator " + std::to_string(p);
    panel.queries = panel.keys = n;
    std::vector<double> row(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (double& w : row) w = random.uniform();
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      for (double& w : row) w /= sum;
      pick_arcs(row.data(), n, i, f.choice, panel.arcs);
    }
    f.panels.push_back(panel);
  }
  for (std::size_t i = 0; i < n; ++i) f.query_tokens.push_back("word" + std::to_string(i));
  f.key_tokens = f.query_tokens;
  return f;
}

TEST(Arcs, TheStrongestOfARowInOrder) {
  const std::vector<double> row = {0.1, NAN, 0.4, 0, 0.1, 0.3, 0.1};
  std::vector<Arc> arcs;
  pick_arcs(row.data(), row.size(), 2, {4, 0.05}, arcs);
  ASSERT_EQ(arcs.size(), 4U);
  EXPECT_EQ(arcs[0].key, 2U);
  EXPECT_EQ(arcs[1].key, 5U);
  EXPECT_EQ(arcs[2].key, 0U);
  EXPECT_EQ(arcs[3].key, 4U);  // Of equal ones the first.
  EXPECT_EQ(arcs[3].query, 2U);
  arcs.clear();
  pick_arcs(row.data(), row.size(), 0, {9, 0.2}, arcs);
  EXPECT_EQ(arcs.size(), 2U);
  pick_arcs(row.data(), 0, 0, {9, 0.2}, arcs);
  EXPECT_EQ(arcs.size(), 2U);
}

TEST(Arcs, EveryArrangementIsAGoodFigure) {
  for (const auto arrangement :
       {ArcArrangement::sides, ArcArrangement::above, ArcArrangement::rows}) {
    for (const std::size_t n : {0U, 1U, 2U, 12U, 40U, 129U}) {
      const DrawnArcs drawn = place_arcs(some_arcs(n, 2, arrangement));
      expect_good_figure(drawn.list);
      for (const ArcsPlace& place : drawn.panels) {
        for (const PlacedArc& arc : place.arcs) {
          for (const Point& p : arc.points) EXPECT_TRUE(place.box.grown(3).contains(p));
        }
      }
    }
  }
}

TEST(Arcs, RunFromTheQueryToTheKeyOnTheSideOfTheirDirection) {
  ArcsFigure f = some_arcs(10, 1, ArcArrangement::sides);
  f.panels[0].arcs = {{7, 2, 0.5}, {1, 8, 0.25}, {4, 4, 0.1}};
  const DrawnArcs drawn = place_arcs(f);
  const ArcsPlace& place = drawn.panels[0];
  ASSERT_EQ(place.arcs.size(), 3U);
  for (const PlacedArc& placed : place.arcs) {
    const auto [query, key, weight] = placed.arc;
    if (query == key) {
      EXPECT_EQ(placed.points[0], place.query[query]);
      continue;
    }
    const Point a = place.query[query], b = place.key[key], middle = placed.points[12];
    EXPECT_NEAR(std::min(placed.points.front().x, placed.points.back().x), std::min(a.x, b.x),
                1e-9);
    EXPECT_NEAR(std::max(placed.points.front().x, placed.points.back().x), std::max(a.x, b.x),
                1e-9);
    EXPECT_NEAR(middle.x, (a.x + b.x) / 2, 1e-9);
    EXPECT_EQ(middle.y < a.y, key < query);
  }
  EXPECT_GT(place.arcs[2].stroke.width, place.arcs[1].stroke.width);  // 0.5 against 0.25
}

TEST(Arcs, RowsTakeSequencesOfDifferentLengths) {
  ArcsFigure f;
  f.arrangement = ArcArrangement::rows;
  f.panels = {{"dot", 4, 9, {{3, 8, 0.7}, {0, 0, 0.2}}, ""}};
  const DrawnArcs drawn = place_arcs(f);
  expect_good_figure(drawn.list);
  EXPECT_EQ(drawn.panels[0].query.size(), 4U);
  EXPECT_EQ(drawn.panels[0].key.size(), 9U);
  EXPECT_EQ(drawn.panels[0].arcs.back().points.back(), drawn.panels[0].key[8]);
  f.arrangement = ArcArrangement::sides;
  EXPECT_THROW((void)draw_arcs(f), Error);
  f.arrangement = ArcArrangement::rows;
  f.panels[0].arcs[0].key = 9;
  EXPECT_THROW((void)draw_arcs(f), Error);
}

TEST(Arcs, SharedLimitsMakeEqualWeightsEquallyWide) {
  ArcsFigure f = some_arcs(6, 2, ArcArrangement::above);
  f.panels[0].arcs = {{5, 0, 0.8}, {4, 1, 0.2}};
  f.panels[1].arcs = {{4, 1, 0.2}};
  const DrawnArcs shared = place_arcs(f);
  EXPECT_EQ(shared.panels[0].arcs[0].stroke.width, shared.panels[1].arcs[0].stroke.width);
  f.shared_limits = false;
  const DrawnArcs own = place_arcs(f);
  EXPECT_LT(own.panels[0].arcs[0].stroke.width, own.panels[1].arcs[0].stroke.width);
}

}  // namespace
}  // namespace conelab::figure
