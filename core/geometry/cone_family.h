// The table of cone families. Each family is one row, defined in a file cone_<name>.cpp.
//
// Seen from the source of light, every point x casts a shadow on the base space. The base space is
// the boundary R^{d−1} for a source at infinity and the unit sphere of directions for a finite
// source. The shadow is a ball about the axis of x (its projection on the base space); let p(x) be
// its radius. u is an ancestor of v (u ≼ v, v lies in the cone of u) iff the shadow of v lies in
// that of u:
//
//     base(u,v) ≤ p(u) − p(v) = s(v) − s(u)
//
// with the potential s(x) = s(∞) − p(x) of the papers. The code stores p, because p keeps its
// digits where s rounds to s(∞). The law, the LCA, the existence test and the similarity follow
// from (base, p, depth) and are written once, in cone_law.h. A family provides:
//
//   family            p(x)                              s(∞)          p ≤   radial(p)
//   penumbral         x_d²/(h+√(h²−x_d²))               h             h     √(p(2h−p))
//   umbral            x_d sinh r                        0             ∞     p/sinh r
//   penumbral-finite  asin(tanh R/tanh ρ)−asin(tanh R)  acos(tanh R)  s(∞)  see its file
//   umbral-finite     asin(sinh r/sinh ρ)               0             π/2   asinh(sinh r/sin p)
//   ganea             that of penumbral-finite, sinh R = 2K
//
// To add a family, define its row in a new file and add one line to cone_family.cpp.
// Sources: Tseng et al., "Coneheads: Hierarchy Aware Attention" (2023), eq. 5-8; Yu et al., "Shadow
// Cones" (2023); Ganea et al., "Hyperbolic Entailment Cones" (2018).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parameter.h"
#include "core/geometry/model.h"

namespace conelab::geometry {

/// The base space. `plane`: R^{d−1} with the Euclidean distance; the radial coordinate of a point
/// is its height. `sphere`: unit vectors [d] with the angle between them as distance; the radial
/// coordinate is ρ, the distance from the source.
enum class Base { plane, sphere };

/// The values of a family's parameters, in the order of `ConeFamily::parameters`.
using Values = std::vector<double>;

/// The open interval (low, high) of the radial coordinate. `bound` names the finite end in
/// messages.
struct RadialDomain {
  double low, high;
  const char* bound;
};

/// A row of the table. The functions expect radial coordinates inside the domain.
struct ConeFamily {
  const char* name;   ///< The name of the family, and of its similarity.
  const char* about;  ///< One line with the paper, for lists.
  std::vector<ParameterInfo> parameters;
  Base base;
  RadialDomain (*domain)(const Values&);
  double (*shadow)(const Values&, double radial);  ///< Returns p > 0.
  double (*radial)(const Values&, double shadow);  ///< The inverse of `shadow`.
  double (*top_potential)(const Values&);          ///< Returns s(∞).
  double (*largest_shadow)(const Values&);         ///< Returns the supremum of p.
  /// Returns the radial coordinate that is shown if u and v (radial coordinates at distance `base`
  /// on the base space) have no common ancestor: that of the nearest smaller light or object for
  /// which they would have one. Null if a common ancestor always exists.
  double (*extension)(const Values&, double u, double v, double base);
  /// Returns the parameters of that light or object, given the result of `extension`. Under these
  /// parameters u and v have a common ancestor on the border of the domain. Null iff `extension` is
  /// null.
  Values (*extended)(const Values&, double radial);
  /// True if the light has an extent (a ball or a horoball); false if each object is a ball
  /// instead.
  bool penumbral;
  /// Returns the radius of that ball, or the height of that horoball.
  double (*extent)(const Values&);
  const char* advice;  ///< What the user can change if no token is an ancestor of another.
};

/// Returns all families, in a fixed order.
[[nodiscard]] const std::vector<const ConeFamily*>& cone_families();
/// Returns their names, joined by `separator`: "penumbral|umbral|...".
[[nodiscard]] std::string cone_family_names(const char* separator);
/// Returns the family of this name, or null.
[[nodiscard]] const ConeFamily* find_cone_family(std::string_view name);
/// Returns the family of this name. Throws misuse for an unknown name; the message lists all names
/// and suggests the nearest one.
[[nodiscard]] const ConeFamily& cone_family(const std::string& name);
/// Returns the default values of the parameters, replaced by those in `given`. Throws misuse for a
/// key that the family does not have (the message lists its keys), and for a value outside its
/// domain.
[[nodiscard]] Values family_values(const ConeFamily& family,
                                   const std::map<std::string, double>& given = {});

// The rows of the table.
extern const ConeFamily penumbral_family, umbral_family, penumbral_finite_family,
    umbral_finite_family, ganea_family;

}  // namespace conelab::geometry
