// Figure `determinant`: what its curves must show.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/source/figure_table.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

DisplayList determinant_figure(const Parameters& parameters, double width = 0) {
  return drawn("determinant", parameters, width);
}

TEST(DeterminantFigure, IsGoodAtBothWidths) {
  for (const double width : {single_column, double_column}) {
    expect_good_figure(determinant_figure({{"draws", "5"}, {"longest", "8"}}, width));
  }
  expect_good_figure(determinant_figure({{"draws", "1"}, {"longest", "1"}, {"dim", "1"}}));
}

/// The skew curve is level: all of its markers lie on one height, at determinant 1.
TEST(DeterminantFigure, ShowsThatTheSkewWeightingKeepsVolumes) {
  std::vector<double> heights;
  bool inside = false;
  std::size_t curves = 0;
  for (const Item& item : determinant_figure({{"draws", "3"}, {"longest", "6"}}).items) {
    if (const auto* group = std::get_if<GroupBegin>(&item)) {
      curves +=
          group->title == "volume-preserving, arbitrary" || group->title == "softmax attention";
      inside = group->title == "volume-preserving, skew";
    }
    if (std::holds_alternative<GroupEnd>(item)) inside = false;
    const auto* path = std::get_if<PathItem>(&item);
    if (!inside || path == nullptr || path->paint.stroke.width != data_line) continue;
    for (const auto& segment : path->path.segments) {
      if (const auto* line = std::get_if<LineTo>(&segment)) heights.push_back(line->to.y);
    }
  }
  EXPECT_EQ(curves, 2u);
  ASSERT_EQ(heights.size(), 4u);  // From 1 to 2, 3, 4 and 6 tokens.
  for (const double y : heights) EXPECT_NEAR(y, heights.front(), 1e-6);
}

TEST(DeterminantFigure, SeedsGiveOtherDraws) {
  const auto drawn = [](const char* seed) {
    return dump(determinant_figure({{"draws", "3"}, {"longest", "4"}, {"seed", seed}}));
  };
  EXPECT_EQ(drawn("1"), drawn("1"));
  EXPECT_NE(drawn("1"), drawn("2"));
}

TEST(DeterminantFigure, RefusesWhatCannotBeDrawn) {
  EXPECT_THROW((void)determinant_figure({{"dim", "0"}}), Error);
  EXPECT_THROW((void)determinant_figure({{"draws", "0"}}), Error);
  EXPECT_THROW((void)determinant_figure({{"dim", "64"}, {"longest", "65"}}), Error);
}

}  // namespace
}  // namespace conelab::figure
