// The one law of all cone families, over (axis, shadow radius p, radial coordinate) triples.
//
//     u ≼ v  ⟺  base(u,v) ≤ p_u − p_v                   (v's shadow lies in u's)
//     p(LCA) = max( p_u, p_v, (p_u + p_v + base)/2 )      (the smallest ball that holds both)
//     a common ancestor exists ⟺ p(LCA) ≤ the family's largest shadow
//
// The LCA stands on the base segment (line or great arc) from u towards v, at base distance
// p(LCA) − p_u from u. For d = 2 it is the least upper bound, so that its ancestors are exactly the
// common ancestors of u and v; for d > 2 it is not. Coneheads (2023), eq. 4-8 and 23.
#pragma once

#include <optional>

#include "core/geometry/cone_family.h"
#include "core/geometry/isometry.h"

namespace conelab::geometry {

/// A family with its parameters, and where its source is.
struct ConeSystem {
  const ConeFamily* family = nullptr;
  Values values;
  /// Carries the source to its standard place: ∞ of the half-space for an infinite source, the
  /// shared origin for a finite one. None: it is there already.
  std::optional<Isometry> to_standard;

  [[nodiscard]] bool infinite() const { return family->base == Base::plane; }
};

/// A system with its source in the standard place; parameters as in `family_values`.
[[nodiscard]] ConeSystem cone_system(const std::string& name,
                                     const std::map<std::string, double>& parameters = {});
/// The same family with its source elsewhere. Finite: `source` is an interior point.
[[nodiscard]] ConeSystem with_source(const ConeSystem& system, const ModelPoint& source);
/// Infinite: the source is boundary point a [d−1] of the half-space; the horosphere of a penumbral
/// source of height h is then ‖z−a‖² = height/h.
[[nodiscard]] ConeSystem with_ideal_source(const ConeSystem& system, const Vector& a);

/// A point as the law sees it.
struct Element {
  Vector axis;        ///< Base::plane: x_: [d−1]; Base::sphere: unit direction [d].
  double radial = 0;  ///< Height, or distance ρ to the source.
  double shadow = 0;  ///< p, the radius of its shadow.
};

/// Misuse, beginning with `label` and naming the bound, outside the family's domain.
[[nodiscard]] Element element(const ConeSystem& system, const ModelPoint& p,
                              const std::string& label = "point");
/// The same from the coordinates the law needs: axis and height, or unit direction and ρ.
[[nodiscard]] Element element_at(const ConeSystem& system, const Vector& axis, double radial,
                                 const std::string& label = "point");
/// The point of an element, in the model asked for.
[[nodiscard]] ModelPoint place(const ConeSystem& system, const Element& e, Model to);
/// The element with that shadow on that axis.
[[nodiscard]] Element element_with_shadow(const ConeSystem& system, const Vector& axis,
                                          double shadow);

/// Distance on the base space.
[[nodiscard]] double base_distance(Base base, const Vector& a, const Vector& b);
/// The point at distance t from a on the segment to b. For opposite directions the great arc is
/// not unique: the one through the first coordinate axis that is not parallel to a is taken.
[[nodiscard]] Vector walk(Base base, const Vector& a, const Vector& b, double t);

enum class Relation { u_is_ancestor, v_is_ancestor, equal, unrelated };
/// "u_is_ancestor", …
[[nodiscard]] const char* relation_name(Relation relation);

/// u ≼ v: v lies in the cone of u. True for u = v.
[[nodiscard]] bool is_ancestor(Base base, const Element& u, const Element& v);
[[nodiscard]] Relation relation(Base base, const Element& u, const Element& v);
/// How far v is outside the cone of u: max(0, base − (p_u − p_v)), 0 exactly for members.
[[nodiscard]] double energy(Base base, const Element& u, const Element& v);

/// s = s(∞) − p.
[[nodiscard]] double potential(const ConeSystem& system, double shadow);

/// The lowest common ancestor of two elements.
struct Lca {
  double base = 0;  ///< base(u, v).
  Relation relation = Relation::unrelated;
  double shadow = 0;             ///< p(LCA), also where nothing casts so large a shadow.
  std::optional<Element> place;  ///< The LCA itself; none where no common ancestor exists.
  double radial = 0;             ///< Its radial coordinate; the family's extension where none.
  double depth = 0;              ///< −radial for an infinite source, +radial for a finite one.
};
[[nodiscard]] Lca lca(const ConeSystem& system, const Element& u, const Element& v);
/// Only the depth: the similarity at γ = 1.
[[nodiscard]] double lca_depth(const ConeSystem& system, const Element& u, const Element& v);

}  // namespace conelab::geometry
