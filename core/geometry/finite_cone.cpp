#include "core/geometry/finite_cone.h"

#include <cmath>

namespace conelab::geometry {
namespace {

/// Returns √(sinh(ρ+R) sinh(ρ−R)) = √(sinh²ρ − sinh²R).
double excess(double radius, double rho) {
  return std::sqrt(std::sinh(rho + radius)) * std::sqrt(std::sinh(rho - radius));
}

}  // namespace

// With sin a = tanh R/tanh ρ and sin b = tanh R: p = a − b and
// sin p = (sin²a − sin²b) / (sin a cos b + cos a sin b), where sin²a − sin²b = tanh²R/sinh²ρ.
double penumbral_shadow(double source_radius, double rho) {
  const double sin_b = std::tanh(source_radius), cos_b = 1 / std::cosh(source_radius);
  const double sin_a = sin_b / std::tanh(rho);
  const double cos_a = excess(source_radius, rho) * cos_b / std::sinh(rho);
  const double leverage = sin_b / std::sinh(rho);
  const double sine = leverage * leverage / (sin_a * cos_b + cos_a * sin_b);
  return std::atan2(sine, cos_a * cos_b + sin_a * sin_b);
}

double penumbral_distance(double source_radius, double shadow) {
  const double b = std::asin(std::tanh(source_radius));
  return std::asinh(std::tanh(source_radius) /
                    std::sqrt(std::sin(shadow) * std::sin(shadow + 2 * b)));
}

double penumbral_limit(double source_radius) {
  return std::atan2(1.0, std::sinh(source_radius));  // cos = tanh R, sin = 1/cosh R
}

double penumbral_reach(double rho_u, double rho_v, double angle) {
  const double a = std::sinh(rho_u), b = std::sinh(rho_v);
  const double half =
      std::hypot(std::sinh((rho_u - rho_v) / 2), std::sqrt(a) * std::sqrt(b) * std::sin(angle / 2));
  return std::asinh(a * std::sin(angle) / half * (b / (2 * std::hypot(1.0, half))));
}

double umbral_shadow(double object_radius, double rho) {
  return std::atan2(std::sinh(object_radius), excess(object_radius, rho));
}

double umbral_distance(double object_radius, double shadow) {
  return std::asinh(std::sinh(object_radius) / std::sin(shadow));
}

double umbral_reach(double rho_u, double rho_v, double angle) {
  const double a = std::sinh(rho_u), b = std::sinh(rho_v);
  const double chord = std::hypot(a - b, 2 * std::sqrt(a) * std::sqrt(b) * std::sin(angle / 2));
  return std::asinh(a * std::sin(angle) / chord * b);
}

}  // namespace conelab::geometry
