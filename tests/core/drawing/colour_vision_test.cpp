// Colours stay apart for eyes that lack a kind of cones, and in grey.
//
// The simulation is that of G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A
// Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), table 1, at full
// severity, on linear sRGB. Distances are those of CIELAB (1976); about 2.3 can just be seen.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/drawing/colour_map.h"
#include "core/drawing/style.h"

namespace conelab::figure {
namespace {

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<Vector3, 3>;

struct Vision {
  const char* name;
  Matrix3 matrix;
};
constexpr double r = 0.2126, g = 0.7152, b = 0.0722;  // The luminance of linear sRGB.
const Vision visions[] = {{"usual", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
                          {"protanopia",
                           {{{0.152286, 1.052583, -0.204868},
                             {0.114503, 0.786281, 0.099216},
                             {-0.003882, -0.048116, 1.051998}}}},
                          {"deuteranopia",
                           {{{0.367322, 0.860646, -0.227968},
                             {0.280085, 0.672501, 0.047413},
                             {-0.011820, 0.042940, 0.968881}}}},
                          {"tritanopia",
                           {{{1.255528, -0.076749, -0.178779},
                             {-0.078411, 0.930809, 0.147602},
                             {0.004733, 0.691367, 0.303900}}}},
                          {"grey", {{{r, g, b}, {r, g, b}, {r, g, b}}}}};

Vector3 times(const Matrix3& m, const Vector3& x) {
  Vector3 y{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) y[i] += m[i][j] * x[j];
  }
  return y;
}

/// Returns L*, a*, b* of a colour as it is seen.
Vector3 lab(const Colour& colour, const Vision& vision) {
  const auto linear = [](double c) {
    c /= 255;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  Vector3 seen = times(vision.matrix, {linear(colour.r), linear(colour.g), linear(colour.b)});
  for (double& c : seen) c = std::clamp(c, 0.0, 1.0);
  const Matrix3 to_xyz = {{{0.4124564, 0.3575761, 0.1804375},
                           {0.2126729, 0.7151522, 0.0721750},
                           {0.0193339, 0.1191920, 0.9503041}}};
  const Vector3 xyz = times(to_xyz, seen), white = {0.95047, 1, 1.08883};
  const auto f = [&](int i) {
    const double t = xyz[i] / white[i];
    return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  };
  return {116 * f(1) - 16, 500 * (f(0) - f(1)), 200 * (f(1) - f(2))};
}

double distance(const Colour& a, const Colour& c, const Vision& vision) {
  const Vector3 x = lab(a, vision), y = lab(c, vision);
  return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

TEST(ColourVision, MapsHaveMonotoneLightnessAndEvenStepsInEveryVision) {
  constexpr int steps = 16;
  for (const Vision& vision : visions) {
    for (const ColourMap map : {ColourMap::sequential, ColourMap::dark}) {
      const double sign = map == ColourMap::dark ? 1 : -1;
      for (int i = 0; i < steps; ++i) {
        const Colour here = colour_at(map, i / double{steps}),
                     next = colour_at(map, (i + 1) / double{steps});
        EXPECT_GT(sign * (lab(next, vision)[0] - lab(here, vision)[0]), 2) << vision.name << i;
        EXPECT_GT(distance(here, next, vision), 3) << vision.name << " " << i;
      }
    }
  }
}

TEST(ColourVision, TheSidesOfADivergingMapDifferInEveryVisionButGrey) {
  for (const Vision& vision : visions) {
    if (vision.name == std::string("grey")) continue;  // There, signs are read from the numbers.
    for (const ColourMap map : {ColourMap::diverging, ColourMap::dark_diverging}) {
      for (const double t : {0.1, 0.25}) {
        EXPECT_GT(distance(colour_at(map, 0.5 - t), colour_at(map, 0.5 + t), vision), 10)
            << vision.name << " " << t;
      }
    }
  }
}

TEST(ColourVision, TheFirstSeriesAreApartInEveryVisionButGrey) {
  for (const Vision& vision : visions) {
    if (vision.name == std::string("grey")) continue;  // Markers and dashes distinguish them.
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_GT(distance(series_colour(i), series_colour(j), vision), 12)
            << vision.name << " " << i << " " << j;
      }
    }
  }
}

TEST(ColourVision, NothingIsLikeCellsWithoutAValue) {
  for (const Vision& vision : visions) {
    for (int i = 0; i <= 20; ++i) {
      const Colour colour = colour_at(ColourMap::sequential, i / 20.0);
      if (vision.name == std::string("grey")) continue;
      EXPECT_GT(distance(colour, nan_colour, vision), 7) << vision.name << " " << i;
    }
  }
}

}  // namespace
}  // namespace conelab::figure
