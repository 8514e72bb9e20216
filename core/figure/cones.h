// Figures `cones` and `models`: shadow cones of two points and their lowest common ancestor, for
// any family, in one model of the hyperbolic plane or in all five.
//
// Sources: Tseng et al., "Coneheads" (2023), section 4; Yu et al., "Shadow Cones" (2023). The
// content of a panel is described in cone_panel.h.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/figure/cone_panel.h"

namespace conelab::figure {

struct ConesFigure {
  std::string cone = "penumbral";  ///< A family of core/geometry/cone_family.h.
  /// Parameters of the family. Others have their defaults, except that the objects are larger, so
  /// that they are visible.
  std::map<std::string, double> parameters;
  geometry::Model model = geometry::Model::halfspace;  ///< Used by `cones` only.
  /// Half-plane coordinates [2]; absent: a pair of points that shows the family well.
  std::optional<geometry::Vector> u, v;
  std::optional<geometry::Vector> source;  ///< For finite families; absent: the shared origin.
  bool ancestors = true;                   ///< Whether the region of common ancestors is drawn.
  bool geodesic = false;                   ///< Whether the geodesic from u to v is drawn.
  int levels = 0;                          ///< Number of level lines of K(u, ·).
  bool heat = false;                       ///< Whether K(u, ·) is drawn in colours.
  /// Holds what K is: for infinite families, which depth of the LCA. `similarity` is "cone" or a
  /// name of similarity_field.h, whose level lines are then drawn in place of those of the family.
  geometry::DepthMeasure depth = geometry::DepthMeasure::height;
  std::string similarity = "cone";
  std::vector<std::string> beside;  ///< Used by `cones` only: further families, one panel
                                    ///< each, with the same points.
  std::vector<SceneToken> tokens;   ///< Further points with their names.
  std::string caption;              ///< Text before the description of the result.
  double width = single_column;     ///< [points]
  Metadata metadata;
};

/// Returns the scene of the figure: its system, its points or those that show the family well.
/// Throws misuse as the functions below do.
[[nodiscard]] PanelScene panel_scene(const ConesFigure& figure);
/// Describes the scene in words: the family with its parameters, and the named points in the
/// coordinates of a model.
[[nodiscard]] std::string scene_text(const PanelScene& scene, geometry::Model model);

// Both functions throw misuse for an unknown family, for parameters that it does not have, and for
// points outside its domain; the message names the bound.
[[nodiscard]] DisplayList draw_cones(const ConesFigure& figure);
[[nodiscard]] DisplayList draw_models(const ConesFigure& figure);

}  // namespace conelab::figure
