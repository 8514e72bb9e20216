// The families whose light is a ball of radius R about the source.
//
//   penumbral-finite  finite penumbral cones; the parameter is R
//   ganea             Ganea's entailment cones; the parameter K determines R by sinh R = 2K
//
// Formulas: finite_cone.h; the domain is ρ > R. Ganea et al. define their cones by half-aperture
// and angle; a test checks that both definitions agree. K = 0.1 corresponds to R = 0.19869.
// Sources: Shadow Cones (2023); Ganea et al. (2018), eq. 26-28; Coneheads, section 3.
#include <cmath>
#include <limits>

#include "core/base/cone_parameters.h"
#include "core/geometry/cone_family.h"
#include "core/geometry/finite_cone.h"

namespace conelab::geometry {
namespace {

/// Builds the row of a family. `radius_of` returns R of the parameters, `parameter_of` is its
/// inverse, and `bound` names R in messages.
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

constexpr const char* source_bound = "the radius of the source";
double source_radius_of(const Values& v) { return v[0]; }
double radius_as_parameter(double radius) { return radius; }

constexpr const char* ganea_bound = "asinh(2K)";
double ganea_radius_of(const Values& v) { return std::asinh(2 * v[0]); }
double k_of_radius(double radius) { return std::sinh(radius) / 2; }

}  // namespace

const ConeFamily penumbral_finite_family =
    FinitePenumbra<source_radius_of, radius_as_parameter, source_bound>::row(
        "penumbral-finite", "penumbral shadow cones of a ball of light (Shadow Cones)",
        cone_source_radius,
        "Cones depend on source_radius, which under map polar moves the tokens too: smaller and "
        "larger ones order other pairs, if any");

const ConeFamily ganea_family = FinitePenumbra<ganea_radius_of, k_of_radius, ganea_bound>::row(
    "ganea", "Ganea's hyperbolic entailment cones (Ganea et al. 2018)", cone_k,
    "Cones depend on K, which under map polar moves the tokens too: smaller and larger ones order "
    "other pairs, if any");

}  // namespace conelab::geometry
