// A similarity with a fixed point u at any point of the half-plane: K(u, ·), which attention uses,
// of a cone family, or another one (PlaneSimilarity).
//
// For a family it evaluates the law of core/geometry/cone_law.h without its vectors, because a
// picture needs some ten thousand values. If there is no common ancestor, the value is the family's
// extension, as in attention.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/drawing/colour_map.h"
#include "core/figure/hyperbolic_curve.h"
#include "core/geometry/cone_law.h"

namespace conelab::figure {

// Similarities that are not of cones, between two points u and x of the half-plane (d = 2), with
// their default parameters, and the curves on which they are constant.
//
//   dot         u·x / √2        lines orthogonal to u
//   laplacian   −‖u − x‖        Euclidean circles about u
//   hyperbolic  −d(u, x)        hyperbolic circles about u
//
// They are the logits of the operators of these names on the coordinates of the half-plane (map
// `none`). All curves are cycles of the hyperbolic plane, so that each model shows them exactly.
// Source: Tseng et al., "Coneheads" (2023), fig. 1 and section 5.

enum class PlaneSimilarity { dot, laplacian, hyperbolic };

struct PlaneSimilarityInfo {
  PlaneSimilarity similarity;
  const char* name;     ///< That of the operator.
  const char* formula;  ///< In u and x.
};
[[nodiscard]] std::span<const PlaneSimilarityInfo> plane_similarities();
/// Returns the row of this name; null for other names, among them those of cone families.
[[nodiscard]] const PlaneSimilarityInfo* plane_similarity(const std::string& name);

/// Returns the similarity of two points of the half-plane.
[[nodiscard]] double similarity_of(PlaneSimilarity similarity, const Eigen::Vector2d& u,
                                   const Eigen::Vector2d& x);

/// A part of the half-plane: left ≤ x ≤ right, 0 < height ≤ top.
struct PlanePart {
  double left = -1, right = 1, top = 1.5;
};
/// The values of a similarity with u on a part of the plane.
struct SimilarityRange {
  double low = 0, high = 1;
  bool lower = false;  ///< Whether there are values below `low`: near the boundary d(u, x) has no
                       ///< bound, and the range ends at a twentieth of the part's height.
};
[[nodiscard]] SimilarityRange similarity_range(PlaneSimilarity similarity, const Eigen::Vector2d& u,
                                               const PlanePart& part);

/// Returns the round step (1, 2 or 5 times a power of ten) that divides the range into at most
/// `most` parts.
[[nodiscard]] double round_level_step(double low, double high, int most);

/// Returns the curves on which the similarity with u is a multiple of `step` inside the range.
[[nodiscard]] std::vector<Curve> similarity_curves(PlaneSimilarity similarity,
                                                   const Eigen::Vector2d& u,
                                                   const SimilarityRange& range, double step);

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
