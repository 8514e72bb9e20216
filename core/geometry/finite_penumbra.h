// What the families under a ball of light share: penumbral-finite, whose parameter is the ball's
// radius, and ganea, whose parameter determines it. Formulas in finite_cone.h; valid for ρ > R.
#pragma once

#include <limits>

#include "core/geometry/cone_family.h"
#include "core/geometry/finite_cone.h"

namespace conelab::geometry {

/// The row of a family whose light has the radius `radius_of(values)`; `parameter_of` is the
/// inverse, and `bound` says what R is in messages.
template <double (*radius_of)(const Values&), double (*parameter_of)(double),
          const char* const& bound>
struct FinitePenumbra {
  static RadialDomain domain(const Values& v) {
    return {radius_of(v), std::numeric_limits<double>::infinity(), bound};
  }
  static double shadow(const Values& v, double rho) { return penumbral_shadow(radius_of(v), rho); }
  static double radial(const Values& v, double shadow) {
    return penumbral_distance(radius_of(v), shadow);
  }
  static double limit(const Values& v) { return penumbral_limit(radius_of(v)); }
  static double extension(const Values&, double u, double v, double base) {
    return penumbral_reach(u, v, base);
  }
  static Values extended(const Values&, double radius) { return {parameter_of(radius)}; }

  static ConeFamily row(const char* name, const char* about, const ParameterInfo& parameter,
                        const char* advice) {
    return {name,  about, {parameter}, Base::sphere, domain, shadow,    radial,
            limit, limit, extension,   extended,     true,   radius_of, advice};
  }
};

}  // namespace conelab::geometry
