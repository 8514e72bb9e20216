#include "core/token/model_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/cone_parameters.h"
#include "core/base/squared_norm.h"

namespace conelab {
namespace {

int all_coordinates(int feature) { return feature; }
int all_but_last(int feature) { return feature - 1; }

const char* place_euclidean(const ModelMapContext&, const TokenNumbers&, Scaling&, EmbeddedPoint&) {
  return nullptr;
}
TokenGradient euclidean_gradient(const ModelMapContext&, const TokenNumbers&, const PlaceGradient&,
                                 double*) {
  return {};
}

const char* place_half_space(const ModelMapContext& c, const TokenNumbers& x, Scaling&,
                             EmbeddedPoint& place) {
  place = {x.last, c.light - x.last};
  return x.last <= 0 ? "its height must be above 0" : nullptr;
}
TokenGradient half_space_gradient(const ModelMapContext&, const TokenNumbers&,
                                  const PlaceGradient& up, double* dp) {
  dp[0] += up.place.light_distance;
  return {1, 0, up.place.height - up.place.light_distance};
}

double psi_rate(const ModelMapContext& c) { return c.published_code ? 1.0 / c.feature : 1.0; }

const char* place_psi(const ModelMapContext& c, const TokenNumbers& x, Scaling& base,
                      EmbeddedPoint& place) {
  base.factor = std::exp(x.last * psi_rate(c));
  place = {base.factor, c.light - base.factor};
  return nullptr;
}
TokenGradient psi_gradient(const ModelMapContext& c, const TokenNumbers& x, const PlaceGradient& up,
                           double* dp) {
  const double factor = std::exp(x.last * psi_rate(c));
  const double by_factor = up.along + up.place.height - up.place.light_distance;
  dp[0] += up.place.light_distance;
  return {factor, 0, by_factor * factor * psi_rate(c)};
}

constexpr std::array xi_parameters{cone_height};

/// sigma(t) and sigma(-t), computed from one exponential.
struct Sigma {
  double up, down;
  explicit Sigma(double t) {
    const double e = std::exp(-std::abs(t));
    const double large = 1 / (1 + e);
    const double sides[] = {e * large, large};  // No branch, which a random sign would mislead.
    up = sides[t >= 0 ? 1 : 0];
    down = sides[t >= 0 ? 0 : 1];
  }
};

const char* place_xi(const ModelMapContext& c, const TokenNumbers& x, Scaling& base,
                     EmbeddedPoint& place) {
  const Sigma s(x.last);
  base.factor = c.light * s.up;
  place = {base.factor, c.light * s.down};
  return nullptr;
}
TokenGradient xi_gradient(const ModelMapContext& c, const TokenNumbers& x, const PlaceGradient& up,
                          double* dp) {
  const Sigma s(x.last);
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
ExpPoint exp_point(double side2, double up) {
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
constexpr std::array exp_parameters{ParameterInfo{"base_height", 1.0, Domain::positive, true,
                                                  "height p_d of the point that Exp starts from"}};

const char* place_exp(const ModelMapContext& c, const TokenNumbers& x, Scaling& base,
                      EmbeddedPoint& place) {
  const ExpPoint e = exp_point(x.norm2, x.last);
  const double scale = c.p[0] / e.denominator;
  base.factor = e.sinhc * scale;
  place.height = std::min(scale, c.light);
  place.light_distance = c.light - place.height;
  return nullptr;
}
TokenGradient exp_gradient(const ModelMapContext& c, const TokenNumbers& x, const PlaceGradient& up,
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
Scaling direction(const TokenNumbers& x, int count, double sign) {
  if (x.norm2 == 0) return {sign, true};
  // The direction cannot be computed.
  if (std::isinf(x.norm2)) return {std::numeric_limits<double>::quiet_NaN(), false};
  if (count == 1 && std::isfinite(x.first)) return {std::copysign(sign, sign * x.first), true};
  return {sign / std::sqrt(x.norm2), false};
}
/// Returns dL/dx_: of the direction: the tangential part of dL/d(base), divided by |x_:|; 0 if x_:
/// = 0.
TokenGradient direction_gradient(const TokenNumbers& x, double sign, double along) {
  if (x.norm2 == 0) return {0, 0, 0};
  const double scale = sign / std::sqrt(x.norm2);
  return {scale, -scale * along / x.norm2, 0};
}

/// A negative radius means the opposite direction with the positive radius.
const char* place_pi(const ModelMapContext& c, const TokenNumbers& x, Scaling& base,
                     EmbeddedPoint& place) {
  base = direction(x, c.feature - 1, x.last < 0 ? -1 : 1);
  place.height = std::abs(x.last);
  return nullptr;
}
TokenGradient pi_gradient(const ModelMapContext&, const TokenNumbers& x, const PlaceGradient& up,
                          double*) {
  const double sign = x.last < 0 ? -1 : 1;
  TokenGradient dx = direction_gradient(x, sign, up.along);
  dx.last = sign * up.place.height;
  return dx;
}

/// Points (x_s, x_t) of the hyperboloid, with r = asinh |x_s|.
const char* place_hyperboloid(const ModelMapContext& c, const TokenNumbers& x, Scaling& base,
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
TokenGradient space_gradient(const ModelMapContext&, const TokenNumbers& x, const PlaceGradient& up,
                             double*) {
  TokenGradient dx = direction_gradient(x, 1, up.along);
  if (x.norm2 > 0) dx.by_token += up.place.height / std::sqrt(x.norm2 * (1 + x.norm2));
  return dx;
}

/// The point (x, sqrt(1 + |x|^2)) of the hyperboloid above x, with r = asinh |x|.
const char* place_lift(const ModelMapContext& c, const TokenNumbers& x, Scaling& base,
                       EmbeddedPoint& place) {
  base = direction(x, c.feature, 1);
  place.height = std::asinh(std::sqrt(x.norm2));
  return nullptr;
}

/// Coordinates of the Poincare ball, with rho = 2 artanh |x|.
const char* place_ball(const ModelMapContext& c, const TokenNumbers& x, Scaling& base,
                       EmbeddedPoint& place) {
  base = direction(x, c.feature, 1);
  const double norm = std::sqrt(x.norm2);
  if (norm >= 1) return "it must lie inside the unit ball";
  place.height = 2 * std::atanh(norm);
  place.light_distance = place.height - c.light;
  return nullptr;
}
TokenGradient ball_gradient(const ModelMapContext&, const TokenNumbers& x, const PlaceGradient& up,
                            double* dp) {
  TokenGradient dx = direction_gradient(x, 1, up.along);
  dx.by_token +=
      (up.place.height + up.place.light_distance) * 2 / (std::sqrt(x.norm2) * (1 - x.norm2));
  dp[0] -= up.place.light_distance;
  return dx;
}

const char* place_polar(const ModelMapContext& c, const TokenNumbers& x, Scaling& base,
                        EmbeddedPoint& place) {
  base = direction(x, c.feature - 1, 1);
  place.light_distance = std::max(x.last, 0.0) + std::log1p(std::exp(-std::abs(x.last)));
  place.height = c.light + place.light_distance;
  return nullptr;
}
TokenGradient polar_gradient(const ModelMapContext&, const TokenNumbers& x, const PlaceGradient& up,
                             double* dp) {
  TokenGradient dx = direction_gradient(x, 1, up.along);
  dx.last = (up.place.height + up.place.light_distance) * Sigma(x.last).up;
  dp[0] += up.place.height;
  return dx;
}

constexpr std::array table{
    ModelMapRow{.name = "none",
                .about = "tokens as they are (dot, laplacian)",
                .space = Space::euclidean,
                .inside_domain = true,
                .base_size = &all_coordinates,
                .place = &place_euclidean,
                .gradient = &euclidean_gradient},
    ModelMapRow{.name = "none",
                .about = "tokens are half-space coordinates (penumbral, umbral, hyperbolic with "
                         "model=halfspace)",
                .space = Space::half_space,
                .base_size = &all_but_last,
                .place = &place_half_space,
                .gradient = &half_space_gradient},
    ModelMapRow{.name = "psi",
                .about = "(x_: e^{x_d}, e^{x_d})",
                .paper = "Coneheads eq. 10",
                .space = Space::half_space,
                .base_size = &all_but_last,
                .place = &place_psi,
                .gradient = &psi_gradient},
    ModelMapRow{.name = "xi",
                .about = "(x_: h sigma(x_d), h sigma(x_d)), sigma(t) = 1/(1 + e^-t), below the "
                         "light at height h",
                .paper = "Coneheads eq. 11",
                .space = Space::half_space,
                .parameters = xi_parameters,
                .inside_domain = true,
                .base_size = &all_but_last,
                .place = &place_xi,
                .gradient = &xi_gradient},
    ModelMapRow{.name = "exp",
                .about = "(x_: S t, min(t, h)), S = sinh(|x|)/|x|, t = base_height/(cosh|x| - x_d "
                         "S): Exp at (0, ..., 0, base_height), clamped to the light at height h "
                         "where there is one",
                .paper = "Coneheads eq. 9",
                .space = Space::half_space,
                .parameters = exp_parameters,
                .inside_domain = true,
                .by_norm = true,
                .base_size = &all_but_last,
                .place = &place_exp,
                .gradient = &exp_gradient},
    ModelMapRow{.name = "pi",
                .about = "(sinh(r) u, cosh r), u = x_:/|x_:|, the first axis where x_: = 0, r = "
                         "x_d",
                .paper = "Coneheads eq. 13",
                .space = Space::hyperboloid,
                .inside_domain = true,
                .by_norm = true,
                .base_size = &all_but_last,
                .place = &place_pi,
                .gradient = &pi_gradient},
    ModelMapRow{.name = "none",
                .about = "tokens are points (x_s, x_t) of the hyperboloid (hyperbolic)",
                .space = Space::hyperboloid,
                .inside_domain = true,
                .by_norm = true,
                .base_size = &all_but_last,
                .place = &place_hyperboloid,
                .gradient = &space_gradient},
    ModelMapRow{.name = "lift",
                .about = "(x, sqrt(1 + |x|^2)), the Weierstrass lift to the hyperboloid",
                .space = Space::hyperboloid,
                .inside_domain = true,
                .by_norm = true,
                .base_size = &all_coordinates,
                .place = &place_lift,
                .gradient = &space_gradient},
    ModelMapRow{.name = "none",
                .about = "tokens are points of the Poincare ball, the source at its origin "
                         "(penumbral-finite, umbral-finite, ganea)",
                .space = Space::ball,
                .by_norm = true,
                .base_size = &all_coordinates,
                .place = &place_ball,
                .gradient = &ball_gradient},
    ModelMapRow{
        .name = "polar",
        .about =
            "direction x_:/|x_:|, the first axis where x_: = 0, distance rho_0 + log(1 + e^{x_d}) "
            "from the source's centre; rho_0 = source_radius, object_radius, or asinh(2K)",
        .space = Space::ball,
        .inside_domain = true,
        .by_norm = true,
        .base_size = &all_but_last,
        .place = &place_polar,
        .gradient = &polar_gradient}};

}  // namespace

TokenNumbers token_numbers(const ModelMapRow& map, const ModelMapContext& context,
                           const double* x) {
  if (context.feature == 0) return {};
  const double norm2 = map.by_norm ? squared_norm(x, map.base_size(context.feature)) : 0;
  return {norm2, x[0], x[context.feature - 1]};
}

const char* place_token(const ModelMapRow& map, const ModelMapContext& context, const double* x,
                        double* base, EmbeddedPoint& place) {
  const int m = map.base_size(context.feature);
  Scaling scaling;
  const char* wrong = map.place(context, token_numbers(map, context, x), scaling, place);
  for (int i = 0; i < m; ++i) base[i] = scaling.along_first ? 0 : scaling.factor * x[i];
  if (scaling.along_first && m > 0) base[0] = scaling.factor;
  return wrong;
}

std::span<const ModelMapRow> model_map_table() { return table; }

const ModelMapRow* find_model_map(const std::string& name, Space space) {
  for (const ModelMapRow& row : table) {
    if (name == row.name && space == row.space) return &row;
  }
  return nullptr;
}

}  // namespace conelab
