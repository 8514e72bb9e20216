// The geometric figures: cones in any model, the source receding, convexity, least upper bounds.
//
//   cones               one scene of any of the five families in any of the five models
//   models              the same scene in all five
//   finite-to-infinite  a finite source recedes, its cones become the infinite ones; the error of
//                       the LCA falls with the square of the source's height
//   convexity           a geodesic leaves an umbral cone and stays in a penumbral one
//   lub                 for d = 2 every common ancestor is an ancestor of the LCA, for d = 3 not
// Source: Tseng et al., "Coneheads" (2023), section 4; Yu et al., "Shadow Cones" (2023).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/figure/cone_panel.h"

namespace conelab::figure {

/// What `cones` and `models` draw. Points are half-plane coordinates.
struct ConeFigure {
  std::string cone = "penumbral";
  std::map<std::string, double> parameters;  ///< The family's; others keep their defaults.
  geometry::Model model = geometry::Model::halfspace;
  std::optional<geometry::Vector> u, v;    ///< None: a pair that shows the family well.
  std::optional<geometry::Vector> source;  ///< Finite families; none: the models' origin.
  bool ancestors = true;
  int levels = 0;  ///< Level lines of K(u, ·).
  std::string caption;
  double width = single_column;
  Metadata metadata;
};

[[nodiscard]] DisplayList draw_cone_figure(const ConeFigure& figure);
[[nodiscard]] DisplayList draw_models(const ConeFigure& figure);

/// What the three explanatory figures need.
struct ExplanatoryFigure {
  std::string cone = "penumbral";  ///< finite-to-infinite: penumbral or umbral.
  std::string caption;
  double width = double_column;
  Metadata metadata;
};
[[nodiscard]] DisplayList draw_finite_to_infinite(const ExplanatoryFigure& figure);
[[nodiscard]] DisplayList draw_convexity(const ExplanatoryFigure& figure);
[[nodiscard]] DisplayList draw_lub(const ExplanatoryFigure& figure);

/// The distance between the LCA of an infinite family and that of its finite companion whose
/// source stands at this height (penumbral: its ball touches the horosphere of height 1).
[[nodiscard]] double recession_error(const std::string& cone, double source_height);

}  // namespace conelab::figure
