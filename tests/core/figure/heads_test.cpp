#include "core/figure/heads.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

HeatmapPanel some_map(std::size_t side, double first) {
  HeatmapPanel map;
  map.rows = map.cols = side;
  map.values.assign(side * side, 0.01);
  map.values.front() = first;
  return map;
}

/// `layers` × 12 heads of 30 tokens; the entropy falls from head to head, and one is unknown.
HeadsFigure model_of(std::size_t layers) {
  HeadsFigure f;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    f.rows.push_back("layer" + std::to_string(layer));
    for (std::size_t head = 0; head < 12; ++head) {
      const double place = static_cast<double>(12 * layer + head);
      HeadPanel panel{layer, head, some_map(30, 0.9), {}};
      panel.scores.entropy = layer == 1 && head == 3 ? NAN : 3 - place / 100;
      f.heads.push_back(std::move(panel));
    }
  }
  f.caption = "MiniLM, german, dot";
  return f;
}

std::vector<std::string> words_of(const DisplayList& list) {
  std::vector<std::string> words;
  for (const TextItem& item : texts(list)) words.push_back(plain(item.runs));
  return words;
}

TEST(HeadsFigure, HasARowForEachLayerAndANumberBelowEachMap) {
  for (const std::size_t layers : {1U, 6U, 12U}) {
    for (const double width : {single_column, double_column}) {
      HeadsFigure f = model_of(layers);
      f.width = width;
      const DisplayList list = draw_heads(f);
      expect_good_figure(list);
      EXPECT_LE(list.height, 230 / 25.4 * 72) << layers;
      const std::vector<std::string> words = words_of(list);
      for (const std::string& row : f.rows) {
        EXPECT_EQ(std::count(words.begin(), words.end(), row), 1) << row;
      }
      EXPECT_EQ(std::count(words.begin(), words.end(), "2.95"), 1);
    }
  }
}

TEST(HeadsFigure, ListsHeadsByTheirScoreTheUnknownLast) {
  HeadsFigure f = model_of(2);
  f.order = "lowest first";
  std::vector<std::string> names;
  for (const std::string& word : words_of(draw_heads(f))) {
    if (word.find(" · ") != std::string::npos) names.push_back(word);
  }
  ASSERT_EQ(names.size(), 24U);
  EXPECT_EQ(names.front(), "layer1 · 11");
  EXPECT_EQ(names[names.size() - 2], "layer0 · 0");
  EXPECT_EQ(names.back(), "layer1 · 3");
  f.order = "highest first";
  names.clear();
  for (const std::string& word : words_of(draw_heads(f))) {
    if (word.find(" · ") != std::string::npos) names.push_back(word);
  }
  EXPECT_EQ(names.front(), "layer0 · 0");
  EXPECT_EQ(names.back(), "layer1 · 3");
}

TEST(HeadsFigure, EqualScoresHaveNoLongBars) {
  HeadsFigure f = model_of(2);
  for (HeadPanel& head : f.heads) head.scores.entropy = 0;
  std::size_t bars = 0;
  for (const PathItem& path : items_of<PathItem>(draw_heads(f))) {
    if (!(path.paint.fill == blue)) continue;
    const auto& end = std::get<LineTo>(path.path.segments[1]).to;
    EXPECT_NEAR(end.x - std::get<MoveTo>(path.path.segments[0]).to.x, 0.5, 1e-9);
    ++bars;
  }
  EXPECT_EQ(bars, f.heads.size());
}

TEST(HeadsFigure, KeepsTheLargestValueOfABlock) {
  HeatmapPanel map = some_map(512, 0.75);
  map.values[511 * 512 + 300] = -0.5;
  const HeatmapPanel small = small_map(map, HeatScale::linear);
  EXPECT_LE(small.rows, 60U);
  EXPECT_EQ(small.values.front(), 0.75);
  map.diverging = true;
  const HeatmapPanel signs = small_map(map, HeatScale::linear);
  EXPECT_EQ(*std::min_element(signs.values.begin(), signs.values.end()), -0.5);
}

TEST(HeadsFigure, LimitsOfWeightsWithSignsHaveZeroBetweenThem) {
  HeadsFigure f = model_of(1);
  HeatmapPanel& map = f.heads.front().map;
  map.values[1] = -0.2;
  map.values[2] = 0.45;
  const auto pixels = [&](Limits limits, bool shared = true) {
    f.limits = limits;
    f.shared_limits = shared;
    return pixels_of(draw_heads(f));
  };
  for (HeadPanel& head : f.heads) head.map.diverging = true;
  const std::vector<std::uint8_t> own = pixels({});
  EXPECT_EQ(pixels({0, 0.45}), own);
  // Beyond the limits, 0.9 and 0.45 have the same colour.
  for (const bool shared : {true, false}) {
    const std::vector<std::uint8_t> narrow = pixels({-0.45, 0.45}, shared);
    ASSERT_EQ(narrow.size(), own.size());
    EXPECT_TRUE(std::equal(narrow.begin(), narrow.begin() + 4, narrow.begin() + 8));
    EXPECT_FALSE(std::equal(own.begin(), own.begin() + 4, own.begin() + 8));
  }
}

TEST(HeadsFigure, RefusesUnknownScoresAndOrders) {
  HeadsFigure f = model_of(1);
  f.score = "beauty";
  EXPECT_THROW((void)draw_heads(f), Error);
  f.score = "entropy", f.order = "by mood";
  EXPECT_THROW((void)draw_heads(f), Error);
}

}  // namespace
}  // namespace conelab::figure
