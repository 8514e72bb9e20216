#include "core/geometry/tangent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/geometry/distance.h"
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

// The ambient formula on the hyperboloid, v + <q,v>/(1−<p,q>) (p+q), is independent.
TEST(Tangent, TransportMatchesTheHyperboloid) {
  Sampler sampler(2);
  for (int i = 0; i < 300; ++i) {
    const Eigen::Index d = 2 + i % 3;
    const Vector p = sampler.halfspace(d, 0.3, 3, 1), q = sampler.halfspace(d, 0.3, 3, 1);
    const Vector v = sampler.normal(d);
    const auto lift = [&](const Vector& x) {
      return convert(x, Model::halfspace, Model::hyperboloid);
    };
    const auto ambient = [&](const Vector& foot, const Vector& w) {  // central difference of Exp
      const double h = 1e-5;
      return Vector((lift(exp_map(foot, w * h)) - lift(exp_map(foot, w * -h))) / (2 * h));
    };
    const auto minkowski = [&](const Vector& a, const Vector& b) {
      return a.head(d).dot(b.head(d)) - a[d] * b[d];
    };
    const Vector P = lift(p), Q = lift(q), V = ambient(p, v);
    const Vector expected = V + minkowski(Q, V) / (1 - minkowski(P, Q)) * (P + Q);
    EXPECT_LT((ambient(q, parallel_transport(p, q, v)) - expected).norm(),
              1e-7 * (1 + expected.norm()));
  }
}

TEST(Tangent, TransportKeepsLengthsAndTheGeodesicItself) {
  Sampler sampler(3);
  for (int i = 0; i < 500; ++i) {
    const Vector p = sampler.halfspace(3, 0.1, 10, 2), q = sampler.halfspace(3, 0.1, 10, 2);
    const Vector v = sampler.normal(3);
    EXPECT_NEAR(parallel_transport(p, q, v).norm(), v.norm(), 1e-12);
    EXPECT_LT((parallel_transport(p, q, log_map(p, q)) + log_map(q, p)).norm(), 1e-10);
  }
  EXPECT_EQ(parallel_transport(vec({0, 1}), vec({0, 5}), vec({1, 2})), vec({1, 2}));
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

TEST(FrechetMean, OfTwoIsTheMidpointAndOfOneItself) {
  const Vector p = vec({0, 1}), q = vec({3, 0.2});
  EXPECT_LT(gap_between(frechet_mean({p, q}), midpoint(p, q)), 1e-13);
  EXPECT_LT(gap_between(frechet_mean({p}), p), 1e-13);
  EXPECT_LT(gap_between(frechet_mean({p, q}, {1, 3}), along_geodesic(p, q, 0.75)), 1e-13);
}

TEST(FrechetMean, MinimisesTheSumOfSquares) {
  Sampler sampler(5);
  for (int i = 0; i < 50; ++i) {
    std::vector<Vector> points;
    for (int k = 0; k < 6; ++k) points.push_back(sampler.halfspace(3, 0.01, 100, 3));
    const auto cost = [&](const Vector& x) {
      double sum = 0;
      for (const Vector& p : points) sum += gap_between(x, p) * gap_between(x, p);
      return sum;
    };
    const Vector m = frechet_mean(points);
    for (int k = 0; k < 20; ++k) EXPECT_LT(cost(m), cost(exp_map(m, sampler.direction(3) * 1e-3)));
  }
}

TEST(FrechetMean, RefusesNothingAndBadWeights) {
  EXPECT_THROW((void)frechet_mean({}), Error);
  EXPECT_THROW((void)frechet_mean({vec({0, 1})}, {-1}), Error);
  EXPECT_THROW((void)frechet_mean({vec({0, 1})}, {1, 2}), Error);
  EXPECT_THROW((void)frechet_mean({vec({0, 1}), vec({0, 0, 1})}), Error);
}

TEST(MobiusAddition, TranslatesTheBall) {
  Sampler sampler(6);
  for (int i = 0; i < 300; ++i) {
    const Vector x = sampler.at_distance(3, 0, 2, Model::ball).x,
                 y = sampler.at_distance(3, 0, 2, Model::ball).x,
                 z = sampler.at_distance(3, 0, 2, Model::ball).x;
    EXPECT_NEAR(distance(Model::ball, mobius_add(x, y), mobius_add(x, z)),
                distance(Model::ball, y, z), 1e-11);
    EXPECT_LT(mobius_add(-x, x).norm(), 1e-15);
  }
}

}  // namespace
}  // namespace conelab::geometry
