// Makes the figures of cones and of trees of tokens.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/figure/figure_input.h"
#include "core/geometry/cone_family.h"
#include "core/geometry/lca_query.h"

namespace conelab::figure {
namespace {

using geometry::Vector;

// The numbers of a scene. Curves through points farther out or lower can no longer be computed.
constexpr double farthest = 1e9, lowest = 1e-12;

void read_point(const Parameters& p, const std::string& key, std::optional<Vector>& point) {
  const std::string* text = text_of(p, key);
  if (text == nullptr) return;
  const std::string* model = text_of(p, "points");
  const geometry::Model from =
      model == nullptr ? geometry::Model::halfspace : geometry::model_from_name(*model);
  const Vector x = geometry::parse_point(*text, key);
  const geometry::ModelPoint checked = geometry::point(from, x, key);
  if (checked.dimension() != 2) {
    misuse("-p {}={}: expected x,height (a point of the plane)", key, *text);
  }
  point = geometry::convert(checked, geometry::Model::halfspace).x;
  if (!((point->array().abs() <= farthest).all() && (*point)[1] >= lowest)) {
    misuse("-p {}={}: expected numbers up to {:g} and a height from {:g} on in the half-plane", key,
           *text, farthest, lowest);
  }
}

std::vector<std::string> families_of(const std::string& text) {
  std::vector<std::string> families;
  for (const std::string_view name : split_commas(text)) {
    families.emplace_back(geometry::cone_family(std::string(name)).name);
  }
  return families;
}

/// Throws misuse for a parameter that none of the figure's families takes, or for a value outside
/// its domain.
void check_parameters(const ConesFigure& f) {
  std::map<std::string, double> left = f.parameters;
  std::vector<std::string> families = f.beside;
  families.push_back(f.cone);
  for (std::size_t i = 0; i < families.size(); ++i) {
    const geometry::ConeFamily& family = geometry::cone_family(families[i]);
    std::map<std::string, double> own;
    for (const ParameterInfo& info : family.parameters) {
      if (const auto given = f.parameters.find(info.key); given != f.parameters.end()) {
        own.insert(*given);
        left.erase(info.key);
      }
    }
    if (i + 1 == families.size()) own.insert(left.begin(), left.end());
    (void)geometry::family_values(family, own);
  }
}

std::vector<SceneToken> tokens_of(const std::string& text) {
  std::vector<SceneToken> tokens;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string entry = text.substr(begin, end - begin);
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const Vector at = geometry::parse_point(entry.substr(0, equals), "tokens");
    if (at.size() != 2 || !(at.array().abs() <= farthest).all() || !(at[1] >= lowest)) {
      misuse(
          "-p tokens: expected x,height=name;… with numbers up to {:g} and heights from {:g} on "
          "(found '{}')",
          farthest, lowest, entry);
    }
    tokens.push_back({at, entry.substr(std::min(equals + 1, entry.size()))});
    begin = end + 1;
  }
  return tokens;
}

TreeFigure tree_of(const FigureInput& input) {
  TreeFigure figure;
  figure.tree = input.tree;
  figure.tokens = input.tokens;
  figure.cone = input.cone;
  figure.caption = input.caption;
  return figure;
}

}  // namespace

void set_parameters(const Parameters& p, ConesFigure& f) {
  if (const auto* cone = text_of(p, "cone")) f.cone = *cone;
  if (const auto* model = text_of(p, "model")) f.model = geometry::model_from_name(*model);
  read_point(p, "u", f.u);
  read_point(p, "v", f.v);
  read_point(p, "source", f.source);
  const auto* points = text_of(p, "points");
  if (points != nullptr && *points != "halfspace" && !f.u && !f.v && !f.source) {
    misuse("-p points={}: says which model u, v and source are of; give one of them", *points);
  }
  for (const geometry::ConeFamily* known : geometry::cone_families()) {
    for (const ParameterInfo& info : known->parameters) {
      if (const auto* text = text_of(p, info.key))
        f.parameters[info.key] = number(info.key, *text, farthest);
    }
  }
  if (const auto* text = text_of(p, "beside")) f.beside = families_of(*text);
  check_parameters(f);
  if (const auto* text = text_of(p, "levels")) {
    const double levels = number("levels", *text);
    if (!(levels >= 0 && levels <= 100 && levels == std::floor(levels))) {
      misuse("-p levels={}: expected a whole number from 0 to 100", *text);
    }
    f.levels = static_cast<int>(levels);
  }
  if (const auto* text = text_of(p, "heat")) f.heat = *text == "yes";
  if (const auto* text = text_of(p, "ancestors")) f.ancestors = *text == "yes";
  if (const auto* text = text_of(p, "geodesic")) f.geodesic = *text == "yes";
  if (const auto* text = text_of(p, "depth")) f.depth = geometry::depth_measure(*text);
  if (const auto* text = text_of(p, "similarity")) f.similarity = *text;
  if (const auto* text = text_of(p, "tokens")) f.tokens = tokens_of(*text);
}

void set_parameters(const Parameters& p, ExplanationFigure& f) {
  if (const auto* cone = text_of(p, "cone")) f.cone = *cone;
}

void set_parameters(const Parameters& p, TreeFigure& f) {
  if (const auto* text = text_of(p, "segmentation")) f.segmentation = *text == "yes";
}

DisplayList make_cones(const FigureInput& input) {
  return finished(ConesFigure(), input, draw_cones);
}

DisplayList make_models(const FigureInput& input) {
  ConesFigure cones;
  cones.width = double_column;
  return finished(std::move(cones), input, draw_models);
}

DisplayList make_finite_to_infinite(const FigureInput& input) {
  return finished(ExplanationFigure(), input, draw_finite_to_infinite);
}

DisplayList make_convexity(const FigureInput& input) {
  return finished(ExplanationFigure(), input, draw_convexity);
}

DisplayList make_lub(const FigureInput& input) {
  return finished(ExplanationFigure(), input, draw_lub);
}

DisplayList make_tree(const FigureInput& input) {
  return finished(tree_of(input), input, draw_tree);
}

DisplayList make_hasse(const FigureInput& input) {
  return finished(tree_of(input), input, draw_hasse);
}

// Figure `families`: one scene under every cone family, with its light.
//
// Penumbral families have a light with an extent, a horoball or a ball; umbral families have light
// from a point, at infinity or in the plane, and objects that are balls. Families with their light
// at infinity are drawn in the half-plane, the others in the Poincaré ball.
// Sources: Tseng et al., "Coneheads" (2023), fig. 2; Yu et al., "Shadow Cones" (2023); Ganea et
// al., "Hyperbolic Entailment Cones" (2018).

namespace {

using geometry::ConeFamily;
using geometry::Model;

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
  std::vector<ScenePanel> panels;
  for (const ConeFamily* family : ordered_families()) panels.push_back(family_panel(*family));
  const DisplayList page = input.page(double_column, "The families of shadow cones");
  return draw_panels(
      page, panels, page.width < 350 ? 2 : 3,
      input.described(
          "Cones of two points u and v, their lowest common ancestor (LCA) and the region of their "
          "common ancestors. Light at infinity: half-plane; light in the plane: Poincaré ball. The "
          "light is yellow (penumbral, ganea) or a point (umbral), where the objects are discs "
          "that cast the grey shadows"));
}

// Figure `construction`: how the lowest common ancestor of u and v is found.
//
// The cone of the LCA is bounded by two curves. One passes through u and the other through v, and
// both bound the cones of all points on them up to the light; the LCA is where they cross. For
// penumbral cones they are geodesics that touch the light, for umbral cones curves of constant
// distance from a geodesic. Source: Tseng et al., "Coneheads" (2023), fig. 7 and eq. 5-8.

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
  return draw_panels(
      input.page(single_column, "Construction of the lowest common ancestor"), {panel}, 1,
      input.described(scene_text(panel.scene, panel.model) + ". " + explanation(panel.scene)));
}

}  // namespace conelab::figure
