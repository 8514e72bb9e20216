#include "core/geometry/isometry.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/geometry/distance.h"
#include "tests/core/geometry/sampling.h"

namespace conelab::geometry {
namespace {

using test::Sampler;
using test::vec;

double gap(const Vector& a, const Vector& b) { return distance(Model::halfspace, a, b); }

TEST(Isometry, KeepsDistancesInEveryModel) {
  Sampler sampler(1);
  for (int i = 0; i < 500; ++i) {
    const Eigen::Index d = 2 + i % 4;
    const Isometry f = sampler.isometry(d);
    for (const Model model : all_models) {
      const ModelPoint u = sampler.at_distance(d, 0, 3, model),
                       v = sampler.at_distance(d, 0, 3, model);
      const ModelPoint fu = apply(f, u), fv = apply(f, v);
      // What the coordinates of the images can hold, see model.h.
      const double reach = std::max(distance_to_origin(fu), distance_to_origin(fv));
      EXPECT_NEAR(distance(fu, fv), distance(u, v), 1e-13 * std::exp(2 * reach));
    }
  }
}

TEST(Isometry, ComposesAndInvertsInClosedForm) {
  Sampler sampler(2);
  for (int i = 0; i < 1000; ++i) {
    const Eigen::Index d = 2 + i % 4;
    const Isometry f = sampler.isometry(d), g = sampler.isometry(d);
    const Vector x = sampler.halfspace(d, 0.2, 5, 1);
    EXPECT_LT(gap(apply(compose(g, f), x), apply(g, apply(f, x))), 1e-10);
    EXPECT_LT(gap(apply(inverse(f), apply(f, x)), x), 1e-10);
    EXPECT_LT(gap(apply(compose(inverse(f), f), x), x), 1e-10);
    EXPECT_LT(gap(apply(compose(f, carry_to_infinity(vec({0.3, 0.1, 0, 0}).head(d - 1))), x),
                  apply(f, apply(carry_to_infinity(vec({0.3, 0.1, 0, 0}).head(d - 1)), x))),
              1e-10);
  }
}

TEST(Isometry, CarriesPointsWhereTheyShouldGo) {
  const Vector p = vec({1, -2, 0.5}), q = vec({-3, 4, 7});
  EXPECT_LT((apply(carry(p, q), p) - q).norm(), 1e-13);
  const Vector near_pole = apply(carry_to_infinity(vec({1, 2})), vec({1, 2, 1e-9}));
  EXPECT_NEAR(near_pole[2], 1e9, 1);
}

TEST(Isometry, RotatesAboutAnInteriorPoint) {
  Sampler sampler(3);
  for (Eigen::Index d = 2; d < 6; ++d) {
    const Matrix q = sampler.orthogonal(d);
    const Vector origin = Vector::Unit(d, d - 1), p = sampler.halfspace(d, 0.3, 3, 1);
    EXPECT_LT(gap(apply(rotation_about(p, q), p), p), 1e-12);
    const ModelPoint y = sampler.at_distance(d, 0.5, 2, Model::ball);
    EXPECT_LT((apply(rotation_about(origin, q), y).x - q * y.x).norm(), 1e-12);
  }
}

TEST(Isometry, RotationThatFixesInfinityIsABoundaryRotation) {
  Matrix q = Matrix::Identity(3, 3);
  q.topLeftCorner(2, 2) << 0, -1, 1, 0;
  const Isometry f = rotation_about(vec({0, 0, 1}), q);
  EXPECT_FALSE(f.pole.has_value());
  EXPECT_LT((apply(f, vec({1, 0, 2})) - vec({0, 1, 2})).norm(), 1e-15);
}

TEST(Isometry, InversionIsAnInvolutionThatFixesItsHemisphere) {
  const Isometry f = inversion(vec({1, 0}), 2);
  const Vector on = vec({1, std::sqrt(2), std::sqrt(2)}), x = vec({0.2, 0.3, 0.4});
  EXPECT_LT((apply(f, on) - on).norm(), 1e-14);
  EXPECT_LT((apply(f, apply(f, x)) - x).norm(), 1e-14);
}

TEST(Isometry, RefusesWhatIsNone) {
  EXPECT_THROW((void)dilation(2, 0), Error);
  EXPECT_THROW((void)boundary_rotation(Matrix::Constant(2, 2, 1)), Error);
  EXPECT_THROW((void)inversion(vec({0}), -1), Error);
  EXPECT_THROW((void)apply(identity(3), vec({0, 1})), Error);
}

}  // namespace
}  // namespace conelab::geometry
