#include "core/figure/hyperbolic_curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/figure/cone_curves.h"
#include "core/figure/model_view.h"
#include "core/geometry/distance.h"
#include "tests/core/geometry/oracles.h"
#include "tests/core/geometry/sampling.h"

namespace conelab::figure {
namespace {

using geometry::ConeSystem;
using geometry::Model;
using geometry::Vector;
using geometry::test::Sampler;

Vector vec(double x, double y) { return Eigen::Vector2d(x, y); }

double centre_of(const Curve& curve) {
  const WeightedCircle c = half_plane_circle(curve.front().cycle());
  return c.centre.x() / c.a;
}
double radius_of(const Curve& curve) {
  const WeightedCircle c = half_plane_circle(curve.front().cycle());
  return c.radius / std::abs(c.a);
}

/// Either of the two, whatever side.
void expect_circle(const ConeCurves& cones, const AxisShadow& u, double centre, double radius,
                   double tolerance) {
  double best = 1e300;
  for (const int side : {-1, 1}) {
    const Curve edge = cones.edge(u, side);
    best = std::min(best, std::hypot(centre_of(edge) - centre, radius_of(edge) - radius));
  }
  EXPECT_LT(best, tolerance);
}

// The specification's numbers for the source (.4, 2) of radius .5 and u = (1.3, .8).
TEST(ConeCurves, EdgesOfFiniteConesAreTheKnownTangentGeodesics) {
  const auto source = geometry::point(Model::halfspace, vec(0.4, 2));
  const ConeSystem penumbral = geometry::with_source(
      geometry::cone_system("penumbral-finite", {{"source_radius", 0.5}}), source);
  const ConeCurves cones(penumbral);
  const AxisShadow u = cones.locate(vec(1.3, 0.8), "u");
  expect_circle(cones, u, 0.3880821509580868, 1.2130928090633584, 1e-12);
  expect_circle(cones, u, 15.80180322660276, 14.523852685259039, 1.5e-11);
}

// Umbral: the shadow of the object's ball lies between geodesics from the source tangent to it.
TEST(ConeCurves, UmbralShadowsAreTheKnownTangentGeodesics) {
  const auto source = geometry::point(Model::halfspace, vec(0.4, 2));
  const ConeSystem umbral = geometry::with_source(
      geometry::cone_system("umbral-finite", {{"object_radius", 0.5}}), source);
  const ConeCurves cones(umbral);
  const Curve shadow = cones.shadow(vec(1.3, 0.8));
  double best[2] = {1e300, 1e300};
  const double known[2][2] = {{-0.0655121578, 2.0534608760}, {-2.7417635228, 3.7243359184}};
  for (const CycleArc& arc : shadow) {
    for (int k = 0; k < 2; ++k) {
      best[k] = std::min(
          best[k], std::hypot(centre_of({arc}) - known[k][0], radius_of({arc}) - known[k][1]));
    }
  }
  EXPECT_LT(best[0], 1e-9);
  EXPECT_LT(best[1], 1e-9);
}

// Every edge, halfway down too, lies on the border of the cone by the law itself.
TEST(ConeCurves, EdgesRunAlongTheBorderOfTheCone) {
  Sampler sampler(1);
  for (const geometry::ConeFamily* family : geometry::cone_families()) {
    for (int i = 0; i < 20; ++i) {
      ConeSystem system = geometry::cone_system(family->name);
      if (!system.infinite() && i % 2) {
        system = geometry::with_source(system, geometry::point(Model::halfspace, vec(0.7, 1.8)));
      }
      const ConeCurves cones(system);
      const auto u = system.infinite() ? vec(sampler.uniform(-1, 1), sampler.uniform(0.1, 0.9))
                                       : vec(sampler.uniform(-1, 1), sampler.uniform(0.05, 0.3));
      const auto element = [&](const Vector& x) {
        return geometry::element(system, geometry::point(Model::halfspace, x));
      };
      for (const int side : {-1, 1}) {
        const ArcParameter at(cones.edge(cones.locate(u, "u"), side).front());
        for (const double t : {0.1, 0.4, 0.8}) {
          const Vector x = to_half_plane(at(t));
          const geometry::Element w = element(x), top = element(u);
          const double slack =
              top.shadow - w.shadow - geometry::base_distance(family->base, top.axis, w.axis);
          EXPECT_NEAR(slack, 0, 1e-9) << family->name;
        }
      }
    }
  }
}

TEST(ConeCurves, LevelLinesHaveTheirDepth) {
  Sampler sampler(2);
  for (const geometry::ConeFamily* family : geometry::cone_families()) {
    const ConeSystem system = geometry::cone_system(family->name);
    const ConeCurves cones(system);
    const Vector at_u = system.infinite() ? vec(0.2, 0.4) : vec(-0.6, 0.3);
    const auto element = [&](const Vector& x) {
      return geometry::element(system, geometry::point(Model::halfspace, x));
    };
    const AxisShadow u = cones.locate(at_u, "u");
    const double largest = family->largest_shadow(system.values);
    const double shadow = std::isinf(largest) ? 2 * u.shadow : (u.shadow + largest) / 2;
    const double radial = family->radial(system.values, shadow);
    const double expected = system.infinite() ? -radial : radial;
    for (const CycleArc& arc : cones.similarity_level(u, shadow)) {
      const Vector x = to_half_plane(ArcParameter(arc)(0.5));
      EXPECT_NEAR(geometry::lca(system, element(at_u), element(x)).depth, expected, 1e-9)
          << family->name;
    }
    if (family->extended == nullptr) continue;
    const double edge = family->radial(system.values, largest);
    const double beyond = system.infinite() ? edge * 1.3 : edge * 0.6;
    for (const int side : {-1, 1}) {
      const Vector x =
          to_half_plane(ArcParameter(cones.extended_level(u, beyond, side).front())(0.5));
      EXPECT_NEAR(geometry::lca(system, element(at_u), element(x)).depth,
                  system.infinite() ? -beyond : beyond, 1e-9)
          << family->name;
    }
  }
}

TEST(HyperbolicCurve, CirclesAreThoseOfTheBallAndTheHalfPlane) {
  const Vector c = vec(0.3, 0.7);
  const Curve circle = circle_curve(c, 0.6);
  const geometry::EuclideanBall half = geometry::ball_in_halfspace(c, 0.6);
  EXPECT_NEAR(centre_of(circle), half.centre[0], 1e-13);
  EXPECT_NEAR(radius_of(circle), half.radius, 1e-13);
  const Vector y = geometry::convert(c, Model::halfspace, Model::ball);
  const geometry::EuclideanBall ball = geometry::ball_in_ball(y, 0.6);
  const WeightedCircle found = ball_circle(circle.front().cycle());
  EXPECT_LT((found.centre / found.a - Eigen::Vector2d(ball.centre)).norm(), 1e-13);
  EXPECT_NEAR(found.radius / std::abs(found.a), ball.radius, 1e-13);
}

TEST(HyperbolicCurve, KleinDrawsTheSamePointsOnItsEllipse) {
  Sampler sampler(3);
  for (int i = 0; i < 100; ++i) {
    const Curve circle = circle_curve(vec(sampler.uniform(-1, 1), sampler.uniform(0.2, 3)),
                                      sampler.uniform(0.1, 1.5));
    const KleinEllipse e = klein_ellipse(circle.front().cycle());
    const ArcParameter at(circle.front());
    for (double t = 0; t < 1; t += 0.13) {
      const Eigen::Vector2d d = at(t).head<2>() - e.centre;
      const double along = d.x() * std::cos(e.tilt) + d.y() * std::sin(e.tilt);
      const double across = -d.x() * std::sin(e.tilt) + d.y() * std::cos(e.tilt);
      EXPECT_NEAR(std::pow(along / e.along, 2) + std::pow(across / e.across, 2), 1, 1e-10);
    }
  }
}

TEST(HyperbolicCurve, GeodesicsAreChordsInKlein) {
  const Curve line = geodesic_curve(vec(-1, 0.4), vec(2, 0.9), true);
  EXPECT_LT(klein_ellipse(line.front().cycle()).along, 1e-15);
  EXPECT_NEAR(line.front().from.z(), 0, 1e-15);
}

TEST(Motion, ActsAsTheIsometryDoes) {
  Sampler sampler(4);
  for (int i = 0; i < 200; ++i) {
    const geometry::Isometry f = sampler.isometry(2);
    const Vector x = sampler.halfspace(2, 0.2, 4, 1), image = geometry::apply(f, x);
    const Eigen::Vector2d found = to_half_plane(Motion(f)(from_half_plane(x[0], x[1])));
    EXPECT_LT(geometry::distance(Model::halfspace, Vector(found), image), 1e-8);
  }
}

/// Points of every curve as drawn lie where the model puts them.
TEST(ModelView, CurvesPassThroughTheirPoints) {
  for (const Model model : geometry::all_models) {
    const ModelView view(model, ModelView::usual_window(model), {0, 0}, 200, 300);
    const CycleArc arc = geodesic_curve(vec(-0.8, 0.5), vec(0.9, 0.7)).front();
    const Path path = view.path({arc});
    const Point expected = view.page(ArcParameter(arc)(0.5));
    double nearest = 1e300;
    Point from;
    for (const Segment& s : path.segments) {
      const auto near = [&](Point p) {
        nearest = std::min(nearest, std::hypot(p.x - expected.x, p.y - expected.y));
      };
      if (const auto* m = std::get_if<MoveTo>(&s)) from = m->to;
      if (const auto* l = std::get_if<LineTo>(&s)) {
        for (int i = 0; i <= 2000; ++i)
          near({from.x + (l->to.x - from.x) * i / 2000, from.y + (l->to.y - from.y) * i / 2000});
        from = l->to;
      }
      if (const auto* a = std::get_if<ArcTo>(&s)) {
        for (int i = 0; i <= 2000; ++i) near(a->at(a->from + a->sweep * i / 2000));
        from = a->end();
      }
      if (const auto* c = std::get_if<CubicTo>(&s)) {
        for (int i = 0; i <= 200; ++i) {
          const double t = i / 200.0, q = 1 - t;
          near({q * q * q * from.x + 3 * q * q * t * c->control1.x + 3 * q * t * t * c->control2.x +
                    t * t * t * c->to.x,
                q * q * q * from.y + 3 * q * q * t * c->control1.y + 3 * q * t * t * c->control2.y +
                    t * t * t * c->to.y});
        }
        from = c->to;
      }
    }
    EXPECT_LT(nearest, 0.1) << geometry::model_name(model);
  }
}

}  // namespace
}  // namespace conelab::figure
