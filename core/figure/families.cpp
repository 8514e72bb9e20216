// Figure `families`: one scene under every cone family, with its light.
//
// Penumbral families have a light with an extent, a horoball or a ball; umbral families have light
// from a point, at infinity or in the plane, and objects that are balls. Families with their light
// at infinity are drawn in the half-plane, the others in the Poincaré ball.
// Sources: Tseng et al., "Coneheads" (2023), fig. 2; Yu et al., "Shadow Cones" (2023); Ganea et
// al., "Hyperbolic Entailment Cones" (2018).
#include <algorithm>

#include "core/figure/figure_table.h"
#include "core/geometry/cone_family.h"

namespace conelab::figure {
namespace {

using geometry::ConeFamily;
using geometry::Model;

/// Returns the families of the table. Those whose light has an extent come first.
std::vector<const ConeFamily*> ordered_families() {
  std::vector<const ConeFamily*> families = geometry::cone_families();
  std::stable_partition(families.begin(), families.end(),
                        [](const ConeFamily* family) { return family->penumbral; });
  return families;
}

ScenePanel family_panel(const ConeFamily& family) {
  ConesFigure cones;
  cones.cone = family.name;
  ScenePanel panel;
  panel.scene = panel_scene(cones);
  const bool infinite = panel.scene.system.infinite();
  panel.model = infinite ? Model::halfspace : Model::ball;
  if (infinite) panel.window = Window{-1, 1, 0, 1.5};
  panel.title = std::string("<b>") + family.name + "</b>";
  return panel;
}

}  // namespace

DisplayList make_families(const FigureInput& input) {
  PanelFigure figure;
  for (const ConeFamily* family : ordered_families()) {
    figure.panels.push_back(family_panel(*family));
  }
  figure.width = input.width_or(double_column);
  figure.columns = figure.width < 350 ? 2 : 3;
  figure.metadata = input.titled("The families of shadow cones");
  figure.caption = input.described(
      "Cones of two points u and v, their lowest common ancestor (LCA) and the region of their "
      "common ancestors. Light at infinity: half-plane; light in the plane: Poincaré ball. The "
      "light is yellow (penumbral, ganea) or a point (umbral), where the objects are discs that "
      "cast the grey shadows");
  return draw_panels(figure);
}

}  // namespace conelab::figure
