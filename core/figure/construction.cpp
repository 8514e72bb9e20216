// Figure `construction`: how the lowest common ancestor of u and v is found.
//
// The cone of the LCA is bounded by two curves. One passes through u and the other through v, and
// both bound the cones of all points on them up to the light; the LCA is where they cross. For
// penumbral cones they are geodesics that touch the light, for umbral cones curves of constant
// distance from a geodesic. Source: Tseng et al., "Coneheads" (2023), fig. 7 and eq. 5-8.
#include "core/figure/figure_table.h"

namespace conelab::figure {
namespace {

/// Returns the caption: which curves are drawn, and what their crossing is.
std::string explanation(const PanelScene& scene) {
  const bool penumbral = scene.system.family->penumbral;
  const std::string curves =
      penumbral ? "geodesics that touch the light" : "curves of constant distance from a geodesic";
  const std::string text = "The " + curves + ", one through u and one through v, ";
  const geometry::Lca lca = scene_lca(scene);
  if (!lca.place) {
    return text +
           "do not cross: u and v have no common ancestor (dashed: the depth that the "
           "similarity takes instead)";
  }
  switch (lca.relation) {
    case geometry::Relation::u_is_ancestor:
      return text + "bound cones in which v lies below u: u itself is the LCA";
    case geometry::Relation::v_is_ancestor:
      return text + "bound cones in which u lies below v: v itself is the LCA";
    case geometry::Relation::equal:
      return text + "are the edges of one cone: u = v is the LCA";
    case geometry::Relation::unrelated:
      break;
  }
  return text + "bound the cone of their crossing, the LCA";
}

/// Returns the cone of the LCA and its two edges, continued up to the light.
std::vector<SceneCurve> construction_of(const PanelScene& scene) {
  const ConeCurves curves(scene.system);
  const AxisShadow u = curves.locate(scene.u, "u"), v = curves.locate(*scene.v, "v");
  const geometry::Lca lca = scene_lca(scene);
  std::vector<SceneCurve> drawn;
  if (lca.place) {
    drawn.push_back(
        {curves.cone(curves.locate(*lca.place)), Paint::filled(vermilion.opacity(0.14))});
  }
  const int side = curves.side_of(u, v);
  drawn.push_back({curves.whole_edge(u, -side), Paint::stroked(blue, data_line)});
  drawn.push_back({curves.whole_edge(v, side), Paint::stroked(purple, data_line)});
  return drawn;
}

}  // namespace

DisplayList make_construction(const FigureInput& input) {
  ConesFigure cones;
  set_parameters(input.parameters, cones);
  ScenePanel panel;
  panel.model = cones.model;
  panel.scene = panel_scene(cones);
  panel.scene.curves = construction_of(panel.scene);
  panel.scene.annotate = true;
  panel.scene.ancestors = panel.scene.objects = false;
  PanelFigure figure;
  figure.panels = {panel};
  figure.width = input.width_or(single_column);
  figure.metadata = input.titled("Construction of the lowest common ancestor");
  figure.caption =
      input.described(scene_text(panel.scene, panel.model) + ". " + explanation(panel.scene));
  return draw_panels(figure);
}

}  // namespace conelab::figure
