// The law against tests of membership that share no formula with it, the LCA against brute force,
// invariance, limits and degenerate input.
#include "core/geometry/cone_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/geometry/distance.h"
#include "core/geometry/isometry.h"
#include "tests/core/geometry/oracles.h"
#include "tests/core/geometry/sampling.h"
#include "tests/helpers/errors.h"

namespace conelab::geometry {
namespace {

using test::Sampler;
using test::vec;

constexpr int many = 100000;
/// Pairs closer to the border than this may be decided either way by rounding.
constexpr double border = 1e-9;

// ---- independent membership --------------------------------------------------------------------

/// The ray from v through u, continued upwards, reaches the horoball above h: on the semicircle
/// through both, the top lies beyond u and is at least h high.
bool in_infinite_penumbra(double h, const Vector& u, const Vector& v) {
  const Eigen::Index m = u.size() - 1;
  const double across = (u.head(m) - v.head(m)).norm();
  if (across == 0) return u[m] >= v[m];
  const double from_v = (across * across + u[m] * u[m] - v[m] * v[m]) / (2 * across);
  return from_v >= across && std::hypot(from_v, v[m]) >= h;
}

/// The ball about v lies between the two vertical tangent planes of the ball about u, in the slice
/// of u and v: signed distances to both vertical geodesics are at least r.
bool in_infinite_umbra(double r, const Vector& u, const Vector& v) {
  const Eigen::Index m = u.size() - 1;
  const double across = (u.head(m) - v.head(m)).norm();
  const double edge = u[m] * std::sinh(r);
  const double infinity = std::numeric_limits<double>::infinity();
  return signed_distance_to_geodesic(-edge, infinity, across, v[m]) >= r &&
         -signed_distance_to_geodesic(edge, infinity, across, v[m]) >= r;
}

/// The light at s lies outside the ball about v, and every tangent from s to v's ball hits u's:
/// angles from distances alone, by the half-angle law of hyperbolic triangles.
bool in_finite_umbra(double r, double d_su, double d_sv, double d_uv) {
  const double perimeter = (d_su + d_sv + d_uv) / 2;
  const double half_angle =
      std::sqrt(std::max(0.0, std::sinh(perimeter - d_su) * std::sinh(perimeter - d_sv)) /
                (std::sinh(d_su) * std::sinh(d_sv)));
  const double angle = 2 * std::asin(std::min(1.0, half_angle));
  // A right-angled triangle: the tangent's length t has tanh t = tanh ρ cos β.
  const auto opening = [r](double rho) {
    const double tangent = std::acosh(std::cosh(rho) / std::cosh(r));
    return std::acos(std::tanh(tangent) / std::tanh(rho));
  };
  return angle + opening(d_sv) <= opening(d_su);
}

struct Pair {
  ModelPoint u, v;
};

/// Random pairs for a family; half of them close in direction so that both answers are common.
Pair random_pair(Sampler& sampler, const ConeSystem& system, Eigen::Index d) {
  const RadialDomain domain = system.family->domain(system.values);
  if (system.infinite()) {
    const double high = std::min(domain.high, 5.0) * 0.999;
    Vector u = sampler.halfspace(d, 1e-3, high, 1), v = sampler.halfspace(d, 1e-3, high, 1);
    if (sampler.uniform(0, 1) < 0.7) v.head(d - 1) = u.head(d - 1) + sampler.normal(d - 1) * 0.05;
    return {{Model::halfspace, u, 1}, {Model::halfspace, v, 1}};
  }
  const Vector a = sampler.direction(d);
  const bool close = sampler.uniform(0, 1) < 0.7;
  const Vector b =
      close ? Vector((a + sampler.normal(d) * 0.1).normalized()) : sampler.direction(d);
  const auto at = [&](const Vector& way) {
    return from_spatial(way * std::sinh(domain.low + sampler.uniform(0.01, 4)), Model::ball);
  };
  return {at(a), at(b)};
}

/// Membership in the penumbral cone of u from distances only; s is the source.
bool in_penumbra(double d_su, double d_sv, double d_uv, double source_radius) {
  const double outside = std::sinh(d_su + source_radius) * std::sinh(d_su - source_radius);
  return std::cosh(d_sv) - std::cosh(d_su) * std::cosh(d_uv) >=
         std::sinh(d_uv) * std::sqrt(std::max(0.0, outside));
}

/// Ganea's half-aperture and angle (Hyperbolic Entailment Cones, eq. 26 and 28): y is in the cone
/// of x iff the angle is at most the half-aperture.
///   psi(x) = arcsin(K (1 - |x|^2) / |x|)
///   Xi(x, y) = arccos((<x,y> (1 + |x|^2) - |x|^2 (1 + |y|^2))
///                     / (|x| |x - y| sqrt(1 + |x|^2 |y|^2 - 2 <x,y>)))
double ganea_half_aperture(double k, const Vector& x) {
  return std::asin(k * one_minus_squared_norm(x) / x.norm());
}
double ganea_angle(const Vector& x, const Vector& y) {
  const double xx = x.squaredNorm(), yy = y.squaredNorm(), xy = x.dot(y);
  const double numerator = xy * (1 + xx) - xx * (1 + yy);
  const double scale = std::sqrt(xx) * (x - y).norm() * std::sqrt(1 + xx * yy - 2 * xy);
  return scale == 0 ? 0 : std::acos(std::clamp(numerator / scale, -1.0, 1.0));
}

/// Whether u ≼ v by formulas that do not use the law of cone_law.h.
bool independent(const ConeSystem& system, const Pair& p) {
  const std::string name = system.family->name;
  const double value = system.values[0];
  if (name == "penumbral") return in_infinite_penumbra(value, p.u.x, p.v.x);
  if (name == "umbral") return in_infinite_umbra(value, p.u.x, p.v.x);
  if (name == "ganea") return ganea_angle(p.u.x, p.v.x) <= ganea_half_aperture(value, p.u.x);
  const double d_su = distance_to_origin(p.u), d_sv = distance_to_origin(p.v),
               d_uv = distance(p.u, p.v);
  if (name == "penumbral-finite") return in_penumbra(d_su, d_sv, d_uv, value);
  return in_finite_umbra(value, d_su, d_sv, d_uv);
}

class EveryFamily : public testing::TestWithParam<std::string> {};

TEST_P(EveryFamily, LawAgreesWithIndependentMembership) {
  Sampler sampler(11);
  int members = 0, undecided = 0;
  for (int i = 0; i < many; ++i) {
    const ConeSystem system = cone_system(GetParam());
    const Pair p = random_pair(sampler, system, 2 + i % 4);
    const Element u = element(system, p.u), v = element(system, p.v);
    const double margin = u.shadow - v.shadow - base_distance(system.family->base, u.axis, v.axis);
    if (std::abs(margin) < border) {
      ++undecided;
      continue;
    }
    const bool found = is_ancestor(system.family->base, u, v);
    members += found;
    ASSERT_EQ(found, independent(system, p)) << p.u.x.transpose() << " | " << p.v.x.transpose();
  }
  EXPECT_GT(members, many / 50);
  EXPECT_LT(undecided, 10);
}

TEST_P(EveryFamily, ShadowAndRadialAreInverse) {
  Sampler sampler(12);
  const ConeSystem system = cone_system(GetParam());
  const RadialDomain domain = system.family->domain(system.values);
  for (int i = 0; i < 1000; ++i) {
    const double radial = std::isinf(domain.high) ? domain.low + sampler.uniform(1e-3, 30)
                                                  : sampler.uniform(1e-12, 0.999 * domain.high);
    const double p = system.family->shadow(system.values, radial);
    EXPECT_GT(p, 0);
    EXPECT_LE(p, system.family->largest_shadow(system.values));
    EXPECT_NEAR(system.family->radial(system.values, p) / radial, 1, 1e-11);
  }
}

TEST_P(EveryFamily, OrderIsTransitiveAntisymmetricAndReflexive) {
  Sampler sampler(13);
  const ConeSystem system = cone_system(GetParam());
  const Base base = system.family->base;
  int chains = 0;
  for (int i = 0; i < 30000; ++i) {
    const Eigen::Index d = 2 + i % 3;
    const Pair p = random_pair(sampler, system, d);
    const Element u = element(system, p.u), v = element(system, p.v);
    EXPECT_EQ(relation(base, u, u), Relation::equal);
    EXPECT_FALSE(is_ancestor(base, u, v) && is_ancestor(base, v, u));
    if (!is_ancestor(base, u, v)) continue;
    EXPECT_EQ(energy(base, u, v), 0);
    const Element w = element(system, random_pair(sampler, system, d).u);
    const Element below =
        element_with_shadow(system, walk(base, v.axis, w.axis, v.shadow * 0.4), v.shadow * 0.5);
    ASSERT_TRUE(is_ancestor(base, v, below));
    EXPECT_LE(base_distance(base, u.axis, below.axis), u.shadow - below.shadow + 1e-12);
    ++chains;
  }
  EXPECT_GT(chains, 100);
}

// Brute force: the common ancestor with the smallest shadow, searched over the slice of u and v.
TEST_P(EveryFamily, LcaIsTheLowestCommonAncestorOfASearch) {
  Sampler sampler(14);
  const ConeSystem system = cone_system(GetParam());
  const Base base = system.family->base;
  const double largest = system.family->largest_shadow(system.values);
  int found = 0;
  for (int i = 0; i < 400; ++i) {
    const Pair p = random_pair(sampler, system, 2 + i % 3);
    const Element u = element(system, p.u), v = element(system, p.v);
    const Lca answer = lca(system, u, v);
    double best = HUGE_VAL;
    const int steps = 2000;
    for (int k = 0; k <= steps; ++k) {  // On each axis the smallest shadow that holds both.
      const Vector axis = walk(base, u.axis, v.axis, answer.base * k / steps);
      best = std::min(best, std::max(base_distance(base, axis, u.axis) + u.shadow,
                                     base_distance(base, axis, v.axis) + v.shadow));
    }
    EXPECT_NEAR(best, answer.shadow, answer.base / steps + 1e-12);
    EXPECT_GE(best, answer.shadow - 1e-12);
    EXPECT_EQ(answer.place.has_value(), answer.shadow <= largest);
    if (!answer.place) continue;
    ++found;
    EXPECT_LE(base_distance(base, answer.place->axis, u.axis),
              answer.place->shadow - u.shadow + 1e-12);
    EXPECT_LE(base_distance(base, answer.place->axis, v.axis),
              answer.place->shadow - v.shadow + 1e-12);
    for (int k = 0; k < 50; ++k) {  // Nearby axes out of the slice do no better.
      const Vector step = sampler.normal(u.axis.size()) * 0.01;
      Vector axis = answer.place->axis + step;
      if (base == Base::sphere) axis.normalize();
      const double shadow = std::max(base_distance(base, axis, u.axis) + u.shadow,
                                     base_distance(base, axis, v.axis) + v.shadow);
      EXPECT_GE(shadow, answer.shadow - 1e-12);
    }
  }
  EXPECT_GT(found, 20);
}

TEST_P(EveryFamily, LcaIsSymmetricAndItsDepthIsTheSimilarity) {
  Sampler sampler(15);
  const ConeSystem system = cone_system(GetParam());
  for (int i = 0; i < 2000; ++i) {
    const Pair p = random_pair(sampler, system, 2 + i % 3);
    const Element u = element(system, p.u), v = element(system, p.v);
    const Lca there = lca(system, u, v), back = lca(system, v, u);
    EXPECT_NEAR(there.depth, back.depth, 1e-12 * (1 + std::abs(there.depth)));
    if (there.place && back.place) {
      EXPECT_LT((there.place->axis - back.place->axis).norm(), 1e-12);
    }
  }
}

// Moving the source and the points by one isometry changes nothing.
TEST_P(EveryFamily, IsInvariantUnderIsometries) {
  Sampler sampler(16);
  for (int i = 0; i < 500; ++i) {
    const Eigen::Index d = 2 + i % 3;
    const ConeSystem system = cone_system(GetParam());
    const Isometry f = sampler.isometry(d);
    ConeSystem moved = system;
    moved.to_standard = inverse(f);
    const Pair p = random_pair(sampler, system, d);
    const Lca before = lca(system, element(system, p.u), element(system, p.v));
    const Lca after = lca(moved, element(moved, apply(f, p.u)), element(moved, apply(f, p.v)));
    EXPECT_NEAR(before.shadow, after.shadow, 1e-9 * (1 + before.shadow));
    if (std::abs(before.shadow - system.family->largest_shadow(system.values)) < 1e-6) continue;
    EXPECT_NEAR(before.depth, after.depth, 1e-7 * (1 + std::abs(before.depth)));
    ASSERT_EQ(before.place.has_value(), after.place.has_value());
    if (!before.place) continue;
    const ModelPoint expected = apply(f, place(system, *before.place, Model::halfspace));
    const ModelPoint found = place(moved, *after.place, Model::halfspace);
    EXPECT_LT(distance(expected, found), 1e-6);
  }
}

TEST_P(EveryFamily, DepthIsContinuousWhereTheCommonAncestorVanishes) {
  const ConeSystem system = cone_system(GetParam());
  const double largest = system.family->largest_shadow(system.values);
  if (std::isinf(largest)) {  // A common ancestor always exists.
    EXPECT_EQ(system.family->extension, nullptr);
    return;
  }
  Sampler sampler(17);
  for (int i = 0; i < 200; ++i) {
    const double p = sampler.uniform(0.05, 0.9) * largest, q = sampler.uniform(0.05, 0.9) * largest;
    const double base = 2 * largest - p - q;
    if (base > 3.1 || base < std::abs(p - q)) continue;
    const auto depth_at = [&](double b) {
      const Vector a = system.infinite() ? vec({0}) : vec({1, 0});
      const Vector c = system.infinite() ? vec({b}) : vec({std::cos(b), std::sin(b)});
      return lca(system, element_with_shadow(system, a, p), element_with_shadow(system, c, q))
          .depth;
    };
    EXPECT_NEAR(depth_at(base - 1e-9), depth_at(base + 1e-9), 2e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Cones, EveryFamily,
                         testing::Values("penumbral", "umbral", "penumbral-finite", "umbral-finite",
                                         "ganea"));

// ---- the source recedes ------------------------------------------------------------------------

/// The depth error of a finite family whose source is at height H, as the height of the LCA.
double recession_error(const std::string& name, double parameter, double source_height) {
  const ConeSystem infinite = cone_system(name);
  const bool penumbral = name == "penumbral";
  const double radius = penumbral ? std::log(source_height / parameter) : parameter;
  const ConeSystem finite = with_source(
      cone_system(name + "-finite", {{penumbral ? "source_radius" : "object_radius", radius}}),
      point(Model::halfspace, vec({0.3, source_height})));
  const ModelPoint u = point(Model::halfspace, vec({0, 0.2})),
                   v = point(Model::halfspace, vec({0.5, 0.35}));
  const Lca far = lca(infinite, element(infinite, u), element(infinite, v));
  const Lca near = lca(finite, element(finite, u), element(finite, v));
  return distance(place(infinite, *far.place, Model::halfspace),
                  place(finite, *near.place, Model::halfspace));
}

TEST(Recession, FinitePenumbralConesConvergeWithTheSquareOfTheDistance) {
  const double e1 = recession_error("penumbral", 1, 1e2), e2 = recession_error("penumbral", 1, 1e3);
  EXPECT_LT(e1, 1e-3);
  EXPECT_NEAR(std::log10(e1 / e2), 2, 0.05);
}

TEST(Recession, FiniteUmbralConesConvergeWithTheSquareOfTheDistance) {
  const double e1 = recession_error("umbral", 0.1, 1e2), e2 = recession_error("umbral", 0.1, 1e3);
  EXPECT_LT(e1, 1e-3);
  EXPECT_NEAR(std::log10(e1 / e2), 2, 0.05);
}

// ---- facts -------------------------------------------------------------------------------------

// Every common ancestor of u and v is an ancestor of the LCA exactly when d = 2.
TEST(Lca, IsTheLeastUpperBoundInTheHyperbolicPlaneOnly) {
  Sampler sampler(18);
  for (const ConeFamily* family : cone_families()) {
    const ConeSystem system = cone_system(family->name);
    for (const Eigen::Index d : {2, 3}) {
      int exceptions = 0, common = 0;
      for (int i = 0; i < 40000; ++i) {
        const Pair p = random_pair(sampler, system, d), q = random_pair(sampler, system, d);
        const Element u = element(system, p.u), v = element(system, p.v);
        Element w = element(system, q.u);
        w.axis =
            walk(family->base, u.axis, v.axis, base_distance(family->base, u.axis, v.axis) / 2) +
            sampler.normal(w.axis.size()) * 0.1;
        if (family->base == Base::sphere) w.axis.normalize();
        if (!is_ancestor(family->base, w, u) || !is_ancestor(family->base, w, v)) continue;
        const Lca found = lca(system, u, v);
        ASSERT_TRUE(found.place.has_value());
        ++common;
        exceptions += energy(family->base, w, *found.place) > 1e-9;
      }
      EXPECT_GT(common, 50) << family->name;
      EXPECT_EQ(exceptions > 0, d == 3) << family->name;
    }
  }
}

TEST(Lca, OfEqualHeightsUnderUmbralConesIsTheLaplacianKernel) {
  const ConeSystem system = cone_system("umbral", {{"radius", 0.3}});
  for (const double across : {0.0, 0.1, 1.0, 10.0}) {
    const Element u = element(system, point(Model::halfspace, vec({0, 0.7})));
    const Element v = element(system, point(Model::halfspace, vec({across, 0.7})));
    EXPECT_NEAR(lca(system, u, v).depth, -across / (2 * std::sinh(0.3)) - 0.7,
                1e-13 * (1 + across));
  }
}

TEST(Lca, OfOppositeDirectionsIsTheSameEveryTime) {
  const Vector a = vec({0.6, 0.8, 0}), quarter = walk(Base::sphere, a, -a, M_PI / 2);
  EXPECT_LT((quarter - vec({0.8, -0.6, 0})).norm(), 1e-14);  // towards the first axis
  EXPECT_LT((walk(Base::sphere, -a, a, M_PI / 2) - quarter).norm(), 1e-14);
  const Vector first = vec({1, 0, 0});
  EXPECT_LT((walk(Base::sphere, first, -first, M_PI / 2) - vec({0, 1, 0})).norm(), 1e-14);
  const ConeSystem system = cone_system("penumbral-finite");
  const Element u = element(system, point(Model::ball, a * 0.9)),
                v = element(system, point(Model::ball, -a * 0.8));
  const Lca found = lca(system, u, v);
  EXPECT_FALSE(found.place.has_value());
  EXPECT_NEAR(found.depth, 0, 1e-13);  // The geodesic passes through the source's centre.
}

TEST(Lca, OfEqualPointsAndOnOneAxisIsTheUpperOne) {
  for (const ConeFamily* family : cone_families()) {
    const ConeSystem system = cone_system(family->name);
    const Vector axis = family->base == Base::plane ? vec({0.3, 0.1}) : vec({0.6, 0, 0.8});
    const Element high = element_with_shadow(system, axis, 0.5),
                  low = element_with_shadow(system, axis, 0.1);
    EXPECT_EQ(lca(system, high, high).relation, Relation::equal);
    EXPECT_EQ(lca(system, high, low).relation, Relation::u_is_ancestor);
    EXPECT_EQ(lca(system, low, high).relation, Relation::v_is_ancestor);
    EXPECT_EQ(lca(system, low, high).radial, high.radial);
  }
}

TEST(Ganea, IsPenumbralWithSinhRadiusTwiceK) {
  const ConeSystem ganea = cone_system("ganea"),
                   finite = cone_system("penumbral-finite", {{"source_radius", std::asinh(0.2)}});
  EXPECT_NEAR(finite.values[0], 0.19869, 5e-6);
  Sampler sampler(19);
  for (int i = 0; i < 1000; ++i) {
    const Pair p = random_pair(sampler, finite, 3);
    EXPECT_EQ(lca(ganea, element(ganea, p.u), element(ganea, p.v)).depth,
              lca(finite, element(finite, p.u), element(finite, p.v)).depth);
    const double r = std::sinh(finite.values[0]) / std::sinh(distance_to_origin(p.u));
    EXPECT_NEAR(ganea_half_aperture(0.1, p.u.x), std::asin(r), 1e-9);
  }
  const double least = 2 * 0.1 / (1 + std::sqrt(1 + 4 * 0.01));
  EXPECT_NO_THROW((void)element(ganea, point(Model::ball, vec({least + 1e-12, 0}))));
  EXPECT_THROW((void)element(ganea, point(Model::ball, vec({least - 1e-12, 0}))), Error);
}

TEST(Cones, RefuseUnknownFamiliesAndKeys) {
  const auto message = [](const char* family, const std::map<std::string, double>& keys) {
    return fixtures::message_of([&] { return cone_system(family, keys); });
  };
  EXPECT_NE(message("penumbra", {}).find("did you mean 'penumbral'"), std::string::npos);
  EXPECT_EQ(message("umbral", {{"height", 1}}),
            "umbral cones take no parameter 'height' (known: radius)");
  EXPECT_EQ(message("ganea", {{"K", -1}}),
            "parameter K must lie between 1e-15 and 1000000000000000 (found -1)");
}

}  // namespace
}  // namespace conelab::geometry
