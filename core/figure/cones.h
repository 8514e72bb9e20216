// Figure `cones`: shadow cones of two points of the half-plane and their lowest common ancestor.
//
// Infinite setting (Coneheads, Tseng et al. 2023, section 4). Penumbral: the light is the
// half-plane above the horosphere y = h; the cone of u lies between the geodesic arcs of radius h
// centred at (u_x ± √(h² − u_y²), 0), from u down to the boundary. Umbral: the light is at
// infinity, the object a hyperbolic ball of radius r; the cone is the triangle of slopes ± 1/sinh
// r. The same arcs and lines continued upwards from the LCA bound the common ancestors.
#pragma once

#include <string>

#include "core/figure/display_list.h"
#include "core/figure/style.h"

namespace conelab::figure {

enum class InfiniteCone { penumbral, umbral };

struct ConesFigure {
  InfiniteCone cone = InfiniteCone::penumbral;
  Point u{-0.35, 0.35}, v{0.45, 0.2};  ///< Half-plane points, y > 0; penumbral: y < light_height.
  double light_height = 1;             ///< h: the penumbral light's horosphere.
  double object_radius = 0.5;          ///< r: the umbral object ball, hyperbolic.
  bool show_cones = true, show_ancestors = true, show_geodesic = true;
  std::string caption;  ///< Comes before the readout of depths and heights.
  double width = single_column;
  Metadata metadata;
};

/// The lowest common ancestor in the plane of u and v, and what it was made from.
struct PlaneAncestor {
  bool exists = false;
  Point at;           ///< Where it exists.
  double height = 0;  ///< Of the ancestor, or of the lowest light source for which one exists.
};
[[nodiscard]] PlaneAncestor plane_ancestor(const ConesFigure& figure);

/// Throws misuse for points outside the cone's domain and for radii or heights that are not
/// positive.
[[nodiscard]] DisplayList draw_cones(const ConesFigure& figure);

}  // namespace conelab::figure
