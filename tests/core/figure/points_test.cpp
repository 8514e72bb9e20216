#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/source/figure_table.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

using geometry::Vector;

/// Tokens of a penumbral head with these axes [d − 1] and heights.
FigureInput points_input(const std::vector<Vector>& axes, const std::vector<double>& heights) {
  tree::HeadTree t;
  t.size = axes.size();
  t.placed = tree::HeadElements{geometry::cone_system("penumbral"), {}};
  for (std::size_t i = 0; i < t.size; ++i) {
    t.placed->elements.push_back(geometry::element_at(t.placed->system, axes[i], heights[i]));
  }
  for (const auto& a : t.placed->elements) {
    for (const auto& b : t.placed->elements) {
      t.depth.push_back(geometry::lca(t.placed->system, a, b).depth);
    }
  }
  t.order = tree::ancestor_order(geometry::Base::plane, t.placed->elements);
  t.dendrogram = tree::merge_by_depth(t.depth, t.size);
  t.ancestors = tree::merge_ancestors(*t.placed, t.dendrogram);
  FigureInput input;
  input.info = &figure_named("points");
  input.tree = std::make_shared<tree::HeadTree>(std::move(t));
  input.tokens = {"root", "left", "right"};
  input.caption = "three";
  return input;
}

Vector along(double x) { return Vector::Constant(1, x); }

std::size_t discs(const DisplayList& list) {
  std::size_t count = 0;
  bool tokens = false;
  for (const Item& item : list.items) {
    if (const auto* group = std::get_if<GroupBegin>(&item)) tokens = group->id == "tokens";
    count += tokens && std::holds_alternative<PathItem>(item);
  }
  return count;
}

TEST(Points, ShowTokensNamesAndCommonAncestors) {
  const FigureInput input = points_input({along(0), along(0.3), along(-0.4)}, {0.7, 0.2, 0.25});
  const DisplayList list = input.info->make(input);
  expect_good_figure(list);
  EXPECT_EQ(discs(list), 3u);
  std::string all;
  for (const TextItem& item : texts(list)) all += plain(item.runs) + "|";
  for (const char* name : {"root|", "left|", "right|"})
    EXPECT_NE(all.find(name), std::string::npos);
  EXPECT_NE(list.metadata.description.find("2 of 2 merges have one"), std::string::npos);
  EXPECT_EQ(list.metadata.description.find("principal"), std::string::npos);
}

TEST(Points, HeightsStayAndPlacesAreProjectedInMoreDimensions) {
  Vector a(2), b(2), c(2);
  a << 0, 0, b << 0.3, 0.3, c << -0.3, -0.3;
  const FigureInput flat =
      points_input({along(0), along(std::sqrt(0.18)), along(-std::sqrt(0.18))}, {0.7, 0.2, 0.25});
  const FigureInput input = points_input({a, b, c}, {0.7, 0.2, 0.25});
  const DisplayList list = input.info->make(input);
  EXPECT_NE(list.metadata.description.find("first principal axis (100 % of the variance)"),
            std::string::npos)
      << list.metadata.description;
  // The three lie on one line, so that the page has the same size as that of the exact drawing; the
  // captions differ.
  EXPECT_EQ(list.width, flat.info->make(flat).width);
  EXPECT_EQ(discs(list), 3u);
}

TEST(Points, TokensWithoutAPlaceAreCountedAndOtherFamiliesRefused) {
  FigureInput input = points_input({along(0), along(0.3), along(-0.4)}, {0.7, 0.2, 0.25});
  auto tree = std::make_shared<tree::HeadTree>(*input.tree);
  const double nan = std::nan("");
  tree->placed->elements[1] = {along(nan), nan, nan};
  tree->ancestors = tree::merge_ancestors(*tree->placed, tree->dendrogram);
  input.tree = tree;
  const DisplayList list = input.info->make(input);
  EXPECT_EQ(discs(list), 2u);
  EXPECT_NE(list.metadata.description.find("1 without a place"), std::string::npos);
  EXPECT_NE(list.metadata.description.find("0 of 2 merges"), std::string::npos);
  input.tree = std::make_shared<tree::HeadTree>();
  EXPECT_THROW((void)input.info->make(input), Error);
}

}  // namespace
}  // namespace conelab::figure
