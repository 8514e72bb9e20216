// One panel of a cone scene: a family's cones of two points in one model of the hyperbolic plane.
//
// What is drawn: the light, the cones of u and v, the objects and their shadows (umbral), the
// lowest common ancestor with the region of all common ancestors and its depth, level lines of K(u,
// ·), geodesics, horospheres. All exact curves; see cone_curves.h and model_view.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/figure/cone_curves.h"
#include "core/figure/model_view.h"
#include "core/figure/style.h"

namespace conelab::figure {

/// A geodesic between two points (half-plane), in a colour; `cone_of_u`: what lies outside the cone
/// of u is drawn in vermilion.
struct SceneGeodesic {
  geometry::Vector a, b;
  Colour colour;
  bool show_escape = false;
};

struct ConeScene {
  geometry::ConeSystem system;
  geometry::Vector u;  ///< Half-plane coordinates.
  std::optional<geometry::Vector> v;
  bool cones = true, ancestors = true, objects = true;
  bool depth = true;      ///< The level of the LCA's depth.
  int levels = 0;         ///< Level lines of K(u, ·).
  bool annotate = false;  ///< Names the region, the depth and the light in words.
  std::vector<SceneGeodesic> geodesics;
  std::vector<geometry::Vector> marks;  ///< Further points, w₁, w₂, …
};

struct ScenePanel {
  ConeScene scene;
  geometry::Model model = geometry::Model::halfspace;
  std::optional<Window> window;  ///< None: fitted to the scene.
  std::string title;             ///< Markup, above the panel.
};

/// Panels in rows of `columns`, each as wide as its share, the caption below. Throws misuse for
/// points outside the family's domain.
struct PanelFigure {
  std::vector<ScenePanel> panels;
  std::size_t columns = 1;
  std::string caption;
  double width = single_column;
  Metadata metadata;
};
[[nodiscard]] DisplayList draw_panels(const PanelFigure& figure);

/// The window of a model that shows the scene.
[[nodiscard]] Window fitted_window(const ConeScene& scene, geometry::Model model);

/// Draws one panel with its top left at `corner`; returns the box it took, title included. `id`
/// tells its groups from those of other panels.
Box draw_panel(DisplayList& list, const ScenePanel& panel, Point corner, double width,
               double most_height, const std::string& id);

}  // namespace conelab::figure
