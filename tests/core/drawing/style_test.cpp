#include "core/drawing/style.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/drawing/axes.h"
#include "core/drawing/colour_map.h"
#include "core/drawing/edge_labels.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/text.h"

namespace conelab::figure {
namespace {

std::string labels(const std::vector<Tick>& ticks) {
  std::string text;
  for (const Tick& t : ticks) {
    if (!t.major()) continue;
    if (!text.empty()) text += ' ';
    text += plain(t.label);
  }
  return text;
}

TEST(Style, ColumnWidthsAreWholePointsWithinTheColumn) {
  EXPECT_EQ(width_in_points("86mm"), single_column);
  EXPECT_EQ(width_in_points("86 mm"), single_column);
  EXPECT_EQ(width_in_points("178mm"), double_column);
  EXPECT_EQ(width_in_points("single"), 243);
  EXPECT_EQ(width_in_points("7in"), 504);
  EXPECT_EQ(width_in_points("17.8cm"), 504);
  for (const char* bad : {"", "86", "mm", "-86mm", "1mm", "86 km", "nanmm", "1e9pt"}) {
    EXPECT_THROW((void)width_in_points(bad), Error) << bad;
  }
}

TEST(Style, WrapKeepsLinesWithinTheWidth) {
  const auto lines = wrap("a figure may have a caption of several words", 7, 60);
  EXPECT_GT(lines.size(), 2u);
  for (const std::string& line : lines) EXPECT_LE(text_width(line, 7), 60) << line;
  EXPECT_TRUE(wrap("  ", 7, 60).empty());
  for (double width = 62; width < 200; width += 3) {
    for (const std::string& line :
         wrap("cones; u = (0.3, −0.1); LCA = (−0.5, 0.59), depth 2", 7, width)) {
      EXPECT_FALSE(line.ends_with("=") || line.starts_with("=") || line.ends_with("LCA")) << line;
      EXPECT_FALSE(line.ends_with(",") && !line.ends_with("),")) << line;
      EXPECT_NE(line, "2");
    }
    EXPECT_NE(wrap("attention across boundaries, least after token 3", 7, width).back(), "3");
  }
}

/// A colour in OKLab (B. Ottosson, 2020): lightness L in [0, 1] and the two opponent axes.
struct OkLab {
  double L, a, b;
};

/// Returns the linear value of an sRGB channel.
double decoded(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

OkLab to_oklab(Colour colour) {
  const double r = decoded(colour.r), g = decoded(colour.g), b = decoded(colour.b);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

double step(Colour a, Colour b) {
  const OkLab p = to_oklab(a), q = to_oklab(b);
  return std::hypot(p.L - q.L, p.a - q.a, p.b - q.b);
}

TEST(ColourMap, LightnessOfSequentialMapsNeverTurns) {
  for (const auto& [map, sign] : {std::pair{ColourMap::sequential, -1}, {ColourMap::dark, 1}}) {
    for (int i = 1; i <= 64; ++i) {
      const double before = to_oklab(colour_at(map, (i - 1) / 64.0)).L;
      EXPECT_GT(sign * (to_oklab(colour_at(map, i / 64.0)).L - before), 0.002) << i;
    }
  }
}

TEST(ColourMap, EqualStepsLookEqual) {
  for (const ColourMapInfo& info : colour_maps()) {
    double least = 1, most = 0;
    for (int i = 1; i <= 16; ++i) {
      const double d = step(colour_at(info.map, (i - 1) / 16.0), colour_at(info.map, i / 16.0));
      least = std::min(least, d), most = std::max(most, d);
    }
    EXPECT_LT(most / least, 1.15) << info.name;
  }
}

/// Deuteranopia and protanopia by Viénot, Brettel & Mollon (1999), in linear light.
double red_green_blind_step(Colour a, Colour b, bool protan) {
  const auto see = [&](Colour c) {
    const auto linear = [](std::uint8_t v) { return std::pow(v / 255.0, 2.2); };
    const double r = linear(c.r), g = linear(c.g), bl = linear(c.b);
    const double yellow = protan ? 0.11238 * r + 0.88762 * g : 0.29275 * r + 0.70725 * g;
    const double blue = protan ? 0.00401 * r - 0.00401 * g + bl : -0.02234 * r + 0.02234 * g + bl;
    const auto encode = [](double v) {
      return static_cast<std::uint8_t>(
          std::lround(255 * std::pow(std::clamp(v, 0.0, 1.0), 1 / 2.2)));
    };
    return Colour{encode(yellow), encode(yellow), encode(blue), 255};
  };
  return step(see(a), see(b));
}

TEST(ColourMap, RedGreenBlindnessKeepsSteps) {
  for (const bool protan : {false, true}) {
    for (const ColourMapInfo& info : colour_maps()) {
      for (int i = 1; i <= 8; ++i) {
        const Colour a = colour_at(info.map, (i - 1) / 8.0), b = colour_at(info.map, i / 8.0);
        EXPECT_GT(red_green_blind_step(a, b, protan), 0.05) << info.name << " " << i;
      }
    }
  }
}

TEST(ColourMap, WhatIsNoValueIsOnNoMap) {
  for (const ColourMapInfo& info : colour_maps()) {
    for (int i = 0; i <= 256; ++i) {
      for (const Colour special : {masked_colour, nan_colour}) {
        EXPECT_GT(step(colour_at(info.map, i / 256.0), special), 0.04) << info.name << " " << i;
      }
    }
  }
  EXPECT_GT(step(zero_colour, colour_at(ColourMap::sequential, 0)), 0.04);
  EXPECT_EQ(colour_at(ColourMap::dark, std::nan("")), nan_colour);
  EXPECT_EQ(colour_at(ColourMap::dark, 7), colour_at(ColourMap::dark, 1));
}

TEST(ColourMap, NamesAreFoundAndUnknownOnesRefused) {
  for (const ColourMapInfo& info : colour_maps())
    EXPECT_EQ(colour_map_from_name(info.name), info.map);
  EXPECT_THROW((void)colour_map_from_name("jet"), Error);
}

TEST(Ticks, NumbersReadAsInPrint) {
  EXPECT_EQ(plain(number_label(0)), "0");
  EXPECT_EQ(plain(number_label(-0.25)), "−0.25");
  EXPECT_EQ(plain(number_label(1e-6)), "10−6");
  EXPECT_EQ(plain(number_label(1.5e-6)), "1.5×10−6");
  EXPECT_EQ(plain(number_label(9.99999e11)), "1012");
  EXPECT_EQ(plain(number_label(12345, 5)), "12345");
  EXPECT_EQ(plain(number_label(INFINITY)), "∞");
}

TEST(Ticks, LinearStepsAreNice) {
  EXPECT_EQ(labels(linear_ticks(0, 1, 6)), "0 0.2 0.4 0.6 0.8 1");
  EXPECT_EQ(labels(linear_ticks(-1.3, 2.1, 5)), "−1 0 1 2");
  EXPECT_EQ(labels(linear_ticks(3, 3, 5)), "3");
  EXPECT_TRUE(linear_ticks(1, 0, 5).empty());
  EXPECT_TRUE(linear_ticks(NAN, 1, 5).empty());
  EXPECT_LE(linear_ticks(1e15, 1e15 + 1, 5).size(), 65u);
}

TEST(Ticks, DecadesAreThinnedToFit) {
  EXPECT_EQ(labels(log_ticks(1e-3, 1, 8)), "10−3 10−2 10−1 100");
  EXPECT_EQ(labels(log_ticks(1e-12, 1e12, 5)), "10−10 10−5 100 105 1010");
  EXPECT_EQ(labels(log_ticks(1, 10, 8)), "1 2 5 10");
  EXPECT_TRUE(log_ticks(-1, 1, 5).empty());
  EXPECT_LT(log_ticks(1e-300, 1e300, 6).size(), 30u);
}

TEST(Ticks, AnAxisHasTwoNumbersAtLeast) {
  EXPECT_EQ(labels(log_ticks(3e-4, 6e-3, 4)), "5×10−4 10−3 2×10−3 5×10−3");
  EXPECT_EQ(labels(log_ticks(0.7, 20, 4)), "1 2 5 10 20");
  EXPECT_EQ(labels(log_ticks(0.7, 20, 3)), "100 101");
  EXPECT_EQ(labels(log_ticks(0.4, 6, 2)), "0.5 1 2 5");
  EXPECT_EQ(labels(linear_ticks(0.7, 1.6, 2)), "0.8 1 1.2 1.4 1.6");
  for (const int most : {2, 3, 4, 6, 8}) {
    for (const double low : {0.11, 0.21, 0.31, 0.51, 0.91, 0.99}) {
      for (double high = low * 1.001; high < low * 1e5; high *= 1.07) {
        for (const auto& ticks : {log_ticks(low, high, most), linear_ticks(low, high, most)}) {
          const auto major =
              std::count_if(ticks.begin(), ticks.end(), [](const Tick& t) { return t.major(); });
          ASSERT_GE(major, 2) << low << " to " << high << ", " << most;
        }
        const auto binary = binary_ticks(low, high, most);
        const auto major =
            std::count_if(binary.begin(), binary.end(), [](const Tick& t) { return t.major(); });
        ASSERT_GE(major, 2) << low << " to " << high << ", " << most;
      }
    }
  }
}

TEST(Ticks, LengthsArePowersOfTwo) {
  EXPECT_EQ(labels(binary_ticks(200, 20000, 10)), "256 512 1024 2048 4096 8192 16384");
  EXPECT_EQ(labels(binary_ticks(200, 20000, 4)), "256 1024 4096 16384");
  EXPECT_EQ(labels(binary_ticks(300, 400, 4)), "300 350 400");
  EXPECT_EQ(labels(binary_ticks(5, 7.5, 9)), "5 6 7");  // A length is a whole number.
  EXPECT_EQ(labels(whole_ticks(-1.5, 2, 12)), "−1 0 1 2");
  EXPECT_EQ(labels(whole_ticks(0, 40, 5)), "0 10 20 30 40");
  EXPECT_TRUE(whole_ticks(0.2, 0.8, 5).empty());
}

TEST(Axes, RangesHoldTheirValues) {
  for (const ScaleKind kind : {ScaleKind::linear, ScaleKind::log10, ScaleKind::log2}) {
    const Axis axis = axis_over(kind, {3, 700, NAN, INFINITY, -INFINITY}, 6, {});
    EXPECT_GT(axis.fraction(3), 0);
    EXPECT_LT(axis.fraction(700), 1);
    const Axis empty = axis_over(kind, {}, 6, {});
    EXPECT_LT(empty.low, empty.high);
    const Axis constant = axis_over(kind, {5, 5}, 6, {});
    EXPECT_NEAR(constant.fraction(5), 0.5, 1e-9);
  }
}

TEST(EdgeLabels, NamesAreBrokenAndNeverCut) {
  EXPECT_EQ(name_lines("dot", 73), std::vector<std::string>{"dot"});
  EXPECT_EQ(name_lines("penumbral, gamma = 2, causal", 73),
            (std::vector<std::string>{"penumbral,", "gamma = 2, causal"}));
  const std::string word = "penumbral:gamma=2:masks=causal+window:window=128";
  std::string joined;
  for (const std::string& line : name_lines(word, 73)) {
    EXPECT_LE(text_width(line, text_size, Face::bold), 73);
    joined += line;
  }
  EXPECT_EQ(joined, word);
}

TEST(EdgeLabels, SpreadKeepsOrderAndDistance) {
  const std::vector<double> wanted = {50, 10, 51, 52, 90}, heights(5, 10);
  const auto centres = spread(wanted, heights, 0, 100);
  EXPECT_DOUBLE_EQ(centres[1], 10);
  EXPECT_DOUBLE_EQ(centres[4], 90);
  EXPECT_DOUBLE_EQ(centres[2], 51);  // The middle of three that must part stays where it is.
  EXPECT_DOUBLE_EQ(centres[2] - centres[0], 10);
  EXPECT_DOUBLE_EQ(centres[3] - centres[2], 10);
}

TEST(EdgeLabels, SpreadStaysInsideWhereItCan) {
  const auto centres = spread({0, 0, 100}, {10, 10, 10}, 0, 100);
  EXPECT_DOUBLE_EQ(centres[0], 5);
  EXPECT_DOUBLE_EQ(centres[1], 15);
  EXPECT_DOUBLE_EQ(centres[2], 95);
  EXPECT_TRUE(spread({}, {}, 0, 1).empty());
}

}  // namespace
}  // namespace conelab::figure
