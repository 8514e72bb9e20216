#include "core/geometry/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/geometry/distance.h"
#include "tests/core/geometry/sampling.h"
#include "tests/helpers/errors.h"

namespace conelab::geometry {
namespace {

using test::Sampler;
using test::vec;

double relative_error(const Vector& found, const Vector& expected) {
  return (found - expected).cwiseAbs().maxCoeff() / std::max(1.0, expected.cwiseAbs().maxCoeff());
}

/// The worst error of A→B→A over all 25 pairs, points at exactly this distance.
double worst_round_trip(double distance, bool bare) {
  Sampler sampler(7);
  double worst = 0;
  for (int i = 0; i < 200; ++i) {
    for (const Model a : all_models) {
      const ModelPoint p = sampler.at_distance(2 + i % 3, distance, distance, a);
      for (const Model b : all_models) {
        const ModelPoint there = convert(p, b);
        const ModelPoint back =
            bare ? convert(ModelPoint{b, there.x, point(b, there.x).gap}, a) : convert(there, a);
        worst = std::max(worst, relative_error(back.x, p.x));
      }
    }
  }
  return worst;
}

TEST(Model, RoundTripsKeepThirteenDigitsUpToDistanceTwelve) {
  for (const double distance : {1e-9, 1e-3, 0.1, 1.0, 3.0, 6.0, 9.0, 12.0}) {
    EXPECT_LT(worst_round_trip(distance, false), 1e-13) << "at distance " << distance;
  }
}

TEST(Model, RoundTripsKeepThirteenDigitsFarBeyondToo) {
  for (const double distance : {20.0, 50.0, 150.0, 300.0}) {
    EXPECT_LT(worst_round_trip(distance, false), 1e-13) << "at distance " << distance;
  }
}

TEST(Model, BareKleinCoordinatesLoseDigitsAsDocumented) {
  for (const double distance : {2.0, 4.0, 8.0, 12.0}) {
    const double bound = 4e-16 * std::exp(2 * distance);
    EXPECT_LT(worst_round_trip(distance, true), bound + 2e-15);
    EXPECT_GT(worst_round_trip(distance, true), bound / 1000);
  }
}

TEST(Model, BareConversionsOfAllButKleinKeepTheDistanceAsDocumented) {
  Sampler sampler(8);
  for (const double distance : {1.0, 4.0, 8.0, 12.0}) {
    for (const Model b : {Model::ball, Model::band}) {
      for (int i = 0; i < 200; ++i) {
        const ModelPoint p = sampler.at_distance(3, distance, distance, Model::hyperboloid);
        const Vector bare = convert(p, b).x;
        EXPECT_NEAR(distance_to_origin(point(b, bare)), distance,
                    4e-16 * std::exp(distance) + 2e-15);
      }
    }
  }
}

TEST(Model, TheOriginIsSharedAndInfinityIsTheNorthPole) {
  const Vector origin = vec({0, 0, 1});
  EXPECT_EQ(convert(origin, Model::halfspace, Model::ball), vec({0, 0, 0}));
  EXPECT_EQ(convert(origin, Model::halfspace, Model::klein), vec({0, 0, 0}));
  EXPECT_EQ(convert(origin, Model::halfspace, Model::band), vec({0, 0, 0}));
  EXPECT_EQ(convert(origin, Model::halfspace, Model::hyperboloid), vec({0, 0, 0, 1}));
  EXPECT_NEAR(convert(vec({0, 0, 1e8}), Model::halfspace, Model::ball)[2], 1, 1e-7);
}

TEST(Model, HalfspaceToBallIsTheSpecifiedMap) {
  const Vector y = vec({0.7, -0.4, 0.9});
  const double scale = 1 / (1 + 2 * y[2] + y.squaredNorm());
  const Vector expected = vec({2 * y[0], 2 * y[1], y.squaredNorm() - 1}) * scale;
  EXPECT_LT((convert(y, Model::halfspace, Model::ball) - expected).norm(), 1e-15);
}

TEST(Model, TheBandIsTheLogarithmOfTheHalfPlane) {
  const Vector w = convert(vec({3, 4}), Model::halfspace, Model::band);
  EXPECT_NEAR(w[0], std::atan2(3, 4), 1e-15);
  EXPECT_NEAR(w[1], std::log(5), 1e-15);
}

TEST(Model, AgreesWithItselfToTheBit) {
  const Vector x = vec({0.1, 1e-300});
  EXPECT_EQ(convert(x, Model::halfspace, Model::halfspace), x);
}

TEST(Model, OneMinusSquaredNormIsCorrectNearTheBoundary) {
  const double y = 1 - std::ldexp(1, -40);  // 1 − y² = 2^-39 − 2^-80 exactly
  EXPECT_EQ(one_minus_squared_norm(vec({y, 0})), std::ldexp(1, -39) - std::ldexp(1, -80));
  const Vector x = vec({0.6, 0.8 - 1e-15});
  const long double exact = 1.0L - (long double)x[0] * x[0] - (long double)x[1] * x[1];
  EXPECT_NEAR(one_minus_squared_norm(x), static_cast<double>(exact), 1e-18);
}

struct BadPoint {
  Model model;
  Vector x;
  const char* says;
};

TEST(Model, RefusesPointsOutsideInOneLineThatNamesTheBound) {
  const double nan = std::nan("");
  const BadPoint cases[] = {
      {Model::halfspace, vec({1, 0}),
       "u: outside the halfspace model (expected height > 0, found 0)"},
      {Model::ball, vec({0.6, 0.8}), "u: outside the ball model (expected |x| < 1, found 1)"},
      {Model::klein, vec({2, 0}), "u: outside the klein model (expected |x| < 1, found 2)"},
      {Model::band, vec({1.6, 5}), "u: outside the band model (expected |w| < pi/2, found 1.6)"},
      {Model::hyperboloid, vec({1, 0, 2}), "u: not on the hyperboloid"},
      {Model::halfspace, vec({1}), "u: too few coordinates"},
      {Model::halfspace, vec({nan, 1}), "u: a coordinate is not a finite number"},
  };
  for (const BadPoint& bad : cases) {
    const std::string said = fixtures::failure_of([&] { return point(bad.model, bad.x, "u"); });
    EXPECT_TRUE(said.starts_with(std::string("2: ") + bad.says)) << bad.x.transpose() << said;
  }
}

TEST(Model, KnowsItsNames) {
  for (const Model model : all_models) EXPECT_EQ(model_from_name(model_name(model)), model);
  EXPECT_THROW((void)model_from_name("disk"), Error);
}

}  // namespace
}  // namespace conelab::geometry
