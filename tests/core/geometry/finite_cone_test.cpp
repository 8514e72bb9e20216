#include "core/geometry/finite_cone.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/geometry/distance.h"
#include "tests/core/geometry/oracles.h"
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

TEST(FiniteCone, ReachIsTheDistanceOfTheGeodesicFromTheSource) {
  Sampler sampler(3);
  for (int i = 0; i < 500; ++i) {
    const ModelPoint u = sampler.at_distance(3, 0.2, 4, Model::halfspace),
                     v = sampler.at_distance(3, 0.2, 4, Model::halfspace);
    const double angle = std::acos(spatial(u).normalized().dot(spatial(v).normalized()));
    const double expected = distance_to_geodesic(geodesic_through(u.x, v.x), Vector::Unit(3, 2));
    EXPECT_NEAR(penumbral_reach(distance_to_origin(u), distance_to_origin(v), angle), expected,
                1e-10);
  }
}

}  // namespace
}  // namespace conelab::geometry
