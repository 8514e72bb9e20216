#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"
#include "core/figure/cones.h"
#include "core/figure/similarity_field.h"
#include "core/geometry/distance.h"
#include "tests/core/figure/figure_checks.h"

namespace conelab::figure {
namespace {

using Eigen::Vector2d;

TEST(PlaneSimilarity, HasTheDistanceOfTheGeometry) {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const Vector2d u(random.normal(), std::exp(random.normal()));
    const Vector2d x(random.normal(), std::exp(random.normal()));
    const auto point = [](const Vector2d& p) {
      return geometry::point(geometry::Model::halfspace, geometry::Vector(p));
    };
    EXPECT_NEAR(similarity_of(PlaneSimilarity::hyperbolic, u, x),
                -geometry::distance(point(u), point(x)), 1e-12);
  }
}

// On a line of the value c every point has the value c, up to the rounding of the curve.
TEST(PlaneSimilarity, IsConstantOnItsCurves) {
  Random random(2);
  for (const PlaneSimilarityInfo& row : plane_similarities()) {
    int curves = 0, points = 0;
    for (int i = 0; i < 50; ++i) {
      const Vector2d u(i == 0 ? 0 : random.normal(), std::exp(random.normal() - 1));
      const SimilarityRange range = similarity_range(row.similarity, u, {-2, 2, 1.5});
      const double step = round_level_step(range.low, range.high, 8);
      for (const Curve& curve : similarity_curves(row.similarity, u, range, step)) {
        ++curves;
        const ArcParameter at(curve.front());
        const double value = similarity_of(row.similarity, u, to_half_plane(at(0.31)));
        EXPECT_NEAR(value, std::round(value / step) * step, 1e-9) << row.name;
        for (const double t : {0.07, 0.5, 0.83}) {
          const Vector2d x = to_half_plane(at(t));
          if (!(x.y() > 1e-6 && x.norm() < 1e4)) continue;
          ++points;
          EXPECT_NEAR(similarity_of(row.similarity, u, x), value, 1e-8) << row.name;
        }
      }
    }
    EXPECT_GT(curves, 150) << row.name;
    EXPECT_GT(points, 300) << row.name;
  }
}

TEST(PlaneSimilarity, StaysInItsRangeOnThePart) {
  Random random(3);
  const PlanePart part{-1, 3, 2};
  for (const PlaneSimilarityInfo& row : plane_similarities()) {
    const Vector2d u(0.5, 0.4);
    const SimilarityRange range = similarity_range(row.similarity, u, part);
    double least = HUGE_VAL;
    for (int i = 0; i < 4000; ++i) {
      const double value = similarity_of(row.similarity, u,
                                         {-1 + 4 * random.uniform(), 1e-9 + 2 * random.uniform()});
      least = std::min(least, value);
      EXPECT_LE(value, range.high + 1e-12) << row.name;
    }
    EXPECT_EQ(least < range.low, range.lower) << row.name;
  }
}

TEST(PlaneSimilarity, ItsFigureIsGoodInEveryModel) {
  for (const PlaneSimilarityInfo& row : plane_similarities()) {
    for (const geometry::Model model : geometry::all_models) {
      ConesFigure f;
      f.similarity = row.name;
      f.levels = 10;
      f.model = model;
      SCOPED_TRACE(row.name);
      const DisplayList list = draw_cones(f);
      expect_good_figure(list);
      EXPECT_NE(list.metadata.description.find(row.formula), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace conelab::figure
