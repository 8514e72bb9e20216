// Figures that explain the geometry.
//
//   finite-to-infinite  as a finite source recedes, its cones approach the infinite ones; the error
//                       of the LCA falls with the square of the source's height
//   convexity           a geodesic leaves an umbral cone and stays in a penumbral one
//   lub                 every common ancestor is an ancestor of the LCA for d = 2, not for d = 3
// Source: Yu et al., "Shadow Cones" (2023); Tseng et al., "Coneheads" (2023), section 4.
#pragma once

#include <string>

#include "core/figure/cone_panel.h"

namespace conelab::figure {

struct ExplanationFigure {
  std::string cone = "penumbral";  ///< For finite-to-infinite: penumbral or umbral.
  std::string caption;
  double width = double_column;
  Metadata metadata;
};
[[nodiscard]] DisplayList draw_finite_to_infinite(const ExplanationFigure& figure);
[[nodiscard]] DisplayList draw_convexity(const ExplanationFigure& figure);
[[nodiscard]] DisplayList draw_lub(const ExplanationFigure& figure);

/// Returns the distance between the LCA of an infinite family and that of the finite family whose
/// source is at this height. (The source of penumbral-finite touches the horosphere of height 1.)
[[nodiscard]] double recession_error(const std::string& cone, double source_height);

}  // namespace conelab::figure
