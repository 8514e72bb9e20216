#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/base/random.h"
#include "tests/widgets/maps/given_source.h"
#include "widgets/maps/colour_scale.h"
#include "widgets/maps/map_layout.h"
#include "widgets/maps/map_pyramid.h"
#include "widgets/maps/map_raster.h"
#include "widgets/maps/maps_model.h"
#include "widgets/maps/maps_paint.h"

namespace conelab::desktop {
namespace {

std::shared_ptr<const HeadInput> random_head(std::int64_t n, std::int64_t d, std::uint64_t seed) {
  Random random(seed);
  auto head = std::make_shared<HeadInput>();
  for (auto* t : {&head->exact.query, &head->exact.key, &head->exact.value}) {
    *t = Tensor4<double>({1, 1, n, d});
    for (double& x : t->owned().data) x = random.normal();
  }
  head->fast.query = convert<float>(head->exact.query);
  head->fast.key = convert<float>(head->exact.key);
  head->fast.value = convert<float>(head->exact.value);
  return head;
}

Call causal(const char* name) {
  Call call = call_from_text(name);
  call.masks = {"causal"};
  return call;
}

std::vector<float> whole(const MatrixSource& source) {
  std::vector<float> cells(static_cast<std::size_t>(source.rows() * source.columns()));
  source.cells({0, source.rows(), 0, source.columns()}, cells.data());
  return cells;
}

TEST(MapPyramid, SmallMapsAreTheEnginesCells) {
  const auto head = random_head(97, 8, 1);
  const auto source = attention_source(head, causal("penumbral"), Map2d::weights);
  MapPyramid pyramid(source);
  EXPECT_EQ(pyramid.base_level(), 0);
  pyramid.fill({});
  ASSERT_TRUE(pyramid.complete());
  const std::vector<float> expected = whole(*source);
  std::vector<float> row(97);
  for (std::int64_t r = 0; r < 97; ++r) {
    pyramid.read_row(0, r, 0, 97, row.data());
    for (std::size_t c = 0; c < 97; ++c) {
      EXPECT_EQ(row[c], expected[static_cast<std::size_t>(r) * 97 + c]);
      EXPECT_EQ(is_masked(row[c]), c > static_cast<std::size_t>(r));
      if (is_masked(row[c])) continue;
      EXPECT_NEAR(row[c], source->exact(r, static_cast<std::int64_t>(c)), 1e-5);
    }
  }
}

/// Checked for the matrix of this source, of 130 × 130 cells.
void expect_largest_at_every_level(const std::shared_ptr<MatrixSource>& source) {
  MapPyramid pyramid(source);
  pyramid.fill({});
  const std::vector<float> cells = whole(*source);
  for (int level = 1; level < pyramid.levels(); ++level) {
    const std::int64_t side = std::int64_t{1} << level, count = (130 + side - 1) / side;
    std::vector<float> row(static_cast<std::size_t>(count));
    for (std::int64_t r = 0; r < count; ++r) {
      pyramid.read_row(level, r, 0, count, row.data());
      for (std::int64_t c = 0; c < count; ++c) {
        float expected = masked_cell;
        for (std::int64_t i = r * side; i < std::min<std::int64_t>(130, (r + 1) * side); ++i) {
          for (std::int64_t k = c * side; k < std::min<std::int64_t>(130, (c + 1) * side); ++k) {
            expected = pooled_cell(expected, cells[static_cast<std::size_t>(i * 130 + k)],
                                   source->is_difference());
          }
        }
        EXPECT_EQ(row[static_cast<std::size_t>(c)], expected);
      }
    }
  }
}

TEST(MapPyramid, EveryLevelHoldsTheLargestBelow) {
  const auto head = random_head(130, 6, 2);
  const auto logits = attention_source(head, causal("dot"), Map2d::logits);
  expect_largest_at_every_level(logits);
  const auto others = attention_source(head, causal("laplacian"), Map2d::logits);
  expect_largest_at_every_level(difference_source(logits, others));
}

TEST(MapPyramid, OfPairsTheNearestCountsAndOfDifferencesTheLargest) {
  EXPECT_EQ(pooled_cell(-40.0F, -2.0F, false), -2.0F);  // Logits of a distance.
  EXPECT_EQ(pooled_cell(-40.0F, -2.0F, true), -40.0F);
  EXPECT_EQ(pooled_cell(masked_cell, -2.0F, false), -2.0F);
  EXPECT_TRUE(std::isnan(pooled_cell(NAN, 3.0F, false)));
}

TEST(MapLabels, AsManyAsCanBeReadAreShown) {
  // Where a line of the smallest letters fits a cell, all are labelled; letters are as large as
  // their cells have room, and never larger.
  QFont usual;
  usual.setPixelSize(12);
  QFont smallest = usual;
  smallest.setPixelSize(8);
  const double least = label_line(smallest);
  EXPECT_LT(least, QFontMetricsF(smallest).height());
  for (double scale = 0.3; scale < 40; scale *= 1.07) {
    const LabelPlan plan = plan_labels(usual, scale, false);
    const double room = static_cast<double>(plan.step) * scale;
    EXPECT_EQ(plan.step == 1, scale >= least) << scale;
    EXPECT_GE(room, label_line(plan.letters) - 1e-6) << scale;
    if (plan.letters.pixelSize() == 12) continue;
    QFont larger = plan.letters;
    larger.setPixelSize(plan.letters.pixelSize() + 1);
    EXPECT_LT(room, label_line(larger)) << scale;
  }
  EXPECT_EQ(plan_labels(usual, 40, false).letters.pixelSize(), 12);
  EXPECT_EQ(plan_labels(usual, 1, true).letters.pixelSize(), 12);  // Numbers are far apart.
  EXPECT_EQ(label_step(4, 8, false), 2);
  EXPECT_EQ(label_step(3, 8, false), 3);
  EXPECT_EQ(label_step(1, 8, false), 8);
  EXPECT_EQ(label_step(3, 8, true), 10);  // Numbers are wider, and round.
  EXPECT_EQ(label_step(0.05, 8, true), 1000);
}

TEST(MapCamera, FewTokensFillTheirPanel) {
  MapCamera camera;
  camera.fit(4, 4, 800, 700);
  EXPECT_DOUBLE_EQ(camera.scale, 175);
  camera.zoom(1, 10, 10, 800, 700, 20);
  EXPECT_DOUBLE_EQ(camera.scale, 175);
}

TEST(MapPyramid, SummaryGivesEntropyAndColumnSums) {
  const auto source = attention_source(random_head(65, 5, 3), causal("dot"), Map2d::weights);
  MapPyramid pyramid(source);
  pyramid.fill({});
  const MapSummary s = pyramid.summary();
  const std::vector<float> cells = whole(*source);
  EXPECT_NEAR(std::accumulate(s.column_sum.begin(), s.column_sum.end(), 0.0), 65, 1e-3);
  EXPECT_EQ(s.masked, 65 * 64 / 2);
  double entropy = 0;
  for (std::size_t c = 0; c <= 40; ++c) {
    const double w = cells[40 * 65 + c];
    entropy -= w > 0 ? w * std::log(w) : 0;
  }
  EXPECT_NEAR(s.row_entropy[40], entropy, 1e-4);
  EXPECT_NEAR(s.row_entropy[0], 0, 1e-5);
  EXPECT_NEAR(s.limits.high, 1, 1e-5);
}

TEST(MapPyramid, TilesOfALargeMapAreItsCells) {
  const std::int64_t n = 4500;
  const auto source = attention_source(random_head(n, 4, 4), causal("dot"), Map2d::logits);
  MapPyramid pyramid(source);
  ASSERT_EQ(pyramid.base_level(), 2);
  source->prepare({});
  const TileKey key{1, 3, 2};
  EXPECT_FALSE(pyramid.has_tile(key));
  pyramid.compute_tile(key);
  ASSERT_TRUE(pyramid.has_tile(key));
  std::vector<float> row(256), block(4);
  pyramid.read_row(1, 3 * 256 + 17, 2 * 256, 256, row.data());
  for (std::int64_t c = 0; c < 256; ++c) {
    const std::int64_t i = 2 * (3 * 256 + 17), k = 2 * (2 * 256 + c);
    source->cells({i, i + 2, k, k + 2}, block.data());
    float expected = masked_cell;
    for (const float cell : block) expected = pooled_cell(expected, cell, false);
    EXPECT_EQ(row[static_cast<std::size_t>(c)], expected);
  }
}

TEST(MapPyramid, ASampleShowsLargeMapsAtOnceAndThePassCanBeCancelled) {
  const std::int64_t n = 3000;
  const Call call = call_from_text("dot");
  MapPyramid pyramid(attention_source(random_head(n, 4, 5), call, Map2d::weights));
  pyramid.fill_sample();
  EXPECT_GT(pyramid.revision(), 0U);
  EXPECT_FALSE(pyramid.complete());
  std::vector<float> row(100);
  pyramid.read_row(pyramid.base_level(), 0, 0, 100, row.data());
  EXPECT_TRUE(std::all_of(row.begin(), row.end(), [](float v) { return v > 0 && v < 1; }));
  Execution execution;
  execution.cancelled = [] { return true; };
  EXPECT_ANY_THROW(pyramid.fill(execution));
  EXPECT_FALSE(pyramid.complete());
}

TEST(MapColours, AgreeWithFigures) {
  const auto source = attention_source(random_head(40, 4, 6), causal("dot"), Map2d::weights);
  MapPyramid pyramid(source);
  pyramid.fill({});
  const MapSummary summary = pyramid.summary();
  figure::HeatmapPanel panel;
  panel.rows = panel.cols = 40;
  for (const float v : whole(*source)) {
    panel.values.push_back(is_masked(v) ? 0 : v);
    panel.masked.push_back(is_masked(v) ? 1 : 0);
  }
  for (const char* name : figure::heat_scale_names) {
    const figure::HeatScale scale = figure::heat_scale_from_name(name);
    const figure::HeatmapPanel scaled = figure::scaled(panel, scale);
    const ColourChoice choice{scale, figure::ColourMap::sequential, false, true};
    const figure::Limits limits = colour_limits(summary, choice);
    const auto expected = figure::colours_of(scaled, limits, scale, figure::ColourMap::sequential);
    const MapColours colours(choice, limits, summary);
    for (std::size_t i = 0; i < panel.values.size(); ++i) {
      const float cell = panel.masked[i] ? masked_cell : static_cast<float>(panel.values[i]);
      const std::uint32_t c = colours(cell, static_cast<std::int64_t>(i / 40));
      EXPECT_NEAR((c >> 16) & 255, expected[4 * i], 3) << i << " " << name;
      EXPECT_NEAR(c & 255, expected[4 * i + 2], 3) << i << " " << name;
    }
  }
}

TEST(MapColours, MaskedZeroAndNanAreThreeColours) {
  MapSummary summary(1, 1, true);
  summary.limits = {0, 1};
  const MapColours colours({figure::HeatScale::linear, figure::ColourMap::sequential, false, true},
                           {0, 1}, summary);
  const std::uint32_t masked = colours(masked_cell, 0), zero = colours(0, 0), nan = colours(NAN, 0),
                      small = colours(1e-6F, 0);
  EXPECT_NE(masked, zero);
  EXPECT_NE(masked, nan);
  EXPECT_NE(zero, nan);
  EXPECT_NE(zero, small);
}

TEST(MapCamera, ZoomKeepsTheCellUnderThePointer) {
  MapCamera camera;
  camera.fit(1000, 1000, 500, 500);
  EXPECT_EQ(camera.scale, 0.5);
  const double row = camera.row_at(120, 500), column = camera.column_at(333, 500);
  camera.zoom(7.3, 333, 120, 500, 500, 0.1);
  EXPECT_NEAR(camera.row_at(120, 500), row, 1e-9);
  EXPECT_NEAR(camera.column_at(333, 500), column, 1e-9);
  EXPECT_EQ(camera.level(5), 0);
  camera.fit(1000, 1000, 250, 250);
  EXPECT_EQ(camera.level(5), 2);
}

TEST(MapRaster, EveryPixelShowsItsCell) {
  const auto source = attention_source(random_head(30, 4, 7), causal("dot"), Map2d::weights);
  MapPyramid pyramid(source);
  pyramid.fill({});
  const MapSummary summary = pyramid.summary();
  const ColourChoice choice;
  const MapColours colours(choice, colour_limits(summary, choice), summary);
  MapCamera camera;
  camera.fit(30, 30, 300, 300);
  std::vector<std::uint32_t> pixels(300 * 300);
  draw_map(pyramid, colours, camera, 300, 300, 1, pixels.data());
  const std::vector<float> cells = whole(*source);
  for (std::size_t y = 0; y < 300; y += 7) {
    for (std::size_t x = 0; x < 300; x += 7) {
      EXPECT_EQ(pixels[y * 300 + x],
                colours(cells[y / 10 * 30 + x / 10], static_cast<std::int64_t>(y / 10)));
    }
  }
}

TEST(MapLayout, PanelsNeitherOverlapNorLeaveTheCanvas) {
  for (const std::size_t count : {1U, 2U, 3U, 5U, 8U}) {
    for (const bool own : {false, true}) {
      LabelSpace space;
      space.own_bars = own;
      const MapLayout layout = arrange_panels(1100, 700, count, 1, space);
      ASSERT_EQ(layout.panels.size(), count);
      for (std::size_t i = 0; i < count; ++i) {
        const PanelPlace& p = layout.panels[i];
        EXPECT_GT(p.cells.width, 40);
        EXPECT_NEAR(p.cells.width, p.cells.height, 1e-6);
        EXPECT_GE(p.row_labels.x, 0);
        EXPECT_LE(p.row_margin.right(), 1100);
        EXPECT_LE(std::max(p.column_margin.bottom(), p.colour_bar.bottom()), 700);
        EXPECT_TRUE(!own || p.colour_bar.y > p.column_margin.bottom() + 3);  // Grips reach above.
        for (std::size_t k = 0; k < i; ++k) {
          const PanelPlace& q = layout.panels[k];
          const bool apart =
              p.row_labels.x >= q.row_margin.right() || p.title.y >= q.column_margin.bottom();
          EXPECT_TRUE(apart) << i << " " << k;
        }
      }
    }
  }
}

/// The colour of every cell.
std::vector<std::uint32_t> drawn(const std::shared_ptr<MatrixSource>& source,
                                 const ColourChoice& choice) {
  MapPyramid pyramid(source);
  pyramid.fill({});
  const MapSummary summary = pyramid.summary();
  MapCamera camera;
  const auto rows = static_cast<int>(source->rows()), columns = static_cast<int>(source->columns());
  camera.fit(rows, columns, columns, rows);
  std::vector<std::uint32_t> pixels(static_cast<std::size_t>(rows * columns));
  draw_map(pyramid, MapColours(choice, colour_limits(summary, choice), summary), camera, columns,
           rows, 1, pixels.data());
  return pixels;
}

std::uint32_t packed(const figure::Colour& c) {
  return 0xff000000U | static_cast<std::uint32_t>(c.r) << 16 |
         static_cast<std::uint32_t>(c.g) << 8 | c.b;
}

TEST(MapsModel, AJobThatWasCancelledIsNoError) {
  bool cancelled = false;
  std::string error;
  take_failure("dot: no such parameter", cancelled, error);
  EXPECT_FALSE(cancelled);
  EXPECT_EQ(error, "dot: no such parameter");
  error.clear();
  take_failure(job_cancelled, cancelled, error);
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(error, "");
}

// Each query sees itself alone: as dark as weights get, as in a figure, and not the map's middle.
TEST(MapColours, EqualWeightsAreOnTheScaleOfTheFigure) {
  const float out = masked_cell;
  const auto pixels =
      drawn(std::make_shared<GivenSource>(2, std::vector<float>{0.75F, out, out, 0.75F}), {});
  const std::uint32_t most = packed(figure::colour_at(figure::ColourMap::sequential, 1));
  EXPECT_EQ(pixels[0], most);
  EXPECT_EQ(pixels[3], most);
  EXPECT_EQ(pixels[1], packed(figure::masked_colour));
}

// Whatever the scale, and also where no cell has a value that the colours could span.
TEST(MapColours, MaskedZeroAndNanAreThreeColoursOfTheirOwn) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), out = masked_cell;
  const std::uint32_t masked = packed(figure::masked_colour), zero = packed(figure::zero_colour),
                      none = packed(figure::nan_colour);
  EXPECT_EQ(std::set({masked, zero, none}).size(), 3U);
  for (const char* name : figure::heat_scale_names) {
    const figure::HeatScale scale = figure::heat_scale_from_name(name);
    for (const bool values : {true, false}) {
      ColourChoice choice;
      choice.scale = scale;
      choice.zero_special = true;
      const float v = values ? 0.25F : out;
      const auto pixels = drawn(std::make_shared<GivenSource>(
                                    4, std::vector<float>{v, v, out, out, out, out, out, out,  //
                                                          0, 0, 0, 0, nan, nan, nan, nan}),
                                choice);
      for (std::size_t c = 0; c < 4; ++c) {
        EXPECT_EQ(pixels[4 + c], masked) << static_cast<int>(scale);
        EXPECT_EQ(pixels[8 + c], zero) << static_cast<int>(scale);
        EXPECT_EQ(pixels[12 + c], none) << static_cast<int>(scale);
      }
      EXPECT_EQ(pixels[0] == masked, !values);
      EXPECT_NE(pixels[0], zero);
      EXPECT_NE(pixels[0], none);
    }
  }
}

}  // namespace
}  // namespace conelab::desktop
