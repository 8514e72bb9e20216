#include "core/geometry/distance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/core/geometry/sampling.h"

namespace conelab::geometry {
namespace {

using test::Sampler;
using test::vec;

TEST(Distance, MatchesTheKnownAnswers) {
  EXPECT_NEAR(distance(Model::halfspace, vec({0, 2}), vec({0, 1.0 / 3})), std::log(6), 1e-12);
  EXPECT_NEAR(distance(Model::ball, vec({.5, .5}), vec({.5, -.5})), 2 * std::asinh(2), 1e-15);
  EXPECT_NEAR(distance(Model::ball, vec({.3, .4}), vec({.5, .5})), .71497076, 1e-8);
}

TEST(Distance, AgreesBetweenAllModels) {
  Sampler sampler(1);
  for (int i = 0; i < 1000; ++i) {
    const Eigen::Index d = 2 + i % 4;
    const ModelPoint u = sampler.at_distance(d, 0, 6, Model::halfspace);
    const ModelPoint v = sampler.at_distance(d, 0, 6, Model::halfspace);
    const double expected = distance(u, v);
    for (const Model model : all_models) {
      EXPECT_NEAR(distance(convert(u, model), convert(v, model)), expected, 1e-12 * (1 + expected));
      EXPECT_NEAR(distance(u, convert(v, model)), expected, 1e-12 * (1 + expected));
    }
  }
}

// A step of length ε along a known direction, near the origin and far from it.
TEST(Distance, IsRelativeToTinySeparations) {
  for (const double step : {1e-14, 1e-10, 1e-6}) {
    EXPECT_NEAR(distance(Model::halfspace, vec({0, 1}), vec({step, 1})) / step, 1, 1e-12);
    EXPECT_NEAR(distance(Model::ball, vec({0, 0}), vec({step, 0})) / (2 * step), 1, 1e-12);
    EXPECT_NEAR(distance(Model::klein, vec({0, 0}), vec({step, 0})) / step, 1, 1e-12);
    EXPECT_NEAR(distance(Model::band, vec({0, 0}), vec({step, 0})) / step, 1, 1e-12);
    EXPECT_NEAR(distance(Model::hyperboloid, vec({0, 0, 1}), vec({step, 0, 1})) / step, 1, 1e-12);
  }
}

TEST(Distance, OfCloseFarPointsIsAccurateOnTheHyperboloid) {
  const double rho = 12, sinh = std::sinh(rho), step = std::ldexp(1, -30);
  const auto at = [](double x, double y) { return vec({x, y, std::hypot(1, std::hypot(x, y))}); };
  // Across: a chord c·sinh at equal ρ is 2 asinh(sinh ρ sin(θ/2)); here both points are given
  // exactly.
  const Vector a = at(sinh, step), b = at(sinh, -step);
  EXPECT_NEAR(distance(Model::hyperboloid, a, b) / (2 * std::asinh(step)), 1, 1e-9);
  const Vector c = at(sinh * (1 + step), 0);
  const double along = std::asinh(c[0]) - std::asinh(a[0]);
  EXPECT_NEAR(distance(Model::hyperboloid, at(sinh, 0), c) / along, 1, 1e-5);
  EXPECT_NEAR(distance(Model::hyperboloid, at(sinh, 0), c) / (step * std::tanh(rho)), 1, 1e-6);
}

TEST(Distance, StaysFiniteVeryFarOut) {
  EXPECT_NEAR(distance(Model::halfspace, vec({0, 1e-300}), vec({1, 1e-300})), 600 * std::log(10),
              1e-9);
  EXPECT_NEAR(distance(Model::band, vec({0, 300}), vec({0, -300})), 600, 1e-12);
}

TEST(Distance, IsZeroForEqualPointsAndSymmetric) {
  Sampler sampler(2);
  for (const Model model : all_models) {
    for (int i = 0; i < 200; ++i) {
      const ModelPoint u = sampler.at_distance(3, 0, 12, model),
                       v = sampler.at_distance(3, 0, 12, model);
      EXPECT_EQ(distance(u, u), 0);
      EXPECT_NEAR(distance(u, v), distance(v, u), 1e-13 * distance(u, v));
    }
  }
}

TEST(Distance, ObeysTheTriangleInequality) {
  Sampler sampler(3);
  for (int i = 0; i < 1000; ++i) {
    const ModelPoint u = sampler.at_distance(3, 0, 5, Model::ball),
                     v = sampler.at_distance(3, 0, 5, Model::ball),
                     w = sampler.at_distance(3, 0, 5, Model::ball);
    EXPECT_LE(distance(u, w), distance(u, v) + distance(v, w) + 1e-12);
  }
}

TEST(Distance, RefusesDifferentDimensions) {
  EXPECT_THROW((void)distance(Model::ball, vec({0, 0}), vec({0, 0, 0})), Error);
}

}  // namespace
}  // namespace conelab::geometry
