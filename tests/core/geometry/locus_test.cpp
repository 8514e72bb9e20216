#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/geometry/distance.h"
#include "core/geometry/isometry.h"
#include "tests/core/geometry/oracles.h"
#include "tests/core/geometry/sampling.h"

namespace conelab::geometry {
namespace {

using test::Sampler;
using test::vec;

TEST(Geodesic, PassesThroughBothPointsInOrder) {
  Sampler sampler(1);
  for (int i = 0; i < 500; ++i) {
    const Eigen::Index d = 2 + i % 3;
    const Vector u = sampler.halfspace(d, 0.1, 5, 1), v = sampler.halfspace(d, 0.1, 5, 1);
    const Geodesic g = geodesic_through(u, v);
    EXPECT_LT(distance_to_geodesic(g, u), 1e-11);
    EXPECT_LT(distance_to_geodesic(g, v), 1e-11);
    EXPECT_LT(distance_to_geodesic(g, along_geodesic(u, v, 1.7)), 1e-10);
    EXPECT_LT((u.head(d - 1) - *g.from).norm() / (u.head(d - 1) - *g.to).norm() *
                  (v.head(d - 1) - *g.to).norm() / (v.head(d - 1) - *g.from).norm(),
              1);
  }
}

TEST(Geodesic, IsVerticalOverEqualFeetAndUndefinedForEqualPoints) {
  const Geodesic up = geodesic_through(vec({2, 1}), vec({2, 3}));
  EXPECT_EQ((*up.from)[0], 2);
  EXPECT_FALSE(up.to.has_value());
  EXPECT_FALSE(geodesic_through(vec({2, 3}), vec({2, 1})).from.has_value());
  EXPECT_THROW((void)geodesic_through(vec({2, 3}), vec({2, 3})), Error);
}

TEST(Geodesic, NoPointIsNearerThanTheDistance) {
  Sampler sampler(2);
  for (int i = 0; i < 200; ++i) {
    const Vector u = sampler.halfspace(3, 0.1, 5, 1), v = sampler.halfspace(3, 0.1, 5, 1),
                 x = sampler.halfspace(3, 0.1, 5, 1);
    const Geodesic g = geodesic_through(u, v);
    const double found = distance_to_geodesic(g, x);
    for (double t = -3; t < 3; t += 0.1) {
      EXPECT_GE(distance(Model::halfspace, x, along_geodesic(u, v, t)), found - 1e-10);
    }
  }
}

TEST(SignedDistance, AgreesWithTheUnsignedOneAndHasSigns) {
  Sampler sampler(3);
  for (int i = 0; i < 300; ++i) {
    const double a = sampler.uniform(-3, 3), b = a + sampler.uniform(0.1, 3);
    const Vector x = sampler.halfspace(2, 0.1, 5, 2);
    const double found = signed_distance_to_geodesic(a, b, x[0], x[1]);
    const double expected = distance_to_geodesic({vec({a}), vec({b})}, x);
    EXPECT_NEAR(std::abs(found), expected, 1e-11);
    EXPECT_EQ(found > 0, std::hypot(x[0] - (a + b) / 2, x[1]) > (b - a) / 2);
    EXPECT_NEAR(signed_distance_to_geodesic(b, a, x[0], x[1]), -found, 1e-12);
  }
  EXPECT_NEAR(std::sinh(signed_distance_to_geodesic(1, HUGE_VAL, 3, 2)), 1, 1e-14);
  EXPECT_NEAR(std::sinh(signed_distance_to_geodesic(-HUGE_VAL, 1, 3, 2)), -1, 1e-14);
}

TEST(HyperbolicBall, HasItsSphereAtItsRadius) {
  Sampler sampler(4);
  for (int i = 0; i < 200; ++i) {
    const double radius = sampler.uniform(0.05, 2);
    const Vector c = sampler.halfspace(3, 0.2, 4, 1), way = sampler.direction(3);
    const EuclideanBall b = ball_in_halfspace(c, radius);
    EXPECT_NEAR(distance(Model::halfspace, c, b.centre + way * b.radius), radius, 1e-11);
    const Vector y = sampler.at_distance(3, 0, 3, Model::ball).x;
    const EuclideanBall e = ball_in_ball(y, radius);
    EXPECT_NEAR(distance(Model::ball, y, e.centre + way * e.radius), radius, 1e-10);
  }
}

}  // namespace
}  // namespace conelab::geometry
