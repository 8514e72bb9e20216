#include "core/figure/heatmap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/source/figure_table.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

const std::vector<std::string> song = {
    "[CLS]", "und", "ich", "mein",  "##e",  ",",    "\"",  "z",    "##ie", "##h",
    "si",    "##e", "aus", "!",     "mach", "dir",  "kei", "##ne", "ge",   "##dan",
    "##ken", ",",   "ve",  "##rst", "##eh", "##st", "du",  ".",    "\"",   "[SEP]"};

HeatmapPanel panel(std::size_t rows, std::size_t cols, const std::string& title = "dot") {
  HeatmapPanel p;
  p.title = title, p.rows = rows, p.cols = cols;
  for (std::size_t i = 0; i < rows * cols; ++i)
    p.values.push_back(0.01 * static_cast<double>(i % 97));
  return p;
}

HeatmapPanel song_panel(const std::string& title) {
  HeatmapPanel p = panel(30, 30, title);
  p.row_tokens = p.column_tokens = song;
  return p;
}

HeatmapFigure three() {
  HeatmapFigure f;
  f.panels = {song_panel("dot"), song_panel("penumbral"), song_panel("umbral")};
  f.caption = "MiniLM, layer 3, head 5";
  return f;
}

TEST(Heatmap, ThirtyTokensAreAllReadableInThreePanels) {
  const DisplayList list = draw_heatmap(three());
  expect_good_figure(list);
  std::size_t rows = 0, columns = 0;
  for (const TextItem& item : texts(list)) {
    if (plain(item.runs) == "##rst") ++(item.rotation == 0 ? rows : columns);
  }
  EXPECT_EQ(rows, 1u);  // Shared by the panels.
  EXPECT_EQ(columns, 3u);
}

TEST(Heatmap, FitsAPageInOneColumn) {
  for (const std::size_t panels : {1u, 3u, 6u}) {
    HeatmapFigure f = three();
    f.width = single_column;
    f.panels.assign(panels, song_panel("umbral"));
    const DisplayList list = draw_heatmap(f);
    expect_good_figure(list);
    EXPECT_LE(list.height, 230 / 25.4 * 72) << panels;
  }
}

TEST(Heatmap, PanelsThatLeaveRoomStandInTheMiddleWithTheirBar) {
  HeatmapFigure f = three();
  f.width = single_column;
  std::vector<Box> matrices, bars;
  for (const Item& item : draw_heatmap(f).items) {
    const auto* image = std::get_if<ImageItem>(&item);
    if (image != nullptr) (image->rows == 1 ? bars : matrices).push_back(image->box);
  }
  ASSERT_EQ(matrices.size(), 3u);
  ASSERT_EQ(bars.size(), 1u);
  EXPECT_LT(matrices[0].width, 0.7 * f.width);
  const double left = matrices[0].x, right = f.width - matrices[0].right();
  EXPECT_GT(left, right);  // Labels stand left.
  EXPECT_GT(right, 20);
  EXPECT_NEAR(bars[0].x + bars[0].width / 2, left + matrices[0].width / 2, 0.5);
  EXPECT_LE(bars[0].right(), matrices[0].right());
}

TEST(Heatmap, EveryScaleAndWidthKeepsTextsApart) {
  for (const HeatScale scale :
       {HeatScale::linear, HeatScale::log, HeatScale::row_normalised, HeatScale::rank}) {
    for (const double width : {single_column, double_column}) {
      for (const bool shared : {true, false}) {
        HeatmapFigure f = three();
        f.scale = scale, f.width = width, f.shared_limits = shared;
        f.panels[1].values[3] = NAN;
        f.panels[2].masked.assign(900, 0), f.panels[2].masked[7] = 1;
        expect_good_figure(draw_heatmap(f));
      }
    }
  }
}

TEST(Heatmap, SmallFigureIsItsGoldenText) {
  HeatmapFigure f;
  HeatmapPanel p = panel(2, 2, "dot");
  p.values = {0, 1, 0.5, NAN};
  p.masked = {0, 1, 0, 0};
  p.row_tokens = {"a", "b"};
  f.panels = {p};
  f.width = single_column;
  expect_golden(draw_heatmap(f), "heatmap");
}

TEST(Heatmap, MaskedZeroAndNanHaveTheirOwnColours) {
  HeatmapPanel p = panel(1, 4);
  p.values = {0, 5, NAN, 1};
  p.masked = {0, 1, 0, 0};
  const Limits limits = limits_of(p, HeatScale::linear);
  EXPECT_EQ(limits.low, 0);
  EXPECT_EQ(limits.high, 1);  // The masked 5 does not count.
  const auto rgba = colours_of(p, limits, HeatScale::linear, ColourMap::sequential);
  const auto cell = [&](std::size_t i) {
    return Colour{rgba[4 * i], rgba[4 * i + 1], rgba[4 * i + 2], rgba[4 * i + 3]};
  };
  EXPECT_EQ(cell(0), zero_colour);
  EXPECT_EQ(cell(1), masked_colour);
  EXPECT_EQ(cell(2), nan_colour);
  EXPECT_EQ(cell(3), colour_at(ColourMap::sequential, 1));
}

TEST(Heatmap, WhatSinglePrecisionCannotHoldIsZero) {
  HeatmapPanel p = panel(1, 3);
  p.values = {1e-39, 1e-37, 1};
  const Limits limits = limits_of(p, HeatScale::log);
  EXPECT_EQ(limits.low, 1e-37);
  EXPECT_TRUE(specials_of(p, HeatScale::log).zero);
  const auto rgba = colours_of(p, limits, HeatScale::log, ColourMap::sequential);
  EXPECT_EQ((Colour{rgba[0], rgba[1], rgba[2], rgba[3]}), zero_colour);
  EXPECT_EQ((Colour{rgba[4], rgba[5], rgba[6], rgba[7]}), colour_at(ColourMap::sequential, 0));
}

TEST(Heatmap, ZeroIsAnOrdinaryValueAmongLogits) {
  HeatmapPanel p = panel(1, 3);
  p.values = {-1, 0, 1};
  EXPECT_FALSE(zero_is_special(p, HeatScale::linear));
  p.values = {0, 0, 1};
  EXPECT_TRUE(zero_is_special(p, HeatScale::linear));
}

TEST(Heatmap, ZeroIsInTheMiddleOfADivergingMap) {
  HeatmapFigure f;
  f.panels = {panel(1, 3)};
  f.panels.front().values = {-1, 0, 4};
  const auto has_minus_two = [&] {
    return all_text(draw_heatmap(f)).find("|\u22122|") != std::string::npos;
  };
  EXPECT_FALSE(has_minus_two());
  f.map = ColourMap::diverging;
  EXPECT_TRUE(has_minus_two());
  f.limits = {-1, 4};  // Limits that are given stay.
  EXPECT_FALSE(has_minus_two());
}

TEST(Heatmap, WeightsWithSignsDivergeFromZero) {
  FigureInput input;
  input.info = &figure_named("heatmap");
  HeatmapPanel with_signs = panel(2, 2, "volume-preserving");
  with_signs.values = {-0.5, 0, 0.5, 0.25};
  input.panels = {with_signs, panel(2, 2)};
  const DisplayList list = input.info->make(input);
  expect_good_figure(list);
  const std::vector<std::uint8_t> pixels = pixels_of(list);
  ASSERT_EQ(pixels.size(), 16u);
  EXPECT_GT(pixels[2], pixels[0]) << "negative is blue";
  for (const std::size_t channel : {4, 5, 6}) EXPECT_GT(pixels[channel], 230) << "zero is pale";
  EXPECT_GT(pixels[8], pixels[10]) << "positive is brown";
  std::vector<std::string> bars;
  for (const TextItem& item : texts(list)) bars.push_back(plain(item.runs));
  const auto has = [&](const char* text) { return std::count(bars.begin(), bars.end(), text); };
  EXPECT_EQ(has("attention weights with signs"), 1);
  EXPECT_EQ(has("attention weight"), 1) << "the other panel has its own bar";
  EXPECT_EQ(has("difference of attention weights"), 0);
}

TEST(Heatmap, LimitsOfWeightsWithSignsHaveZeroBetweenThem) {
  FigureInput input;
  input.info = &figure_named("heatmap");
  HeatmapPanel with_signs = panel(2, 2, "volume-preserving");
  with_signs.values = {-0.5, 0, 0.5, 0.25};
  input.panels = {with_signs};
  const std::vector<std::uint8_t> own = pixels_of(input.info->make(input));
  input.parameters = {{"low", "0"}, {"high", "0.5"}};
  EXPECT_EQ(pixels_of(input.info->make(input)), own);
  input.parameters = {{"low", "-0.25"}, {"high", "0.25"}};
  const std::vector<std::uint8_t> narrow = pixels_of(input.info->make(input));
  EXPECT_TRUE(std::equal(narrow.begin() + 8, narrow.begin() + 12, narrow.begin() + 12));
  EXPECT_FALSE(std::equal(own.begin() + 8, own.begin() + 12, own.begin() + 12));
}

TEST(Heatmap, LongTitlesKeepTheHead) {
  FigureInput input;
  input.info = &figure_named("heatmap");
  const std::string parts =
      "penumbral-finite, gamma = 12, r = 0.25, window, window = 6, alibi, rope, ";
  for (const char* head : {"layer1 · 8", "layer3 · 8", "layer4 · 8", "layer5 · 8"}) {
    input.panels.push_back(panel(2, 2, parts + head));
  }
  const std::string all = all_text(input.info->make(input));
  EXPECT_NE(all.find("…, layer1 · 8|"), std::string::npos) << all;
  EXPECT_NE(all.find("…, layer3 · 8|"), std::string::npos) << all;
}

TEST(Heatmap, RanksShareTies) {
  HeatmapPanel p = panel(1, 5);
  p.values = {3, 1, 1, NAN, 2};
  const HeatmapPanel ranks = scaled(p, HeatScale::rank);
  EXPECT_DOUBLE_EQ(ranks.values[0], 1);
  EXPECT_DOUBLE_EQ(ranks.values[1], 0.5 / 3);
  EXPECT_DOUBLE_EQ(ranks.values[2], 0.5 / 3);
  EXPECT_TRUE(std::isnan(ranks.values[3]));
  EXPECT_DOUBLE_EQ(ranks.values[4], 2.0 / 3);
}

TEST(Heatmap, RanksOfDifferencesKeepTheirSigns) {
  HeatmapPanel p;
  p.rows = 1, p.cols = 5;
  p.diverging = true;
  p.values = {-0.9, 0, 0.1, std::nan(""), -0.2};
  const HeatmapPanel ranks = scaled(p, HeatScale::rank);
  EXPECT_EQ(ranks.values[0], -1);
  EXPECT_EQ(ranks.values[1], 0);
  EXPECT_DOUBLE_EQ(ranks.values[2], 1.0 / 3);
  EXPECT_TRUE(std::isnan(ranks.values[3]));
  EXPECT_DOUBLE_EQ(ranks.values[4], -2.0 / 3);
  EXPECT_EQ(limits_of(ranks, HeatScale::rank).low, -1);
  EXPECT_EQ(limits_of(ranks, HeatScale::rank).high, 1);
}

TEST(Heatmap, RowsAreDividedByTheirLargest) {
  HeatmapPanel p = panel(2, 2);
  p.values = {1, 4, 0, 0};
  const HeatmapPanel rows = scaled(p, HeatScale::row_normalised);
  EXPECT_EQ(rows.values, (std::vector<double>{0.25, 1, 0, 0}));
}

TEST(Heatmap, PoolingKeepsTheLargestOfADifferenceByMagnitude) {
  HeatmapPanel p = panel(3, 3);
  p.values = {1, -2, 3, 4, 0, 5, 6, 7, NAN};
  p.masked = {0, 0, 0, 1, 0, 0, 1, 1, 0};
  EXPECT_EQ(pooled(p, 2, 2).values[0], 1);
  p.diverging = true;
  const HeatmapPanel small = pooled(p, 2, 2);
  ASSERT_EQ(small.rows, 2u);
  EXPECT_EQ(small.values[0], -2);
  EXPECT_THROW((void)pooled(p, 0, 2), Error);
  EXPECT_EQ(small.values[1], 5);
  EXPECT_EQ(small.masked, (std::vector<std::uint8_t>{0, 0, 1, 0}));
  EXPECT_TRUE(std::isnan(small.values[3]));
}

/// One bright cell a row, where an average of neighbours would leave next to nothing of it.
HeatmapPanel sharp_panel(std::size_t n, const std::string& title) {
  HeatmapPanel p = panel(n, n, title);
  p.values.assign(n * n, 0.001);
  for (std::size_t r = 0; r < n; ++r) p.values[r * n + (7 * r + 3) % n] = r % 2 == 0 ? 0.9 : 0.1;
  return p;
}

std::vector<ImageItem> matrices(const DisplayList& list) {
  std::vector<ImageItem> found;
  for (const Item& item : list.items) {
    const auto* image = std::get_if<ImageItem>(&item);
    if (image != nullptr && image->rows > 1) found.push_back(*image);  // A bar is one row.
  }
  return found;
}

/// Cells of this colour in a row of an image.
std::size_t cells_in_row(const ImageItem& image, std::size_t row, Colour colour) {
  std::size_t count = 0;
  for (std::size_t c = 0; c < image.columns; ++c) {
    const std::uint8_t* p = &image.rgba[4 * (row * image.columns + c)];
    count += Colour{p[0], p[1], p[2], p[3]} == colour ? 1 : 0;
  }
  return count;
}

TEST(Heatmap, CellsTooSmallForPrintAreDotsThatKeepTheLargest) {
  HeatmapFigure f;
  f.panels = {sharp_panel(444, "dot"), sharp_panel(444, "umbral"), sharp_panel(444, "penumbral")};
  const DisplayList list = draw_heatmap(f);
  expect_good_figure(list);
  ASSERT_EQ(matrices(list).size(), 3u);
  for (const ImageItem& image : matrices(list)) {
    EXPECT_EQ(image.columns, 222u);
    EXPECT_EQ(image.rows, 222u);
    EXPECT_GE(image.box.width / 222, smallest_dot);
    EXPECT_LT(image.box.width / 444, smallest_dot);
    for (std::size_t r = 0; r < image.rows; ++r) {
      EXPECT_EQ(cells_in_row(image, r, colour_at(ColourMap::sequential, 1)), 1u) << r;
    }
  }
  EXPECT_NE(list.metadata.description.find("the largest value of 2 × 2 cells"), std::string::npos)
      << list.metadata.description;
}

TEST(Heatmap, DotsKeepEachRowsOwnLargestWhereRowsAreDividedByIt) {
  HeatmapFigure f;
  f.width = single_column, f.scale = HeatScale::row_normalised;
  f.panels = {sharp_panel(600, "dot")};
  const ImageItem image = matrices(draw_heatmap(f)).at(0);
  ASSERT_EQ(image.rows, 300u);
  for (std::size_t r = 0; r < image.rows; ++r) {  // Of the faint row as of the bright one.
    EXPECT_EQ(cells_in_row(image, r, colour_at(ColourMap::sequential, 1)), 2u) << r;
  }
}

TEST(Heatmap, CellsThatPrintShowsStayCells) {
  HeatmapFigure f;
  f.panels = {sharp_panel(444, "dot")};
  const DisplayList list = draw_heatmap(f);
  EXPECT_EQ(matrices(list).at(0).columns, 444u);
  EXPECT_EQ(list.metadata.description.find("Each dot"), std::string::npos);
}

TEST(Heatmap, PanelsThatDifferInTheirDotsAreNamed) {
  HeatmapFigure f;
  f.panels = {sharp_panel(444, "dot"), sharp_panel(30, "few"), panel(200, 900, "wide")};
  const DisplayList list = draw_heatmap(f);
  EXPECT_NE(list.metadata.description.find("of 2 × 2 cells in dot, 4 × 4 cells in wide"),
            std::string::npos)
      << list.metadata.description;
  const char* signs = "In a panel of differences or of values with signs it is that of largest";
  EXPECT_EQ(list.metadata.description.find(signs), std::string::npos);
  f.panels[1].diverging = true;  // Its dots are cells.
  EXPECT_EQ(draw_heatmap(f).metadata.description.find(signs), std::string::npos);
  f.panels[0].diverging = true;
  EXPECT_NE(draw_heatmap(f).metadata.description.find(signs), std::string::npos);
  f.panels = {panel(40, 1000, "wide")};
  const std::string wide = draw_heatmap(f).metadata.description;
  EXPECT_NE(wide.find("1 × 2 cells (queries × keys)"), std::string::npos) << wide;
}

TEST(Heatmap, LargeMatricesArePooledAndSaySo) {
  HeatmapFigure f;
  f.panels = {panel(1025, 1025)};
  const DisplayList list = draw_heatmap(f);
  expect_good_figure(list);
  EXPECT_NE(list.metadata.description.find("3 × 3 cells"), std::string::npos);
  std::string all;
  for (const TextItem& item : texts(list)) all += plain(item.runs) + " ";
  EXPECT_NE(all.find("1000 "), std::string::npos);  // Labels count tokens, not pooled cells.
}

TEST(Heatmap, ValuesBeyondFixedLimitsAreTold) {
  HeatmapFigure f = three();
  const auto told = [&] {
    const DisplayList list = draw_heatmap(f);
    expect_good_figure(list);
    const std::size_t at = list.metadata.description.find("Beyond the limits");
    return at == std::string::npos ? "" : list.metadata.description.substr(at);
  };
  EXPECT_EQ(told(), "");
  f.limits = {0, 0.96};
  EXPECT_EQ(told(), "") << "the values are 0, 0.01, ... 0.96";
  f.limits = {0, 0.5};
  EXPECT_EQ(told(), "Beyond the limits, values up to 0.96 have the colour of 0.5");
  f.limits = {0.2, 0.5};
  EXPECT_EQ(told(),
            "Beyond the limits, values down to 0.01 have the colour of 0.2 and values up to "
            "0.96 have the colour of 0.5")
      << "zero has a colour of its own";
}

TEST(Heatmap, ThinnedLabelsAreCounted) {
  HeatmapFigure f;
  f.panels = {panel(120, 120), panel(120, 120)};
  for (std::size_t i = 0; i < 120; ++i) f.panels[0].row_tokens.push_back(song[i % 30]);
  const DisplayList list = draw_heatmap(f);
  expect_good_figure(list);
  EXPECT_NE(list.metadata.description.find("One token in 4 is labelled"), std::string::npos)
      << list.metadata.description;
}

TEST(Heatmap, ExtremeInputsAreDrawn) {
  HeatmapFigure none;
  expect_good_figure(draw_heatmap(none));
  for (const auto& [rows, cols] :
       {std::pair<std::size_t, std::size_t>{0, 0}, {1, 1}, {1, 200}, {200, 1}, {63, 65}, {0, 3}}) {
    HeatmapFigure f;
    f.panels = {panel(rows, cols), panel(2, 2)};
    expect_good_figure(draw_heatmap(f));
  }
  for (const double value : {static_cast<double>(NAN), 0.0, 7.0, -1.0, 1e-12, 1e12, 1e308,
                             static_cast<double>(INFINITY)}) {
    HeatmapFigure f;
    f.width = single_column;
    f.panels = {panel(3, 3)};
    f.panels[0].values.assign(9, value);
    expect_good_figure(draw_heatmap(f));
    f.panels[0].values[0] = -1e308;
    expect_good_figure(draw_heatmap(f));
    f.panels[0].diverging = true;
    expect_good_figure(draw_heatmap(f));
    f.panels[0].masked.assign(9, 1);
    expect_good_figure(draw_heatmap(f));
  }
}

TEST(Heatmap, AnyTokenTextIsDrawn) {
  HeatmapFigure f;
  HeatmapPanel p = panel(6, 6, std::string(300, 'W'));
  p.row_tokens = p.column_tokens = {std::string(500, 'x'),    "שלום",         "中文字",
                                    "😀👨‍👩‍👧", "\xFF\xFE\n\t", ""};
  f.panels = {p, p, p};
  f.caption = std::string(400, 'c') + " and words";
  expect_good_figure(draw_heatmap(f));
}

TEST(Heatmap, ShapesThatDoNotFitAreMisuse) {
  HeatmapFigure f;
  f.panels = {panel(3, 3)};
  f.panels[0].row_tokens = {"one"};
  EXPECT_THROW((void)draw_heatmap(f), Error);
  f.panels[0].row_tokens.clear();
  f.panels[0].values.pop_back();
  EXPECT_THROW((void)draw_heatmap(f), Error);
  f.panels = {panel(2, 2)};
  f.panels[0].values[0] = -1;
  f.scale = HeatScale::log;
  EXPECT_THROW((void)draw_heatmap(f), Error);
}

}  // namespace
}  // namespace conelab::figure
