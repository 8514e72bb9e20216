// Each similarity's formula, written a second time from its paper: the headers of core/similarity
// are never used here.
#include "core/reference/similarities.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace conelab::reference {
namespace {

// Infinite cones: a = x_d^2, s = sqrt(h^2 - a), D = |u_: - v_:|, u the query and v the key.
//
// convention = paper (Coneheads eq. 5 and 6; eq. 7 corrected, see its eq. 23): logit = -gamma H,
//   D <= s_u + s_v:  H^2 = h^2 - m^2,  m = min(s_u, s_v, (s_u + s_v - D) / 2)
//   else             H^2 = D^2/4 + (a_u + a_v)/2 + ((a_u - a_v) / (2D))^2
// The border belongs to the cone (<=).
//
// convention = reference: logit = -gamma H^2, without the final root. As published by the authors
// (github.com/tsengalb99/coneheads, penumbral.py), with e = 1e-6 and S = sqrt(h^2 - a + e):
//   D <= S_u  or  (D - S_u)^2 + a_v <= h^2:  H^2 = max(a_u, a_v, h^2 - ((S_u + S_v - D) / 2)^2)
//   else                                     H^2 = ((D^2 + a_v - a_u) / (2D + e))^2 + a_u
// So e is added under both roots and in the denominator, but not to a_v in the test: that is
// D <= S_u + s_v, and swapping query and key changes the result by an amount of the order of e.
// With inputs rounded to float32, as theirs were, this gives the published numbers to the last bit.
// The published code takes D from a matrix product above 25 rows; here D is always exact.

constexpr Real epsilon = 1e-6;

/// Returns h^2 - x_d^2 as a product, which does not cancel near the light.
Real below_light(const Point& x, Real h) { return x.light_distance * (h + x.height); }

Real penumbral_height(const Point& u, const Point& v, Real h) {
  const Real distance = std::sqrt(squared_distance(u.base, v.base));
  const Real su = std::sqrt(below_light(u, h));
  const Real sv = std::sqrt(below_light(v, h));
  if (distance <= su + sv) {
    const Real m = std::min(std::min(su, sv), (su + sv - distance) / 2);
    return std::sqrt(h * h - m * m);
  }
  const Real au = u.height * u.height;
  const Real av = v.height * v.height;
  const Real tilt = (au - av) / (2 * distance);
  return std::sqrt(distance * distance / 4 + (au + av) / 2 + tilt * tilt);
}

Real published_penumbral_height2(const Point& u, const Point& v, Real h) {
  const Real distance = std::sqrt(squared_distance(u.base, v.base));
  const Real su = std::sqrt(below_light(u, h) + epsilon);
  const Real sv = std::sqrt(below_light(v, h) + epsilon);
  const Real au = u.height * u.height;
  const Real av = v.height * v.height;
  const Real beyond = distance - su;
  if (distance <= su || beyond * beyond <= below_light(v, h)) {
    const Real m = (su + sv - distance) / 2;
    return std::max(std::max(au, av), h * h - m * m);
  }
  const Real centre = (distance * distance + av - au) / (2 * distance + epsilon);
  return centre * centre + au;
}

// Umbral cones, the light at infinity, objects of hyperbolic radius r: Coneheads eq. 8,
//   H = max(u_d, v_d, D / (2 sinh r) + (u_d + v_d) / 2).
// convention = reference has the same formula behind another map. Its published numbers carry a
// sinh r rounded to float32, which is not imitated.

Real umbral_height(const Point& u, const Point& v, Real r) {
  const Real distance = std::sqrt(squared_distance(u.base, v.base));
  const Real between = distance / (2 * std::sinh(r)) + (u.height + v.height) / 2;
  return std::max(std::max(u.height, v.height), between);
}

// Distances of curvature -1. Half-space: 2 asinh(|u - v| / (2 sqrt(u_d v_d))). Hyperboloid:
// 2 asinh(|x - y|_M / 2), |x|_M^2 = |x_s|^2 - x_t^2, Gulcehre et al. eq. 2: the norm of a
// difference cancels like e^{2r}; in this number type it is good to 1e-12 up to about r = 8.

Real half_space_distance(const Point& u, const Point& v) {
  const Real climb = u.height - v.height;
  const Real chord2 = squared_distance(u.base, v.base) + climb * climb;
  return 2 * std::asinh(std::sqrt(chord2) / (2 * std::sqrt(u.height * v.height)));
}

Real hyperboloid_distance(const Point& x, const Point& y) {
  const Real time = x.height - y.height;
  const Real minkowski2 = squared_distance(x.base, y.base) - time * time;
  // Rounding can leave twins slightly below zero; a NaN stays one.
  return 2 * std::asinh(std::sqrt(minkowski2 < 0 ? Real(0) : minkowski2) / 2);
}

// Cones of a finite source: points are a direction and the distance rho from the centre; theta is
// the angle between two directions.
//   penumbral, light of radius R:  s = arccos(tanh R / tanh rho),  rho(s) = artanh(tanh R / cos s)
//   umbral, objects of radius r:   s = -arcsin(sinh r / sinh rho), rho(s) = arsinh(sinh r / sin -s)
//   m = min(s_u, s_v, (s_u + s_v - theta) / 2)
// Where no common ancestor exists (m < 0; umbral m < -pi/2): the distance of the geodesic uv from
// the centre, sinh R' = sinh rho_u sinh rho_v sin theta / sinh d(u, v); umbral
// sinh rho = a b sin theta / sqrt(a^2 + b^2 - 2 a b cos theta), a = sinh rho_u, b = sinh rho_v.

Real angle(const Point& u, const Point& v) {
  std::vector<Real> opposite = v.base;
  for (Real& c : opposite) c = -c;
  return 2 * std::atan2(std::sqrt(squared_distance(u.base, v.base)),
                        std::sqrt(squared_distance(u.base, opposite)));
}

Real lowest(Real su, Real sv, Real theta) {
  return std::min(std::min(su, sv), (su + sv - theta) / 2);
}

/// sinh^2 of half the distance of two points, as a sum of squares.
Real half_distance2(const Point& u, const Point& v) {
  const Real radial = std::sinh((u.height - v.height) / 2);
  return radial * radial +
         std::sinh(u.height) * std::sinh(v.height) * squared_distance(u.base, v.base) / 4;
}

Real penumbral_depth(const Point& u, const Point& v, Real radius) {
  // 1 - tanh^2 R / tanh^2 rho as a product, which does not cancel near the light.
  const auto potential = [&](Real rho) {
    const Real sine2 = std::sinh(rho - radius) * std::sinh(rho + radius);
    return std::atan2(std::sqrt(sine2) / std::cosh(radius), std::tanh(radius) * std::cosh(rho));
  };
  const Real theta = angle(u, v);
  const Real m = lowest(potential(u.height), potential(v.height), theta);
  if (m >= 0) return std::atanh(std::tanh(radius) / std::cos(m));
  const Real half = half_distance2(u, v);
  const Real sinh_distance = 2 * std::sqrt(half * (1 + half));
  return std::asinh(std::sinh(u.height) * std::sinh(v.height) * std::sin(theta) / sinh_distance);
}

Real umbral_depth(const Point& u, const Point& v, Real radius) {
  const Real a = std::sinh(u.height), b = std::sinh(v.height);
  const auto potential = [&](Real rho) {
    const Real cosine2 = std::sinh(rho - radius) * std::sinh(rho + radius);
    return -std::atan2(std::sinh(radius), std::sqrt(cosine2));
  };
  const Real theta = angle(u, v);
  const Real m = lowest(potential(u.height), potential(v.height), theta);
  if (m >= -std::acos(Real(-1)) / 2) return std::asinh(std::sinh(radius) / std::sin(-m));
  const Real side2 = (a - b) * (a - b) + a * b * squared_distance(u.base, v.base);
  return std::asinh(a * b * std::sin(theta) / std::sqrt(side2));
}

Real product(const Point& a, const Point& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.base.size(); ++i) sum += a.base[i] * b.base[i];
  return sum;
}

Real finite_radius(const Problem& p, std::int64_t head) {
  if (p.call.similarity == "ganea") return std::asinh(2 * p.number("K", head));
  return p.number(p.call.similarity == "umbral-finite" ? "object_radius" : "source_radius", head);
}

// The logits by name.

using Logit = Real (*)(const Problem&, std::int64_t head, const Point& u, const Point& v);

Real dot(const Problem& p, std::int64_t h, const Point& u, const Point& v) {
  return p.number("scale", h) * product(u, v);
}
/// The query is W^T q.
Real bilinear(const Problem&, std::int64_t, const Point& u, const Point& v) {
  return product(u, v);
}
Real laplacian(const Problem& p, std::int64_t h, const Point& u, const Point& v) {
  return -p.number("gamma", h) * std::sqrt(squared_distance(u.base, v.base));
}
Real hyperbolic(const Problem& p, std::int64_t h, const Point& u, const Point& v) {
  const Real distance =
      p.word("model") == "hyperboloid" ? hyperboloid_distance(u, v) : half_space_distance(u, v);
  return -p.number("beta", h) * distance - p.number("offset", h);
}
// depth = distance, for both: the hyperbolic distance along the vertical from height H up to the
// light at h, which is the integral of dy / y; the umbral light is replaced by the height 1.
Real penumbral(const Problem& p, std::int64_t h, const Point& u, const Point& v) {
  const Real light = p.number("height", h);
  if (p.word("depth") == "distance") {
    return p.number("gamma", h) * (std::log(light) - std::log(penumbral_height(u, v, light)));
  }
  return -p.number("gamma", h) *
         (p.published() ? published_penumbral_height2(u, v, light) : penumbral_height(u, v, light));
}
Real umbral(const Problem& p, std::int64_t h, const Point& u, const Point& v) {
  const Real height = umbral_height(u, v, p.number("radius", h));
  return -p.number("gamma", h) * (p.word("depth") == "distance" ? std::log(height) : height);
}
Real penumbral_finite(const Problem& p, std::int64_t h, const Point& u, const Point& v) {
  return p.number("gamma", h) * penumbral_depth(u, v, finite_radius(p, h));
}
Real umbral_finite(const Problem& p, std::int64_t h, const Point& u, const Point& v) {
  return p.number("gamma", h) * umbral_depth(u, v, finite_radius(p, h));
}

/// Returns a.[W q, W k], the mapped tokens W q and W k one behind the other.
Real gat(const Problem& p, std::int64_t h, const Point& u, const Point& v) {
  const Real* a = p.tensor("a", h, 1);
  const std::size_t f = u.base.size();
  Real sum = 0;
  for (std::size_t i = 0; i < f; ++i) sum += a[i] * u.base[i] + a[f + i] * v.base[i];
  return sum > 0 ? sum : p.number("slope", h) * sum;
}
Real additive(const Problem& p, std::int64_t h, const Point& u, const Point& v) {
  const Real* weight = p.tensor("v_a", h, 1);
  Real sum = 0;
  for (std::size_t i = 0; i < u.base.size(); ++i) {
    sum += weight[i] * std::tanh(u.base[i] + v.base[i]);
  }
  return sum;
}
Real relation(const Problem&, std::int64_t, const Point&, const Point&) { return 0; }

struct Formula {
  const char* similarity;
  Logit logit;
  Model model;
  bool finite_source;  ///< Its points lie beyond a radius.
};

constexpr Formula formulas[] = {
    {"dot", &dot, Model::euclidean, false},
    {"multiplicative", &bilinear, Model::euclidean, false},
    {"additive", &additive, Model::euclidean, false},
    {"gat", &gat, Model::euclidean, false},
    {"relation", &relation, Model::euclidean, false},
    {"laplacian", &laplacian, Model::euclidean, false},
    {"hyperbolic", &hyperbolic, Model::hyperboloid, false},
    {"penumbral", &penumbral, Model::half_space, false},
    {"umbral", &umbral, Model::half_space, false},
    {"penumbral-finite", &penumbral_finite, Model::ball, true},
    {"umbral-finite", &umbral_finite, Model::ball, true},
    {"ganea", &penumbral_finite, Model::ball, true},
};

const Formula& similarity_of(const Problem& p) {
  for (const Formula& formula : formulas) {
    if (p.call.similarity == formula.similarity) return formula;
  }
  fail("the reference has no formula of similarity {}: write it in core/reference/similarities.cpp",
       p.call.similarity);
}

}  // namespace

Real similarity(const Problem& p, std::int64_t head, const Point& u, const Point& v) {
  return similarity_of(p).logit(p, head, u, v);
}

MapSettings map_settings(const Problem& p, std::int64_t head) {
  const Formula& formula = similarity_of(p);
  MapSettings settings;
  settings.model = formula.model;
  if (p.call.similarity == "hyperbolic" && p.word("model") == "halfspace") {
    settings.model = Model::half_space;
  }
  settings.light = std::numeric_limits<Real>::infinity();
  if (p.has_number("height")) settings.light = p.number("height", head);
  if (formula.finite_source) settings.light = finite_radius(p, head);
  if (p.has_number("base_height")) settings.base_height = p.number("base_height", head);
  settings.published = p.published();
  return settings;
}

}  // namespace conelab::reference
