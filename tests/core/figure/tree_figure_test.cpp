#include "core/figure/tree_figure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

/// Tokens without any order; `unplaced` of them are not finite.
TreeFigure unordered(const std::string& cone, std::size_t n, std::size_t unplaced = 0) {
  TreeFigure f;
  f.cone = cone;
  tree::HeadTree t;
  t.size = n;
  t.heights = true;
  t.depth.assign(n * n, -2);
  t.common.assign(n * n, 1);
  t.order = tree::AncestorOrder{
      n, std::vector<std::uint8_t>(n * n), std::vector<std::uint8_t>(n * n), {}};
  for (std::size_t i = 0; i < n; ++i) {
    t.depth[i * n + i] = -1;
    t.order->representative.push_back(static_cast<std::int64_t>(i));
    f.tokens.push_back("word" + std::to_string(i));
    for (std::size_t u = 0; u < unplaced; ++u) {
      t.depth[i * n + u] = t.depth[u * n + i] = std::nan("");
      t.common[i * n + u] = t.common[u * n + i] = 0;
    }
  }
  t.dendrogram = tree::merge_by_depth(t.depth, n);
  t.segmentation = tree::segmentation(
      std::vector<double>(n * n, unplaced > 0 ? std::nan("") : 1.0 / static_cast<double>(n)), n);
  f.tree = std::make_shared<tree::HeadTree>(std::move(t));
  return f;
}

bool has(const DisplayList& list, const std::string& text) {
  return list.metadata.description.find(text) != std::string::npos;
}

TEST(TreeFigure, HasseWithoutOrderNamesTheFamilysOwnParameter) {
  const auto advised = [](const std::string& cone, const std::string& parameter) {
    const DisplayList list = draw_hasse(unordered(cone, 4));
    return has(list, "no order to draw") && has(list, parameter);
  };
  EXPECT_TRUE(advised("umbral", "radius=3"));
  EXPECT_TRUE(advised("umbral-finite", "object_radius"));
  EXPECT_TRUE(advised("penumbral", "height"));
  EXPECT_TRUE(advised("penumbral-finite", "source_radius"));
  EXPECT_TRUE(advised("ganea", "depend on K"));
  EXPECT_FALSE(advised("ganea", "umbral"));
  EXPECT_FALSE(advised("", "radius"));
}

/// Each of the first tokens directly above all others.
TreeFigure two_ranks(std::size_t above, std::size_t below) {
  const std::size_t n = above + below;
  TreeFigure f = unordered("umbral", n);
  tree::HeadTree t = *f.tree;
  for (std::size_t i = 0; i < n; ++i) {
    const double height = (i < above ? 2 : 1) + 0.01 * static_cast<double>(i);
    t.depth[i * n + i] = -height;
    for (std::size_t j = above; j < n && i < above; ++j) {
      t.order->ancestor[i * n + j] = t.order->cover[i * n + j] = 1;
    }
  }
  f.tree = std::make_shared<tree::HeadTree>(std::move(t));
  return f;
}

/// Lines of the diagram: strong and faint ones.
std::pair<std::size_t, std::size_t> strong_and_faint(const DisplayList& list) {
  std::pair<std::size_t, std::size_t> counts;
  for (const PathItem& path : items_of<PathItem>(list)) {
    if (path.paint.fill.a != 0) continue;
    const Colour c = path.paint.stroke.colour;
    if (c.r != blue.r || c.g != blue.g || c.b != blue.b) continue;
    ++(c.a == 255 ? counts.first : counts.second);
  }
  return counts;
}

TEST(TreeFigure, OfManyLinesTheNearestOfEachTokenStandOut) {
  TreeFigure f = two_ranks(20, 20);
  f.width = single_column;
  const DisplayList many = draw_hasse(f);
  expect_good_figure(many);
  EXPECT_EQ(strong_and_faint(many), std::pair(std::size_t{20}, std::size_t{380}));
  EXPECT_TRUE(has(many, "nearest direct ancestor, the 380 others are faint"));
  // The lowest of the upper rank is the nearest of all: the strong lines begin there.
  const DrawnTree drawn = place_hasse(f);
  for (const PathItem& path : items_of<PathItem>(drawn.list)) {
    if (!(path.paint.stroke.colour == blue) || path.paint.fill.a != 0) continue;
    EXPECT_EQ(std::get<MoveTo>(path.path.segments.front()).to, drawn.places.token[0]);
  }
  const DisplayList few = draw_hasse(two_ranks(2, 3));
  EXPECT_EQ(strong_and_faint(few), std::pair(std::size_t{6}, std::size_t{0}));
  EXPECT_FALSE(has(few, "faint"));
}

TEST(TreeFigure, SaysThatOnlySomeTokensAreLabelled) {
  TreeFigure f = unordered("umbral", 120);
  f.width = single_column;
  EXPECT_TRUE(has(draw_hasse(f), "One token in 4 is labelled"))
      << draw_hasse(f).metadata.description;
  EXPECT_TRUE(has(draw_tree(f), "One token in"));
  EXPECT_FALSE(has(draw_hasse(unordered("umbral", 5)), "labelled"));
}

TEST(TreeFigure, TokensWithoutAPlaceAreQuestionMarksJoinedToNothing) {
  const TreeFigure f = unordered("umbral", 6, 2);
  for (const DisplayList& list : {draw_tree(f), draw_hasse(f)}) {
    expect_good_figure(list);
    int marks = 0;
    for (const TextItem& item : texts(list)) marks += plain(item.runs) == "?";
    EXPECT_EQ(marks, 2);
    EXPECT_TRUE(has(list, "2 tokens have no place (?)"));
  }
  EXPECT_TRUE(has(draw_tree(f), "attention across boundaries is unknown"));
  EXPECT_FALSE(has(draw_tree(f), "least after"));
  EXPECT_FALSE(has(draw_tree(f), "dashed"));
  EXPECT_TRUE(has(draw_tree(unordered("umbral", 6)), "least after token 0"));
}

}  // namespace
}  // namespace conelab::figure
