#include "core/geometry/aperture.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace conelab::geometry {
namespace {

double arcsine_of_aperture(double sine) {
  if (!(sine >= 0 && sine <= 1)) {
    misuse("no cone has this apex (expected it outside the source; sine of aperture {})", sine);
  }
  return std::asin(sine);
}

}  // namespace

double penumbral_half_aperture(double source_radius, double rho) {
  return arcsine_of_aperture(std::sinh(source_radius) / std::sinh(rho));
}

double umbral_half_aperture(double object_radius, double rho) {
  return arcsine_of_aperture(std::tanh(object_radius) / std::tanh(rho));
}

double infinite_penumbral_half_aperture(double source_height, double height) {
  return arcsine_of_aperture(height / source_height);
}

double infinite_umbral_half_aperture(double object_radius) {
  return std::atan(std::sinh(object_radius));
}

bool in_penumbra(double d_su, double d_sv, double d_uv, double source_radius) {
  const double outside = std::sinh(d_su + source_radius) * std::sinh(d_su - source_radius);
  return std::cosh(d_sv) - std::cosh(d_su) * std::cosh(d_uv) >=
         std::sinh(d_uv) * std::sqrt(std::max(0.0, outside));
}

double ganea_half_aperture(double k, const Vector& x) {
  return arcsine_of_aperture(k * one_minus_squared_norm(x) / x.norm());
}

double ganea_angle(const Vector& x, const Vector& y) {
  const double xx = x.squaredNorm(), yy = y.squaredNorm(), xy = x.dot(y);
  const double numerator = xy * (1 + xx) - xx * (1 + yy);
  const double scale = std::sqrt(xx) * (x - y).norm() * std::sqrt(1 + xx * yy - 2 * xy);
  if (scale == 0) return 0;
  return std::acos(std::clamp(numerator / scale, -1.0, 1.0));
}

}  // namespace conelab::geometry
