// A similarity with a fixed point u at any point of the half-plane: K(u, ·), which attention uses,
// of a cone family, or another one (plane_similarity.h).
//
// For a family it evaluates the law of core/geometry/cone_law.h without its vectors, because a
// picture needs some ten thousand values. If there is no common ancestor, the value is the family's
// extension, as in attention.
#pragma once

#include "core/figure/colour_map.h"
#include "core/figure/plane_similarity.h"
#include "core/geometry/cone_depth.h"
#include "core/geometry/cone_law.h"

namespace conelab::figure {

/// A point of the plane in the coordinates of the law: axis (x, or the angle seen from the source),
/// shadow radius p, and radial coordinate.
struct LawPoint {
  double axis = 0, shadow = 0, radial = 0;
};

class SimilarityField {
 public:
  struct Value {
    LawPoint place;
    double similarity = 0;  ///< K(u, x).
    /// x is outside the domain of the family; the family's similarity is that of its border.
    bool outside = false;
    bool extended = false;  ///< u and x have no common ancestor.
  };

  /// `u` is a point of the half-plane in the domain of the family. `other` replaces the similarity
  /// of the family; null: none.
  SimilarityField(const geometry::ConeSystem& system, const Eigen::Vector2d& u,
                  geometry::DepthMeasure measure, const PlaneSimilarityInfo* other);
  [[nodiscard]] Value at(const Eigen::Vector2d& x) const;
  /// Returns the values at which colours begin and end. For finite families, and for the depth by
  /// distance, they end at the depth of u itself, which K(u, ·) cannot exceed.
  [[nodiscard]] SimilarityRange range(const PlanePart& part) const;

 private:
  [[nodiscard]] LawPoint locate(const Eigen::Vector2d& x, bool& outside) const;
  [[nodiscard]] double radial_of_lca(const LawPoint& p, bool& extended) const;

  geometry::ConeSystem system_;
  geometry::RadialDomain domain_;
  geometry::DepthMeasure measure_;
  const PlaneSimilarityInfo* other_;
  Eigen::Vector2d u_place_, source_;
  double largest_;
  LawPoint u_;
};

/// Returns 256 colours for a layer of heat below other parts of a picture: a colour map mixed with
/// the ground; fainter for points that have no common ancestor with u.
[[nodiscard]] std::vector<Colour> heat_colours(ColourMap map, Colour ground, bool extended);

}  // namespace conelab::figure
