#include "core/geometry/finite_cone.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/geometry/distance.h"
#include "core/geometry/locus.h"
#include "tests/core/geometry/sampling.h"

namespace conelab::geometry {
namespace {

using test::Sampler;

double potential_penumbral(double radius, double rho) {
  return penumbral_limit(radius) - penumbral_shadow(radius, rho);
}

TEST(FiniteCone, PotentialsAreThoseOfTheTable) {
  Sampler sampler(1);
  for (int i = 0; i < 1000; ++i) {
    const double radius = sampler.uniform(0.01, 2), rho = radius + sampler.uniform(0.01, 5);
    EXPECT_NEAR(potential_penumbral(radius, rho), std::acos(std::tanh(radius) / std::tanh(rho)),
                1e-12);
    EXPECT_NEAR(umbral_shadow(radius, rho), std::asin(std::sinh(radius) / std::sinh(rho)), 1e-12);
  }
}

TEST(FiniteCone, ShadowsKeepTheirDigitsFarAway) {
  // p ~ tanh R·2e^{−2ρ}·cosh R for large ρ, where the difference of arcsines has rounded to 0.
  const double p = penumbral_shadow(0.5, 30);
  EXPECT_NEAR(p / (2 * std::sinh(0.5) * std::exp(-60)), 1, 1e-12);
  EXPECT_NEAR(penumbral_distance(0.5, p), 30, 1e-12);
  EXPECT_NEAR(umbral_distance(0.1, umbral_shadow(0.1, 300)), 300, 1e-11);
}

TEST(FiniteCone, DerivativesMatchFiniteDifferences) {
  Sampler sampler(2);
  const double h = 1e-6;
  const auto slope = [h](auto&& f, double x) { return (f(x + h) - f(x - h)) / (2 * h); };
  for (int i = 0; i < 200; ++i) {
    const double r = sampler.uniform(0.1, 1.5), rho = r + sampler.uniform(0.2, 2);
    const auto s = [](double radius, double x) { return potential_penumbral(radius, x); };
    const auto b = [](double radius, double x) { return -umbral_shadow(radius, x); };
    const auto near = [](double found, double expected) {
      EXPECT_NEAR(found, expected, 1e-7 * (1 + std::abs(expected)));
    };
    near(penumbral_potential_by_rho(r, rho), slope([&](double x) { return s(r, x); }, rho));
    near(penumbral_potential_by_radius(r, rho), slope([&](double x) { return s(x, rho); }, r));
    near(umbral_potential_by_rho(r, rho), slope([&](double x) { return b(r, x); }, rho));
    near(umbral_potential_by_radius(r, rho), slope([&](double x) { return b(x, rho); }, r));
    const double at = s(r, rho), under = b(r, rho);
    const auto depth = [](double radius, double x) {
      return std::atanh(std::tanh(radius) / std::cos(x));
    };
    const auto depth_u = [](double radius, double x) {
      return std::asinh(std::sinh(radius) / std::sin(-x));
    };
    near(penumbral_distance_by_potential(r, at), slope([&](double x) { return depth(r, x); }, at));
    near(penumbral_distance_by_radius(r, at), slope([&](double x) { return depth(x, at); }, r));
    near(umbral_distance_by_potential(r, under),
         slope([&](double x) { return depth_u(r, x); }, under));
    near(umbral_distance_by_radius(r, under),
         slope([&](double x) { return depth_u(x, under); }, r));
  }
}

TEST(FiniteCone, ReachIsTheDistanceOfTheGeodesicFromTheSource) {
  Sampler sampler(3);
  for (int i = 0; i < 500; ++i) {
    const ModelPoint u = sampler.at_distance(3, 0.2, 4, Model::halfspace),
                     v = sampler.at_distance(3, 0.2, 4, Model::halfspace);
    const double angle = angle_between(spatial(u), spatial(v));
    const double expected = distance_to_geodesic(geodesic_through(u.x, v.x), Vector::Unit(3, 2));
    EXPECT_NEAR(penumbral_reach(distance_to_origin(u), distance_to_origin(v), angle), expected,
                1e-10);
  }
}

}  // namespace
}  // namespace conelab::geometry
