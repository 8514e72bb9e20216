// The cone families: one table row each, one file each.
//
// Every point x casts a shadow on the boundary of H^d, as seen from the source of light: a ball of
// the base space (the boundary R^{d−1} for a source at infinity, the unit sphere of directions for
// a finite one) about the axis of x. Let p(x) be the shadow's radius. Then u is an ancestor of v
// (u ≼ v, v lies in the cone of u) exactly when v's shadow lies in u's:
//
//     base(u,v) ≤ p(u) − p(v) = s(v) − s(u)
//
// with the potential s(x) = s(∞) − p(x) of the specification. p is what the code carries, because
// it keeps its digits where s has rounded to s(∞). The law, the LCA, the existence test and the
// similarity follow from (base, p, depth) and are written once, in cone_law.h. A family provides:
//
//   family            p(x)                              s(∞)          p ≤   radial(p)
//   penumbral         x_d²/(h+√(h²−x_d²))               h             h     √(p(2h−p))
//   umbral            x_d sinh r                        0             ∞     p/sinh r
//   penumbral-finite  asin(tanh R/tanh ρ)−asin(tanh R)  acos(tanh R)  s(∞)  see its file
//   umbral-finite     asin(sinh r/sinh ρ)               0             π/2   asinh(sinh r/sin p)
//   ganea             that of penumbral-finite, sinh R = 2K
//
// A new family is one file that defines its row, and one line in cone_family.cpp.
// Source: Tseng et al., "Coneheads: Hierarchy Aware Attention" (2023), eq. 5-8; Yu et al., "Shadow
// Cones" (2023); Ganea et al., "Hyperbolic Entailment Cones" (2018).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/parameter.h"
#include "core/geometry/model.h"

namespace conelab::geometry {

/// Where shadows lie. `plane`: R^{d−1} with the Euclidean distance; the radial coordinate of a
/// point is its height. `sphere`: unit vectors with the angle; it is ρ, the distance to the source.
enum class Base { plane, sphere };

/// A family's parameters in the order of its row.
using Values = std::vector<double>;

/// Open interval of the radial coordinate, and what its finite bound is, for error messages.
struct RadialDomain {
  double low, high;
  const char* bound;
};

/// A row of the table. Functions take radial coordinates inside the domain.
struct ConeFamily {
  const char* name;   ///< Also the similarity's name.
  const char* about;  ///< One line with the paper.
  std::vector<ParameterInfo> parameters;
  Base base;
  RadialDomain (*domain)(const Values&);
  double (*shadow)(const Values&, double radial);  ///< p > 0.
  double (*radial)(const Values&, double shadow);  ///< The inverse of `shadow`.
  double (*top_potential)(const Values&);          ///< s(∞).
  double (*largest_shadow)(const Values&);         ///< p at s_min; beyond it nothing casts one.
  /// The radial coordinate shown where u and v have no common ancestor: that of the nearest
  /// smaller light (or object) for which they would have one. Null when they always have.
  double (*extension)(const Values&, double u, double v, double base);
  /// The parameters of that light (or object), from the radial coordinate that `extension` gave:
  /// under them u and v have a common ancestor at the border of the domain. Null with `extension`.
  Values (*extended)(const Values&, double radial);
  /// Whether the light has an extent, a ball or a horoball; otherwise each object is a ball.
  bool penumbral;
  /// The radius of that ball, or the height of that horoball.
  double (*extent)(const Values&);
  const char* advice;  ///< What to do where no token is an ancestor of another.
};

/// Every family, in the order of the specification.
[[nodiscard]] const std::vector<const ConeFamily*>& cone_families();
/// Their names: "penumbral|umbral|...".
[[nodiscard]] std::string cone_family_names(const char* separator);
/// Misuse for an unknown name, with the nearest known name and the list.
[[nodiscard]] const ConeFamily& cone_family(const std::string& name);
/// Defaults overwritten by `given`. Misuse: a key the family does not take (names those it takes),
/// a value outside its domain.
[[nodiscard]] Values family_values(const ConeFamily& family,
                                   const std::map<std::string, double>& given = {});

// The rows.
extern const ConeFamily penumbral_family, umbral_family, penumbral_finite_family,
    umbral_finite_family, ganea_family;

}  // namespace conelab::geometry
