// One panel of a cone scene: the cones of two points under one family, in one model of the
// hyperbolic plane.
//
// It shows the light, the cones of u and v, the objects and their shadows (umbral), the lowest
// common ancestor with the region of all common ancestors and its depth, level lines of K(u, ·),
// geodesics and horospheres. All curves are exact; see cone_curves.h and model_view.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/drawing/style.h"
#include "core/figure/cone_curves.h"
#include "core/figure/model_view.h"

namespace conelab::figure {

/// A geodesic between two points (half-plane, [2]). If `show_escape` is true, its part outside the
/// cone of u is drawn in vermilion.
struct SceneGeodesic {
  geometry::Vector a, b;
  Colour colour;
  bool show_escape = false;
};

/// A further curve or area of a scene, drawn below the cones, and a further label.
struct SceneCurve {
  Curve curve;
  Paint paint;
};
struct SceneLabel {
  HemispherePoint at;
  std::string markup;
};

/// A token as a point of the half-plane, with its name; the name is left out where it does not fit.
struct SceneToken {
  geometry::Vector at;
  std::string name;
};

struct PanelScene {
  geometry::ConeSystem system;
  geometry::Vector u;  ///< Half-plane coordinates.
  std::optional<geometry::Vector> v;
  bool cones = true, ancestors = true, objects = true;
  bool depth = true;  ///< Whether the level of the LCA's depth is drawn.
  int levels = 0;     ///< Number of level lines of K(u, ·).
  /// Holds what K is; see ConesFigure.
  geometry::DepthMeasure measure = geometry::DepthMeasure::height;
  std::string similarity = "cone";
  bool heat = false;      ///< Whether that similarity with u is drawn in colours, with a bar below.
  bool annotate = false;  ///< Whether the region, the depth and the light are labelled with words.
  std::vector<SceneGeodesic> geodesics;
  std::vector<SceneCurve> curves;
  std::vector<SceneLabel> labels;
  std::optional<Colour> ground;         ///< Of the hyperbolic plane; absent: nearly white.
  std::vector<geometry::Vector> marks;  ///< Further points, labelled w₁, w₂, …
  std::vector<SceneToken> tokens;
};

/// Returns the LCA of u and v, both of which the scene must have.
[[nodiscard]] geometry::Lca scene_lca(const PanelScene& scene);

struct ScenePanel {
  PanelScene scene;
  geometry::Model model = geometry::Model::halfspace;
  std::optional<Window> window;  ///< The visible part; absent: `fitted_window`.
  std::string title;             ///< Text with markup (text.h) above the panel.
};

/// Draws panels of equal width on an empty page, in rows of `columns`, with the caption below.
/// Throws misuse for points outside the domain of the family.
[[nodiscard]] DisplayList draw_panels(DisplayList page, const std::vector<ScenePanel>& panels,
                                      std::size_t columns, const std::string& caption);

/// Returns the window of a model that shows the whole scene.
[[nodiscard]] Window fitted_window(const PanelScene& scene, geometry::Model model);

/// Draws one panel with its top left at `corner` and returns its box, title included. `id`
/// distinguishes its groups from those of other panels.
Box draw_panel(DisplayList& list, const ScenePanel& panel, Point corner, double width,
               double most_height, const std::string& id);

}  // namespace conelab::figure
