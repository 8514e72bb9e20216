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

TEST(Isometry, InvertsInClosedForm) {
  Sampler sampler(2);
  for (int i = 0; i < 1000; ++i) {
    const Eigen::Index d = 2 + i % 4;
    const Isometry f = sampler.isometry(d);
    const Vector x = sampler.halfspace(d, 0.2, 5, 1);
    EXPECT_LT(gap(apply(inverse(f), apply(f, x)), x), 1e-10);
    EXPECT_LT(gap(apply(f, apply(inverse(f), x)), x), 1e-10);
  }
}

TEST(Isometry, CarriesPointsWhereTheyShouldGo) {
  const Vector p = vec({1, -2, 0.5}), q = vec({-3, 4, 7});
  EXPECT_LT((apply(carry(p, q), p) - q).norm(), 1e-13);
  const Isometry inversion{vec({1, 2}), 1, Matrix::Identity(2, 2), vec({1, 2})};
  EXPECT_NEAR(apply(inversion, vec({1, 2, 1e-9}))[2], 1e9, 1);
}

TEST(Isometry, RefusesWhatIsNone) {
  EXPECT_THROW((void)carry(vec({0, 0}), vec({0, 1})), Error);
  EXPECT_THROW((void)apply(carry(vec({0, 1}), vec({1, 2})), vec({0, 0, 1})), Error);
}

}  // namespace
}  // namespace conelab::geometry
