// Figure `regions`: where a point v lies relative to a point u.
//
//   A  u is an ancestor of v: the cone of u
//   B  v is an ancestor of u
//   C  neither, but u and v have a common ancestor
//   D  u and v have no common ancestor
//
// In the coordinates of the law (axis a, shadow radius p <= L) the regions are
//   A: |a - a_u| <= p_u - p,  B: |a - a_u| <= p - p_u,  D: |a - a_u| > 2 L - p - p_u,
// so that the border of D is the level of K(u, .) at the depth of the light. Umbral cones with
// their light at infinity have no D. Source: Tseng et al., "Coneheads" (2023), fig. 6.
#include <cmath>

#include "core/figure/figure_input.h"

namespace conelab::figure {
namespace {

using geometry::Model;

constexpr Colour descendants{199, 222, 238, 255}, ancestors{199, 232, 222, 255},
    related{243, 243, 243, 255}, unrelated{240, 220, 231, 255};

struct RegionLayout {
  AxisShadow u;
  double largest;  ///< L; infinite for umbral cones with their light at infinity.
  bool around;     ///< Whether axes are angles, so that D lies behind u.
  [[nodiscard]] bool endless() const { return std::isinf(largest); }
  /// Returns the distance from the axis of u at which D begins for this shadow radius.
  [[nodiscard]] double border(double shadow) const { return 2 * largest - shadow - u.shadow; }
  [[nodiscard]] bool has_unrelated() const {
    return !endless() && (!around || border(0) < std::numbers::pi);
  }
};

/// Returns a letter for the middle of each region, and two letters for a region on both sides of u,
/// as D is where it is not behind the light.
std::vector<SceneLabel> letters(const RegionLayout& at, const ConeCurves& curves) {
  std::vector<SceneLabel> labels;
  const auto add = [&](const char* letter, double from_axis, double shadow) {
    labels.push_back(
        {curves.at({at.u.axis + from_axis, shadow}), std::string("<b>") + letter + "</b>"});
  };
  const auto add_on_both_sides = [&](const char* letter, double from_axis, double shadow) {
    add(letter, -from_axis, shadow);
    add(letter, from_axis, shadow);
  };
  const double shadow = at.endless() ? 0.75 * at.u.shadow
                        : at.around  ? 0.7 * at.u.shadow  // Somewhat farther from the light than u.
                                     : 0.4 * at.largest;
  const double near = std::abs(shadow - at.u.shadow);
  const double far = at.endless() ? near + 3 * at.u.shadow : at.border(shadow);
  add("A", 0, at.u.shadow / 5);  // The cone is wider at its lower end.
  add("B", 0, at.endless() ? 2 * at.u.shadow : (at.u.shadow + at.largest) / 2);
  add_on_both_sides("C", near + 0.6 * (far - near), shadow);
  if (at.has_unrelated() && at.around) {
    add("D", -std::numbers::pi, shadow);  // Behind the light.
  } else if (at.has_unrelated()) {
    add_on_both_sides("D", far + 0.35 * at.largest, shadow);
  }
  return labels;
}

std::vector<SceneCurve> areas(const RegionLayout& at, const ConeCurves& curves) {
  std::vector<SceneCurve> drawn;
  if (at.has_unrelated()) drawn.push_back({curves.related(at.u), Paint::filled(related)});
  drawn.push_back({curves.cone(at.u), Paint::filled(descendants)});
  drawn.push_back({curves.ancestors(at.u), Paint::filled(ancestors)});
  if (at.has_unrelated()) {
    drawn.push_back(
        {curves.similarity_level(at.u, at.largest), Paint::stroked(purple, line_width, {3, 1.5})});
  }
  for (const int side : {-1, 1}) {
    drawn.push_back({curves.whole_edge(at.u, side), Paint::stroked(blue, data_line)});
  }
  return drawn;
}

std::optional<Window> window_of(const RegionLayout& at, const PanelScene& scene, Model model) {
  if (model != Model::halfspace) return std::nullopt;
  if (!at.around) {
    const double half = at.endless() ? 4.5 * at.u.shadow : at.border(0) + 0.5 * at.largest;
    const double top = at.endless() ? 3.2 * scene.u[1] : 1.3 * at.largest;
    return Window{at.u.axis - half, at.u.axis + half, 0, std::max(top, 0.3 * half)};
  }
  Window window = fitted_window(scene, model);
  for (const SceneLabel& label : scene.labels) {
    const Eigen::Vector2d z = to_half_plane(label.at);
    const double space = 0.1 * z.y();
    window.left = std::min(window.left, z.x() - space);
    window.right = std::max(window.right, z.x() + space);
    window.high = std::max(window.high, z.y() + space);
  }
  return window;
}

}  // namespace

DisplayList make_regions(const FigureInput& input) {
  ConesFigure cones;
  set_parameters(input.parameters, cones);
  ScenePanel panel;
  PanelScene& scene = panel.scene = panel_scene(cones);
  panel.model = cones.model;
  if (!cones.u) scene.u = Eigen::Vector2d(0, scene.system.infinite() ? 0.55 : 0.4);
  scene.v.reset();
  scene.cones = false;
  const ConeCurves curves(scene.system);
  const RegionLayout at{curves.locate(scene.u, "u"),
                        scene.system.family->largest_shadow(scene.system.values),
                        !scene.system.infinite()};
  scene.ground = at.has_unrelated() ? unrelated : related;
  scene.curves = areas(at, curves);
  scene.labels = letters(at, curves);
  panel.window = window_of(at, scene, panel.model);
  return draw_panels(
      input.page(single_column, "How points v relate to a point u"), {panel}, 1,
      input.described(
          scene_text(scene, panel.model) +
          ". A: u is an ancestor of v; B: v is an ancestor of u; C: neither, but u and v have a "
          "common ancestor; " +
          (at.has_unrelated() ? "D: they have none" : "every pair has a common ancestor")));
}

}  // namespace conelab::figure
