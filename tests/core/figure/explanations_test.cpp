#include "core/figure/explanations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/drawing/plane_scene.h"
#include "core/drawing/text.h"
#include "core/figure/tree_figure.h"
#include "tests/core/figure/figure_checks.h"
#include "tests/core/geometry/sampling.h"

namespace conelab::figure {
namespace {

TEST(Explanations, AreGoodFiguresAtBothWidths) {
  for (const double width : {single_column, double_column}) {
    ExplanationFigure f;
    f.width = width;
    f.caption = "A caption";
    for (const auto& draw : {draw_finite_to_infinite, draw_convexity, draw_lub}) {
      expect_good_figure(draw(f));
    }
    f.cone = "umbral";
    expect_good_figure(draw_finite_to_infinite(f));
  }
  ExplanationFigure wrong;
  wrong.cone = "ganea";
  EXPECT_THROW((void)draw_finite_to_infinite(wrong), Error);
}

// The level of the LCA under a source at height 10 is a circle far wider than the page; its trace
// has to be exact where a label looks for room.
TEST(LabelPlacer, KeepsClearOfAnArcFarWiderThanThePage) {
  DisplayList list;
  list.width = 200, list.height = 100;
  for (const double radius : {50.0, 4000.0, 1e6, 1e9}) {
    LabelPlacer labels({0, 0, 200, 100});
    labels.avoid({0, 0, 200, 11});
    labels.avoid_path(Path::circle({100, 19 - radius}, radius));  // It touches y = 19 at x = 100.
    const Box box = labels.place(list, {140, 12}, rich("light"), {.size = 6});
    for (double x = box.x; x <= box.right(); x += 0.5) {
      const double dx = x - 100;
      const double y =
          19 - dx * dx / (radius + std::sqrt(std::max(0.0, radius * radius - dx * dx)));
      EXPECT_FALSE(y > box.y && y < box.bottom()) << radius << " at " << x;
    }
  }
}

TEST(Explanations, ErrorFallsWithTheSquareOfTheHeight) {
  for (const char* cone : {"penumbral", "umbral"}) {
    EXPECT_NEAR(std::log10(recession_error(cone, 100) / recession_error(cone, 1000)), 2, 0.05);
  }
}

TEST(Explanations, ConvexityShowsTheEscapeOnce) {
  std::size_t escapes = 0;
  for (const Item& item : draw_convexity({}).items) {
    const auto* path = std::get_if<PathItem>(&item);
    escapes += path != nullptr && path->paint.stroke.width == 2;
  }
  EXPECT_EQ(escapes, 1u);  // The umbral one only.
}

TreeFigure some_tree(const char* similarity, std::int64_t n,
                     std::map<std::string, Value> parameters = {}) {
  geometry::test::Sampler sampler(5);
  AttentionInput<double> input;
  for (auto* t : {&input.query, &input.key, &input.value}) {
    *t = Tensor4<double>({1, 1, n, 2});
    for (double& x : t->owned().data) x = sampler.uniform(-1, 1);
  }
  Call call = call_from_text(similarity);
  call.parameters = std::move(parameters);
  TreeFigure figure;
  figure.tree = std::make_shared<tree::HeadTree>(tree::head_trees(pair_call(call, input)).front());
  for (std::int64_t i = 0; i < n; ++i) figure.tokens.push_back("token" + std::to_string(i));
  return figure;
}

TEST(TreeFigure, IsGoodForEverySize) {
  for (const char* similarity : {"penumbral", "umbral", "dot"}) {
    for (const std::int64_t n : {1, 2, 3, 30, 200}) {
      for (const double width : {single_column, double_column}) {
        TreeFigure f = some_tree(similarity, n);
        f.width = width;
        SCOPED_TRACE(similarity + std::to_string(n));
        expect_good_figure(draw_tree(f));
        if (f.tree->order) expect_good_figure(draw_hasse(f));
      }
    }
  }
}

TEST(TreeFigure, DrawsOneBracketAMergeAndOneLineACover) {
  const TreeFigure f = some_tree("umbral", 25, {{"radius", "1"}});
  std::size_t covers = 0, lines = 0, brackets = 0;
  for (const std::uint8_t c : f.tree->order->cover) covers += c;
  ASSERT_GT(covers, 5u);
  bool inside = false;
  for (const Item& item : draw_hasse(f).items) {
    if (const auto* group = std::get_if<GroupBegin>(&item)) inside = group->id == "hasse";
    if (std::holds_alternative<GroupEnd>(item)) inside = false;
    const auto* path = std::get_if<PathItem>(&item);
    lines += inside && path != nullptr && path->paint.stroke.colour == blue;
  }
  EXPECT_EQ(lines, covers);
  for (const Item& item : draw_tree(f).items) {
    const auto* path = std::get_if<PathItem>(&item);
    brackets +=
        path != nullptr && path->path.segments.size() == 4 && path->paint.stroke.colour == blue;
  }
  EXPECT_EQ(brackets, 24u);
}

TEST(TreeFigure, PlacesAreWhereThingsAreDrawn) {
  TreeFigure f = some_tree("penumbral", 25);
  f.title = "penumbral";
  const DrawnTree drawn = place_tree(f);
  expect_good_figure(drawn.list);
  ASSERT_EQ(drawn.places.token.size(), 25u);
  ASSERT_EQ(drawn.places.merge.size(), 24u);
  ASSERT_EQ(drawn.places.boundary.size(), 24u);
  std::size_t discs = 0;
  for (const PathItem& path : items_of<PathItem>(drawn.list)) {
    if (path.paint.fill != blue) continue;
    const Point start = path.path.current();
    discs += std::any_of(drawn.places.token.begin(), drawn.places.token.end(),
                         [&](Point p) { return std::hypot(p.x - start.x, p.y - start.y) < 1.4; });
  }
  EXPECT_EQ(discs, 25u);
  for (const Point p : drawn.places.merge) EXPECT_TRUE(drawn.places.box.grown(0.1).contains(p));
  EXPECT_EQ(place_hasse(f).places.token.size(), 25u);
}

TEST(TreeFigure, RefusesWhatItCannotDraw) {
  TreeFigure f = some_tree("dot", 4);
  EXPECT_THROW((void)draw_hasse(f), Error);
  f.tokens.pop_back();
  EXPECT_THROW((void)draw_tree(f), Error);
  EXPECT_NO_THROW((void)draw_tree(TreeFigure{}));
}

}  // namespace
}  // namespace conelab::figure
