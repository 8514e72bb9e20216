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
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/figure/hyperbolic_curve.h"

namespace conelab::figure {

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

}  // namespace conelab::figure
