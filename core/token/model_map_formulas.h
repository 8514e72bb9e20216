// The formulas of model_map.h for host and device.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/similarity/exponential_place.h"
#include "core/similarity/number.h"
#include "core/token/model_map.h"

/// Marks a function as callable on host and device; unlike a formula of pairs it need not be
/// inlined.
#if defined(__CUDACC__)
#define CONELAB_BOTH_SIDES __host__ __device__
#else
#define CONELAB_BOTH_SIDES
#endif

namespace conelab {

/// The largest allowed e^radius of a token on the hyperboloid and in the ball, Euclidean norm of
/// the base coordinates elsewhere, and height and inverse height in the half-space. A pair
/// multiplies up to four of these, as in a squared distance over both heights. float32 can
/// represent such products and their derivatives, and log1p of four times that
/// (core/simd/exponential.h). For float64 the limit only guarantees products of two. A similarity
/// of products of tokens alone multiplies two, whose norms may be as large as the square root of
/// the largest number.
template <class T>
inline constexpr double reach = std::is_same_v<T, float> ? 2.78e9 : 6.7e153;

/// Returns whether T can represent what pairs compute from a token with this squared norm of its
/// base coordinates and this height.
template <class T>
CONELAB_FORMULA inline bool is_within_reach(Space space, Measure measure, double norm2,
                                            double height) {
  if (space == Space::euclidean && measure == Measure::product) {
    return norm2 <= static_cast<double>(std::numeric_limits<T>::max());
  }
  if (space == Space::hyperboloid || space == Space::ball) return height <= std::log(reach<T>);
  return norm2 <= reach<T> * reach<T> &&
         (space == Space::euclidean || (height <= reach<T> && height >= 1 / reach<T>));
}

namespace model_maps {

CONELAB_BOTH_SIDES inline const char* place_euclidean(const ModelMapContext&, const TokenNumbers&,
                                                      Scaling&, EmbeddedPoint&) {
  return nullptr;
}
CONELAB_BOTH_SIDES inline TokenGradient euclidean_gradient(const ModelMapContext&,
                                                           const TokenNumbers&,
                                                           const PlaceGradient&, double*) {
  return {};
}

CONELAB_BOTH_SIDES inline const char* place_half_space(const ModelMapContext& c,
                                                       const TokenNumbers& x, Scaling&,
                                                       EmbeddedPoint& place) {
  place = {x.last, c.light - x.last};
  return x.last <= 0 ? "its height must be above 0" : nullptr;
}
CONELAB_BOTH_SIDES inline TokenGradient half_space_gradient(const ModelMapContext&,
                                                            const TokenNumbers&,
                                                            const PlaceGradient& up, double* dp) {
  dp[0] += up.place.light_distance;
  return {1, 0, up.place.height - up.place.light_distance};
}

CONELAB_BOTH_SIDES inline double psi_rate(const ModelMapContext& c) {
  return c.published_code ? 1.0 / c.feature : 1.0;
}

/// Sets base and place from the place under psi or xi.
CONELAB_BOTH_SIDES inline const char* set_place(const ExponentialPlace<double>& at, Scaling& base,
                                                EmbeddedPoint& place) {
  base.factor = at.height;
  place = {at.height, at.light_distance};
  return nullptr;
}

CONELAB_BOTH_SIDES inline const char* place_psi(const ModelMapContext& c, const TokenNumbers& x,
                                                Scaling& base, EmbeddedPoint& place) {
  return set_place(psi_place(x.last, psi_rate(c), c.light), base, place);
}
CONELAB_BOTH_SIDES inline TokenGradient psi_gradient(const ModelMapContext& c,
                                                     const TokenNumbers& x, const PlaceGradient& up,
                                                     double* dp) {
  const double factor = psi_place(x.last, psi_rate(c), c.light).height;
  const double by_factor = up.along + up.place.height - up.place.light_distance;
  dp[0] += up.place.light_distance;
  return {factor, 0, by_factor * factor * psi_rate(c)};
}

CONELAB_BOTH_SIDES inline const char* place_xi(const ModelMapContext& c, const TokenNumbers& x,
                                               Scaling& base, EmbeddedPoint& place) {
  return set_place(xi_place(x.last, c.light), base, place);
}
CONELAB_BOTH_SIDES inline TokenGradient xi_gradient(const ModelMapContext& c, const TokenNumbers& x,
                                                    const PlaceGradient& up, double* dp) {
  const Sigma<double> s(x.last);
  const double by_factor = up.along + up.place.height;
  dp[0] += by_factor * s.up + up.place.light_distance * s.down;
  return {c.light * s.up, 0, (by_factor - up.place.light_distance) * c.light * s.up * s.down};
}

/// Exp along v with length r at height 1: base = v_: S / den and height = 1 / den, with S =
/// sinh(r)/r and den = cosh r - v_d S, written without cancellation for v_d close to r. `side2` is
/// |v_:|^2 and `up` is v_d.
struct ExpPoint {
  double sinhc;        // sinh(r) / r
  double sinhc_slope;  // (cosh r - sinh(r)/r) / r^2, so that dS/dv_i = v_i * sinhc_slope
  double denominator;
};
CONELAB_BOTH_SIDES inline ExpPoint exp_point(double side2, double up) {
  const double r = std::sqrt(side2 + up * up);
  if (r < 1e-3) {
    const double r2 = r * r;
    return {1 + r2 / 6 + r2 * r2 / 120, 1.0 / 3 + r2 / 30 + r2 * r2 / 840,
            std::cosh(r) - up * (1 + r2 / 6 + r2 * r2 / 120)};
  }
  const double s = std::sinh(r) / r;
  const double ahead = up > 0 ? side2 / (r + up) : r - up;  // r - v_d
  return {s, (std::cosh(r) - s) / (r * r), std::exp(-r) + s * ahead};
}
CONELAB_BOTH_SIDES inline const char* place_exp(const ModelMapContext& c, const TokenNumbers& x,
                                                Scaling& base, EmbeddedPoint& place) {
  const ExpPoint e = exp_point(x.norm2, x.last);
  const double scale = c.p[0] / e.denominator;
  base.factor = e.sinhc * scale;
  place.height = std::min(scale, c.light);
  place.light_distance = c.light - place.height;
  return nullptr;
}
CONELAB_BOTH_SIDES inline TokenGradient exp_gradient(const ModelMapContext& c,
                                                     const TokenNumbers& x, const PlaceGradient& up,
                                                     double* dp) {
  const ExpPoint e = exp_point(x.norm2, x.last);
  const double scale = c.p[0] / e.denominator;
  const bool clamped = scale > c.light;
  const double by_scale =
      up.along * e.sinhc + (clamped ? 0 : up.place.height - up.place.light_distance);
  const double by_denominator = -by_scale * scale / e.denominator;
  dp[1] += by_scale / e.denominator;
  // d den / d v_i = v_i (S - v_d S') - [i = d] S,  d S / d v_i = v_i S'
  const double radial =
      by_denominator * (e.sinhc - x.last * e.sinhc_slope) + up.along * scale * e.sinhc_slope;
  // A height at its bound moves with the light; otherwise the distance from the light does.
  dp[0] += clamped ? up.place.height : up.place.light_distance;
  return {e.sinhc * scale, radial, radial * x.last - by_denominator * e.sinhc};
}

/// Returns sign x_:/|x_:| for x_: [count]. If x_: = 0, returns the first axis, so that the point
/// stays in the model. In one dimension the directions are exactly -1 and 1.
CONELAB_BOTH_SIDES inline Scaling direction(const TokenNumbers& x, int count, double sign) {
  if (x.norm2 == 0) return {sign, true};
  // The direction cannot be computed.
  if (std::isinf(x.norm2)) return {std::numeric_limits<double>::quiet_NaN(), false};
  if (count == 1 && std::isfinite(x.first)) return {std::copysign(sign, sign * x.first), true};
  return {sign / std::sqrt(x.norm2), false};
}
/// Returns dL/dx_: of the direction: the tangential part of dL/d(base), divided by |x_:|; 0 if x_:
/// = 0.
CONELAB_BOTH_SIDES inline TokenGradient direction_gradient(const TokenNumbers& x, double sign,
                                                           double along) {
  if (x.norm2 == 0) return {0, 0, 0};
  const double scale = sign / std::sqrt(x.norm2);
  return {scale, -scale * along / x.norm2, 0};
}

/// A negative radius means the opposite direction with the positive radius.
CONELAB_BOTH_SIDES inline const char* place_pi(const ModelMapContext& c, const TokenNumbers& x,
                                               Scaling& base, EmbeddedPoint& place) {
  base = direction(x, c.feature - 1, x.last < 0 ? -1 : 1);
  place.height = std::abs(x.last);
  return nullptr;
}
CONELAB_BOTH_SIDES inline TokenGradient pi_gradient(const ModelMapContext&, const TokenNumbers& x,
                                                    const PlaceGradient& up, double*) {
  const double sign = x.last < 0 ? -1 : 1;
  TokenGradient dx = direction_gradient(x, sign, up.along);
  dx.last = sign * up.place.height;
  return dx;
}

/// Points (x_s, x_t) of the hyperboloid, with r = asinh |x_s|.
CONELAB_BOTH_SIDES inline const char* place_hyperboloid(const ModelMapContext& c,
                                                        const TokenNumbers& x, Scaling& base,
                                                        EmbeddedPoint& place) {
  base = direction(x, c.feature - 1, 1);
  const double norm = std::sqrt(x.norm2);
  place.height = std::asinh(norm);
  const double time = std::hypot(1.0, norm);
  return std::abs(x.last - time) > 1e-3 * time
             ? "it must lie on the hyperboloid, x_t = sqrt(1 + |x_s|^2)"
             : nullptr;
}
/// Returns dL/dx_s of x_s/|x_s| and asinh |x_s|.
CONELAB_BOTH_SIDES inline TokenGradient space_gradient(const ModelMapContext&,
                                                       const TokenNumbers& x,
                                                       const PlaceGradient& up, double*) {
  TokenGradient dx = direction_gradient(x, 1, up.along);
  if (x.norm2 > 0) dx.by_token += up.place.height / std::sqrt(x.norm2 * (1 + x.norm2));
  return dx;
}

/// The point (x, sqrt(1 + |x|^2)) of the hyperboloid above x, with r = asinh |x|.
CONELAB_BOTH_SIDES inline const char* place_lift(const ModelMapContext& c, const TokenNumbers& x,
                                                 Scaling& base, EmbeddedPoint& place) {
  base = direction(x, c.feature, 1);
  place.height = std::asinh(std::sqrt(x.norm2));
  return nullptr;
}

/// Coordinates of the Poincare ball, with rho = 2 artanh |x|.
CONELAB_BOTH_SIDES inline const char* place_ball(const ModelMapContext& c, const TokenNumbers& x,
                                                 Scaling& base, EmbeddedPoint& place) {
  base = direction(x, c.feature, 1);
  const double norm = std::sqrt(x.norm2);
  if (norm >= 1) return "it must lie inside the unit ball";
  place.height = 2 * std::atanh(norm);
  place.light_distance = place.height - c.light;
  return nullptr;
}
CONELAB_BOTH_SIDES inline TokenGradient ball_gradient(const ModelMapContext&, const TokenNumbers& x,
                                                      const PlaceGradient& up, double* dp) {
  TokenGradient dx = direction_gradient(x, 1, up.along);
  dx.by_token +=
      (up.place.height + up.place.light_distance) * 2 / (std::sqrt(x.norm2) * (1 - x.norm2));
  dp[0] -= up.place.light_distance;
  return dx;
}

CONELAB_BOTH_SIDES inline const char* place_polar(const ModelMapContext& c, const TokenNumbers& x,
                                                  Scaling& base, EmbeddedPoint& place) {
  base = direction(x, c.feature - 1, 1);
  place.light_distance = std::max(x.last, 0.0) + std::log1p(std::exp(-std::abs(x.last)));
  place.height = c.light + place.light_distance;
  return nullptr;
}
CONELAB_BOTH_SIDES inline TokenGradient polar_gradient(const ModelMapContext&,
                                                       const TokenNumbers& x,
                                                       const PlaceGradient& up, double* dp) {
  TokenGradient dx = direction_gradient(x, 1, up.along);
  dx.last = (up.place.height + up.place.light_distance) * Sigma<double>(x.last).up;
  dp[0] += up.place.height;
  return dx;
}

/// Calls work(place, gradient) with the functions of row `index` of model_map_table().
template <class Work>
CONELAB_BOTH_SIDES inline void with_model_map(int index, const Work& work) {
  switch (index) {
    case 0:
      return work(&place_euclidean, &euclidean_gradient);
    case 1:
      return work(&place_half_space, &half_space_gradient);
    case 2:
      return work(&place_psi, &psi_gradient);
    case 3:
      return work(&place_xi, &xi_gradient);
    case 4:
      return work(&place_exp, &exp_gradient);
    case 5:
      return work(&place_pi, &pi_gradient);
    case 6:
      return work(&place_hyperboloid, &space_gradient);
    case 7:
      return work(&place_lift, &space_gradient);
    case 8:
      return work(&place_ball, &ball_gradient);
    case 9:
      return work(&place_polar, &polar_gradient);
    default:
      return;
  }
}

}  // namespace model_maps
}  // namespace conelab
