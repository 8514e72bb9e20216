#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/pair/mask.h"
#include "core/source/figure_table.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

DisplayList masks(const Parameters& parameters, double width = 0) {
  return drawn("masks", parameters, width);
}

/// The filled cells of the first panel, row by row, as '#' and '.'.
std::string cells(const DisplayList& list, int n) {
  std::vector<std::string> rows(static_cast<std::size_t>(n), std::string(n, '.'));
  Box box;
  for (const PathItem& path : items_of<PathItem>(list)) {
    const auto& segments = path.path.segments;
    if (box.width == 0) {
      const Point a = std::get<MoveTo>(segments[0]).to, b = std::get<LineTo>(segments[2]).to;
      box = {a.x, a.y, b.x - a.x, b.y - a.y};
      continue;
    }
    for (std::size_t k = 0; k + 4 < segments.size(); k += 5) {
      const Point a = std::get<MoveTo>(segments[k]).to, b = std::get<LineTo>(segments[k + 2]).to;
      const auto row = static_cast<std::size_t>(std::lround((a.y - box.y) / box.height * n));
      const auto first = std::lround((a.x - box.x) / box.width * n);
      const auto end = std::lround((b.x - box.x) / box.width * n);
      for (auto c = first; c < end; ++c) rows[row][static_cast<std::size_t>(c)] = '#';
    }
    break;
  }
  std::string all;
  for (const std::string& row : rows) all += row + "\n";
  return all;
}

TEST(MasksFigure, ShowsEveryMaskOfTheTable) {
  for (const double width : {single_column, double_column}) {
    const DisplayList list = masks({}, width);
    expect_good_figure(list);
    for (const MaskRow& row : mask_table()) {
      EXPECT_GE(count(all_text(list), std::string("|") + row.name + "|"), 1u) << row.name;
    }
  }
}

TEST(MasksFigure, CaptionNamesTheExamplesThatAreDrawn) {
  const auto caption = [](const Parameters& parameters) { return all_text(masks(parameters)); };
  EXPECT_NE(caption({}).find("graph"), std::string::npos);
  EXPECT_EQ(caption({{"masks", "causal,window"}}).find("Examples"), std::string::npos);
  EXPECT_EQ(caption({{"masks", "padding"}}).find("binary tree"), std::string::npos);
}

TEST(MasksFigure, DrawsThePairsThatAreSeen) {
  EXPECT_EQ(cells(masks({{"masks", "causal"}, {"n", "4"}}), 4), "#...\n##..\n###.\n####\n");
  EXPECT_EQ(cells(masks({{"masks", "window"}, {"n", "4"}, {"window", "2"}}), 4),
            "##..\n###.\n.###\n..##\n");
  EXPECT_EQ(cells(masks({{"masks", "explicit"}, {"n", "4"}}), 4), "##..\n##..\n..##\n..##\n");
  EXPECT_EQ(cells(masks({{"masks", "padding"}, {"n", "4"}}), 4), "###.\n###.\n###.\n###.\n");
  // Sparse Transformers: 18 pairs for n = 6 and a stride of 3.
  const DisplayList strided = masks({{"masks", "strided"}, {"n", "6"}, {"stride", "3"}});
  EXPECT_EQ(cells(strided, 6), "#.....\n##....\n###...\n####..\n.####.\n..####\n");
  EXPECT_NE(all_text(strided).find("|18 pairs|"), std::string::npos) << all_text(strided);
}

TEST(MasksFigure, AWordThatChangesThePatternHasItsOwnPanel) {
  const auto panels = [](const Parameters& p) { return count(all_text(masks(p)), "|graph|"); };
  EXPECT_EQ(panels({{"masks", "graph"}}), 2u);
  EXPECT_EQ(panels({{"masks", "graph"}, {"edges", "directed"}}), 1u);
}

TEST(MasksFigure, WrongValuesAreMisuse) {
  for (const Parameters& bad : std::vector<Parameters>{{{"masks", "cusal"}},
                                                       {{"n", "0"}},
                                                       {{"n", "100000"}},
                                                       {{"window", "-1"}},
                                                       {{"window", "wide"}},
                                                       {{"edges", "both"}}}) {
    EXPECT_THROW((void)masks(bad), Error) << bad.begin()->second;
  }
}

}  // namespace
}  // namespace conelab::figure
