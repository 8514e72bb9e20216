// Figures `cones` and `models`: shadow cones of two points and their lowest common ancestor, for
// any of the five families, in one model of the hyperbolic plane or in all five.
//
// Source: Tseng et al., "Coneheads" (2023), section 4; Yu et al., "Shadow Cones" (2023). What the
// panels show is said in cone_panel.h.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/figure/cone_panel.h"

namespace conelab::figure {

struct ConesFigure {
  std::string cone = "penumbral";            ///< A family of core/geometry/cone_family.h.
  std::map<std::string, double> parameters;  ///< The family's; others keep their defaults, but for
                                             ///< objects, which are larger so that they are seen.
  geometry::Model model = geometry::Model::halfspace;  ///< `cones` only.
  /// Half-plane coordinates; none: a pair that shows the family well.
  std::optional<geometry::Vector> u, v;
  std::optional<geometry::Vector> source;  ///< Finite families; none: the models' origin.
  bool ancestors = true;                   ///< The region of common ancestors.
  int levels = 0;                          ///< Level lines of K(u, ·).
  std::string caption;                     ///< Comes before the readout.
  double width = single_column;
  Metadata metadata;
};

// Both throw misuse for an unknown family, parameters it does not take, and points outside its
// domain, naming the bound.
[[nodiscard]] DisplayList draw_cones(const ConesFigure& figure);
[[nodiscard]] DisplayList draw_models(const ConesFigure& figure);

}  // namespace conelab::figure
