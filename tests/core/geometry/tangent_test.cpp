#include <gtest/gtest.h>

#include <cmath>

#include "core/geometry/distance.h"
#include "core/geometry/isometry.h"
#include "tests/core/geometry/sampling.h"

namespace conelab::geometry {
namespace {

using test::Sampler;
using test::vec;

double gap_between(const Vector& a, const Vector& b) { return distance(Model::halfspace, a, b); }

TEST(Tangent, LogInvertsExpAndItsNormIsTheDistance) {
  Sampler sampler(1);
  for (int i = 0; i < 1000; ++i) {
    const Eigen::Index d = 2 + i % 4;
    const Vector p = sampler.halfspace(d, 0.1, 10, 2),
                 v = sampler.normal(d) * sampler.uniform(0, 2);
    const Vector q = exp_map(p, v);
    EXPECT_NEAR(gap_between(p, q), v.norm(), 1e-12 * (1 + v.norm()));
    EXPECT_LT((log_map(p, q) - v).norm(), 1e-11 * (1 + v.norm()));
  }
}

TEST(Tangent, ExpUpwardsMultipliesTheHeight) {
  EXPECT_LT((exp_map(vec({3, 2}), vec({0, 1})) - vec({3, 2 * std::exp(1)})).norm(), 1e-14);
  EXPECT_EQ(exp_map(vec({3, 2}), vec({0, 0})), vec({3, 2}));
}

TEST(Tangent, MidpointIsHalfWay) {
  Sampler sampler(4);
  for (int i = 0; i < 300; ++i) {
    const Vector p = sampler.halfspace(3, 0.1, 10, 2), q = sampler.halfspace(3, 0.1, 10, 2);
    const Vector m = midpoint(p, q);
    EXPECT_NEAR(gap_between(p, m), gap_between(p, q) / 2, 1e-12);
    EXPECT_NEAR(gap_between(q, m), gap_between(p, q) / 2, 1e-12);
  }
}

}  // namespace
}  // namespace conelab::geometry
