// The one law that all cone families obey. It takes a point as (axis, shadow radius p, radial
// coordinate).
//
//     u ≼ v  ⟺  base(u,v) ≤ p_u − p_v                   (v's shadow lies in u's)
//     p(LCA) = max( p_u, p_v, (p_u + p_v + base)/2 )      (the smallest ball that holds both)
//     a common ancestor exists ⟺ p(LCA) ≤ the family's largest shadow
//
// The LCA lies on the base segment (line or great arc) from u towards v, at base distance p(LCA) −
// p_u from u. For d = 2 it is the least upper bound: its ancestors are exactly the common ancestors
// of u and v. For d > 2 it is not. Source: Coneheads (2023), eq. 4-8 and 23.
#pragma once

#include <optional>
#include <string>

#include "core/geometry/cone_family.h"
#include "core/geometry/isometry.h"

namespace conelab::geometry {

/// A family with its parameters and the position of its source.
struct ConeSystem {
  const ConeFamily* family = nullptr;
  Values values;
  /// Maps the source to its standard position: the point ∞ of the half-space for an infinite
  /// source, the shared origin for a finite one. Absent if the source is there already.
  std::optional<Isometry> to_standard;

  [[nodiscard]] bool infinite() const { return family->base == Base::plane; }
};

/// Returns a system whose source is in the standard position. For `parameters` see `family_values`.
[[nodiscard]] ConeSystem cone_system(const std::string& name,
                                     const std::map<std::string, double>& parameters = {});
/// Returns the same family with a finite source at the interior point `source`.
[[nodiscard]] ConeSystem with_source(const ConeSystem& system, const ModelPoint& source);

/// A point as the law uses it.
struct Element {
  Vector axis;        ///< Base::plane: x_: [d−1]; Base::sphere: unit direction [d].
  double radial = 0;  ///< The height, or the distance ρ from the source.
  double shadow = 0;  ///< p, the radius of the shadow.
};

/// Returns the element of a point. Throws misuse outside the domain of the family; the message
/// begins with `label` and names the bound.
[[nodiscard]] Element element(const ConeSystem& system, const ModelPoint& p,
                              const std::string& label = "point");
/// Does the same for the coordinates that the law needs: axis and height, or unit direction and ρ.
[[nodiscard]] Element element_at(const ConeSystem& system, const Vector& axis, double radial,
                                 const std::string& label = "point");
/// Returns the point of an element, in the model `to`.
[[nodiscard]] ModelPoint place(const ConeSystem& system, const Element& e, Model to);
/// Returns the element on this axis with this shadow radius.
[[nodiscard]] Element element_with_shadow(const ConeSystem& system, const Vector& axis,
                                          double shadow);

/// Returns the distance of two axes on the base space.
[[nodiscard]] double base_distance(Base base, const Vector& a, const Vector& b);
/// Returns the point at distance t from a on the segment to b. For opposite directions the great
/// arc is not unique; the one through the first coordinate axis that is not parallel to a is used.
[[nodiscard]] Vector walk(Base base, const Vector& a, const Vector& b, double t);

enum class Relation { u_is_ancestor, v_is_ancestor, equal, unrelated };
/// Returns "u_is_ancestor" and so on, the name of the enumerator.
[[nodiscard]] const char* relation_name(Relation relation);

/// Returns whether u ≼ v, that is, whether v lies in the cone of u. True for u = v.
[[nodiscard]] bool is_ancestor(Base base, const Element& u, const Element& v);
[[nodiscard]] Relation relation(Base base, const Element& u, const Element& v);
/// Returns the potential s = s(∞) − p.
[[nodiscard]] double potential(const ConeSystem& system, double shadow);

/// The lowest common ancestor of two elements.
struct Lca {
  double base = 0;  ///< The distance base(u, v).
  Relation relation = Relation::unrelated;
  double shadow = 0;             ///< p(LCA), even if it exceeds the largest shadow.
  std::optional<Element> place;  ///< The LCA; absent if there is no common ancestor.
  double radial = 0;             ///< Its radial coordinate; if absent, `ConeFamily::extension`.
  double depth = 0;              ///< −radial for an infinite source, +radial for a finite one.
};
[[nodiscard]] Lca lca(const ConeSystem& system, const Element& u, const Element& v);

// How deep an element of a cone family is: what attention reads off the lowest common ancestor.
//
//                 infinite source                           finite source
//   height        −height                                   ρ
//   distance      −ln(height/h) penumbral, −ln height umbral    ρ
//
// The `distance` depth of a penumbral family is its hyperbolic distance from the light; the
// light of umbral cones is infinitely far, and ln height is that distance up to a constant. Finite
// families are distances already. Source: Coneheads (2023), eq. 4; `depth` in
// core/similarity/penumbral_distance.h and umbral_distance.h.

enum class DepthMeasure { height, distance };
/// Returns the measure of the name "height" or "distance". Throws misuse for another name.
[[nodiscard]] DepthMeasure depth_measure(const std::string& name);

/// Returns the depth of the radial coordinate, which grows away from the light.
[[nodiscard]] double depth_of(const ConeSystem& system, double radial, DepthMeasure measure);
/// Returns the radial coordinate of a depth, the inverse of `depth_of`.
[[nodiscard]] double radial_of(const ConeSystem& system, double depth, DepthMeasure measure);

}  // namespace conelab::geometry
