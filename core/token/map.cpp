#include "core/token/map.h"

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

const char* place_euclidean(const MapContext&, const TokenNumbers&, Scaling&, Place&) {
  return nullptr;
}
void euclidean_gradient(const MapContext& c, const double*, const PlaceGradient& up, double* dx,
                        double*) {
  for (int i = 0; i < c.feature; ++i) dx[i] += up.base[i];
}

const char* place_half_space(const MapContext& c, const TokenNumbers& x, Scaling&, Place& place) {
  place = {x.last, c.light - x.last};
  return x.last <= 0 ? "its height must be above 0" : nullptr;
}
void half_space_gradient(const MapContext& c, const double*, const PlaceGradient& up, double* dx,
                         double* dlight) {
  const int last = c.feature - 1;
  for (int i = 0; i < last; ++i) dx[i] += up.base[i];
  dx[last] += up.place.height - up.place.gap;
  *dlight += up.place.gap;
}

/// For (x_: f, f), which psi and xi share: adds dL/dx_: to dx and returns dL/df.
double scale_gradient(const MapContext& c, const double* x, const PlaceGradient& up, double factor,
                      double* dx) {
  double by_factor = up.place.height;
  for (int i = 0; i < c.feature - 1; ++i) {
    dx[i] += factor * up.base[i];
    by_factor += x[i] * up.base[i];
  }
  return by_factor;
}

double psi_rate(const MapContext& c) { return c.published_code ? 1.0 / c.feature : 1.0; }

const char* place_psi(const MapContext& c, const TokenNumbers& x, Scaling& base, Place& place) {
  base.factor = std::exp(x.last * psi_rate(c));
  place = {base.factor, c.light - base.factor};
  return nullptr;
}
void psi_gradient(const MapContext& c, const double* x, const PlaceGradient& up, double* dx,
                  double* dlight) {
  const double factor = std::exp(x[c.feature - 1] * psi_rate(c));
  const double by_factor = scale_gradient(c, x, up, factor, dx) - up.place.gap;
  dx[c.feature - 1] += by_factor * factor * psi_rate(c);
  *dlight += up.place.gap;
}

constexpr std::array xi_parameters{cone_height};

/// sigma(t) and sigma(-t), computed from one exponential.
struct Sigma {
  double up, down;
  explicit Sigma(double t) {
    const double e = std::exp(-std::abs(t));
    const double large = 1 / (1 + e), small = e * large;
    up = t >= 0 ? large : small;
    down = t >= 0 ? small : large;
  }
};

const char* place_xi(const MapContext& c, const TokenNumbers& x, Scaling& base, Place& place) {
  const Sigma s(x.last);
  base.factor = c.light * s.up;
  place = {base.factor, c.light * s.down};
  return nullptr;
}
void xi_gradient(const MapContext& c, const double* x, const PlaceGradient& up, double* dx,
                 double* dlight) {
  const Sigma s(x[c.feature - 1]);
  const double by_factor = scale_gradient(c, x, up, c.light * s.up, dx);
  dx[c.feature - 1] += (by_factor - up.place.gap) * c.light * s.up * s.down;
  *dlight += by_factor * s.up + up.place.gap * s.down;
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
constexpr std::array exp_parameters{ParameterInfo{"base_height", 1.0, Domain::positive, false,
                                                  "height p_d of the point that Exp starts from"}};

const char* place_exp(const MapContext& c, const TokenNumbers& x, Scaling& base, Place& place) {
  const ExpPoint e = exp_point(x.norm2, x.last);
  const double scale = c.p[0] / e.denominator;
  base.factor = e.sinhc * scale;
  place.height = std::min(scale, c.light);
  place.gap = c.light - place.height;
  return nullptr;
}
void exp_gradient(const MapContext& c, const double* x, const PlaceGradient& up, double* dx,
                  double* dlight) {
  const int last = c.feature - 1;
  const ExpPoint e = exp_point(squared_norm(x, last), x[last]);
  const double scale = c.p[0] / e.denominator;
  const bool clamped = scale > c.light;
  double by_scale = clamped ? 0 : up.place.height - up.place.gap;
  double by_sinhc = 0;
  for (int i = 0; i < last; ++i) {
    dx[i] += up.base[i] * e.sinhc * scale;
    by_scale += up.base[i] * x[i] * e.sinhc;
    by_sinhc += up.base[i] * x[i] * scale;
  }
  const double by_denominator = -by_scale * scale / e.denominator;
  // d den / d v_i = v_i (S - v_d S') - [i = d] S,  d S / d v_i = v_i S'
  const double radial =
      by_denominator * (e.sinhc - x[last] * e.sinhc_slope) + by_sinhc * e.sinhc_slope;
  for (int i = 0; i <= last; ++i) dx[i] += radial * x[i];
  dx[last] -= by_denominator * e.sinhc;
  // A height at its bound moves with the light; otherwise the gap depends on the light.
  *dlight += clamped ? up.place.height : up.place.gap;
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
/// Adds dL/dx_: of the direction: the tangential part of dL/d(base), divided by |x_:|; 0 if x_: =
/// 0.
void direction_gradient(const double* x, int count, double sign, const double* up, double* dx) {
  const double norm2 = squared_norm(x, count);
  if (norm2 == 0) return;
  double along = 0;
  for (int i = 0; i < count; ++i) along += x[i] * up[i];
  const double scale = sign / std::sqrt(norm2);
  const double radial = along / norm2;
  for (int i = 0; i < count; ++i) dx[i] += scale * (up[i] - radial * x[i]);
}

/// A negative radius means the opposite direction with the positive radius.
const char* place_pi(const MapContext& c, const TokenNumbers& x, Scaling& base, Place& place) {
  base = direction(x, c.feature - 1, x.last < 0 ? -1 : 1);
  place.height = std::abs(x.last);
  return nullptr;
}
void pi_gradient(const MapContext& c, const double* x, const PlaceGradient& up, double* dx,
                 double*) {
  const int last = c.feature - 1;
  const double sign = x[last] < 0 ? -1 : 1;
  direction_gradient(x, last, sign, up.base, dx);
  dx[last] += sign * up.place.height;
}

/// Points (x_s, x_t) of the hyperboloid, with r = asinh |x_s|.
const char* place_hyperboloid(const MapContext& c, const TokenNumbers& x, Scaling& base,
                              Place& place) {
  base = direction(x, c.feature - 1, 1);
  const double norm = std::sqrt(x.norm2);
  place.height = std::asinh(norm);
  const double time = std::hypot(1.0, norm);
  return std::abs(x.last - time) > 1e-3 * time
             ? "it must lie on the hyperboloid, x_t = sqrt(1 + |x_s|^2)"
             : nullptr;
}
/// Adds dL/dx_s of x_s/|x_s| and asinh |x_s|, for x_s [count].
void add_space_gradient(const double* x, int count, const PlaceGradient& up, double* dx) {
  direction_gradient(x, count, 1, up.base, dx);
  const double norm2 = squared_norm(x, count);
  if (norm2 == 0) return;
  const double rate = up.place.height / std::sqrt(norm2 * (1 + norm2));
  for (int i = 0; i < count; ++i) dx[i] += rate * x[i];
}
void hyperboloid_gradient(const MapContext& c, const double* x, const PlaceGradient& up, double* dx,
                          double*) {
  add_space_gradient(x, c.feature - 1, up, dx);
}

/// The point (x, sqrt(1 + |x|^2)) of the hyperboloid above x, with r = asinh |x|.
const char* place_lift(const MapContext& c, const TokenNumbers& x, Scaling& base, Place& place) {
  base = direction(x, c.feature, 1);
  place.height = std::asinh(std::sqrt(x.norm2));
  return nullptr;
}
void lift_gradient(const MapContext& c, const double* x, const PlaceGradient& up, double* dx,
                   double*) {
  add_space_gradient(x, c.feature, up, dx);
}

/// Coordinates of the Poincare ball, with rho = 2 artanh |x|.
const char* place_ball(const MapContext& c, const TokenNumbers& x, Scaling& base, Place& place) {
  base = direction(x, c.feature, 1);
  const double norm = std::sqrt(x.norm2);
  if (norm >= 1) return "it must lie inside the unit ball";
  place.height = 2 * std::atanh(norm);
  place.gap = place.height - c.light;
  return nullptr;
}
void ball_gradient(const MapContext& c, const double* x, const PlaceGradient& up, double* dx,
                   double* dlight) {
  direction_gradient(x, c.feature, 1, up.base, dx);
  const double norm2 = squared_norm(x, c.feature);
  const double rate = (up.place.height + up.place.gap) * 2 / (std::sqrt(norm2) * (1 - norm2));
  for (int i = 0; i < c.feature; ++i) dx[i] += rate * x[i];
  *dlight -= up.place.gap;
}

const char* place_polar(const MapContext& c, const TokenNumbers& x, Scaling& base, Place& place) {
  base = direction(x, c.feature - 1, 1);
  place.gap = std::max(x.last, 0.0) + std::log1p(std::exp(-std::abs(x.last)));
  place.height = c.light + place.gap;
  return nullptr;
}
void polar_gradient(const MapContext& c, const double* x, const PlaceGradient& up, double* dx,
                    double* dlight) {
  const int last = c.feature - 1;
  direction_gradient(x, last, 1, up.base, dx);
  dx[last] += (up.place.height + up.place.gap) * Sigma(x[last]).up;
  *dlight += up.place.height;
}

constexpr std::array table{
    MapRow{"none",
           "tokens as they are (dot, laplacian)",
           Space::euclidean,
           {},
           true,
           false,
           &all_coordinates,
           &place_euclidean,
           &euclidean_gradient},
    MapRow{"none",
           "tokens are half-space coordinates (penumbral, umbral, hyperbolic with model=halfspace)",
           Space::half_space,
           {},
           false,
           false,
           &all_but_last,
           &place_half_space,
           &half_space_gradient},
    MapRow{"psi",
           "(x_: e^{x_d}, e^{x_d}) (Coneheads eq. 10)",
           Space::half_space,
           {},
           false,
           false,
           &all_but_last,
           &place_psi,
           &psi_gradient},
    MapRow{"xi", "(x_: h sigma(x_d), h sigma(x_d)), below the light at height h (Coneheads eq. 11)",
           Space::half_space, xi_parameters, true, false, &all_but_last, &place_xi, &xi_gradient},
    MapRow{"exp",
           "(x_: S t, min(t, h)), S = sinh(|x|)/|x|, t = base_height/(cosh|x| - x_d S): Exp at (0, "
           "..., 0, base_height), clamped to the light at height h where there is one (Coneheads "
           "eq. 9)",
           Space::half_space, exp_parameters, true, true, &all_but_last, &place_exp, &exp_gradient},
    MapRow{
        "pi",
        "(sinh(r) u, cosh r), u = x_:/|x_:|, the first axis where x_: = 0, r = x_d (Coneheads eq. "
        "13)",
        Space::hyperboloid,
        {},
        true,
        true,
        &all_but_last,
        &place_pi,
        &pi_gradient},
    MapRow{"none",
           "tokens are points (x_s, x_t) of the hyperboloid (hyperbolic)",
           Space::hyperboloid,
           {},
           true,
           true,
           &all_but_last,
           &place_hyperboloid,
           &hyperboloid_gradient},
    MapRow{"lift",
           "(x, sqrt(1 + |x|^2)), the Weierstrass lift to the hyperboloid",
           Space::hyperboloid,
           {},
           true,
           true,
           &all_coordinates,
           &place_lift,
           &lift_gradient},
    MapRow{"none",
           "tokens are points of the Poincare ball, the source at its origin (penumbral-finite, "
           "umbral-finite, ganea)",
           Space::ball,
           {},
           false,
           true,
           &all_coordinates,
           &place_ball,
           &ball_gradient},
    MapRow{"polar",
           "direction x_:/|x_:|, the first axis where x_: = 0, distance rho_0 + log(1 + e^{x_d}) "
           "from the source's centre; rho_0 "
           "= source_radius, object_radius, or asinh(2K)",
           Space::ball,
           {},
           true,
           true,
           &all_but_last,
           &place_polar,
           &polar_gradient}};

}  // namespace

TokenNumbers token_numbers(const MapRow& map, const MapContext& context, const double* x) {
  if (context.feature == 0) return {};
  const double norm2 = map.by_norm ? squared_norm(x, map.base_size(context.feature)) : 0;
  return {norm2, x[0], x[context.feature - 1]};
}

const char* place_token(const MapRow& map, const MapContext& context, const double* x, double* base,
                        Place& place) {
  const int m = map.base_size(context.feature);
  Scaling scaling;
  const char* wrong = map.place(context, token_numbers(map, context, x), scaling, place);
  for (int i = 0; i < m; ++i) base[i] = scaling.along_first ? 0 : scaling.factor * x[i];
  if (scaling.along_first && m > 0) base[0] = scaling.factor;
  return wrong;
}

std::span<const MapRow> map_table() { return table; }

const MapRow* find_map(const std::string& name, Space space) {
  for (const MapRow& row : table) {
    if (name == row.name && space == row.space) return &row;
  }
  return nullptr;
}

}  // namespace conelab
