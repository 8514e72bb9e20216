#include "core/figure/cones.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/names.h"
#include "core/figure/similarity_field.h"

namespace conelab::figure {
namespace {

using geometry::Model;
using geometry::Vector;

std::string short_number(double value) { return fmt::format("{:.4g}", value); }

std::string coordinates(const Vector& half_plane, Model model) {
  std::string text;
  for (const double c : geometry::convert(half_plane, Model::halfspace, model)) {
    const double shown = std::abs(c) < 1e-12 ? 0 : c;  // Hides rounding of the conversion.
    text += (text.empty() ? "(" : ", ") + short_number(shown);
  }
  return text + ")";
}

std::string meeting_text(const PanelScene& scene, Model model) {
  const geometry::Lca lca = scene_lca(scene);
  const double depth = geometry::depth_of(scene.system, lca.radial, scene.measure);
  const bool distance = scene.measure == geometry::DepthMeasure::distance;
  const char* measure = distance ? "distance" : "depth";
  if (!lca.place) {  // What has no place has no depth either; K continues beyond the light.
    return fmt::format("no common ancestor, log K(u, v){} = {}", distance ? " by distance" : "",
                       short_number(depth));
  }
  const Vector x = geometry::place(scene.system, *lca.place, Model::halfspace).x;
  return fmt::format("LCA = {}, {} {}", coordinates(x, model), measure, short_number(depth));
}

/// Returns the part of the caption about level lines, if they are those of another similarity than
/// the family's.
std::string levels_text(const PanelScene& scene) {
  const PlaneSimilarityInfo* other = plane_similarity(scene.similarity);
  if (other == nullptr || scene.levels == 0) return "";
  const Eigen::Vector2d u = scene.u, v = *scene.v;
  return fmt::format("; level lines of {}, {}; of v it is {}", other->name, other->formula,
                     short_number(similarity_of(other->similarity, u, v)));
}

std::string readout(const ConesFigure& f, const PanelScene& scene, Model model) {
  return with_caption(
      f.caption, scene_text(scene, model) + "; " + meeting_text(scene, model) + levels_text(scene));
}

/// Returns the same figure of one of its families, with the parameters that this family has, and
/// with the source if that is finite.
ConesFigure of_family(const ConesFigure& f, const std::string& family) {
  ConesFigure other = f;
  other.cone = family;
  if (geometry::cone_family(family).base == geometry::Base::plane) other.source.reset();
  const auto& known = geometry::cone_family(family).parameters;
  std::erase_if(other.parameters,
                [&](const auto& given) { return !contains_key(known, given.first); });
  return other;
}

constexpr const char* cones_title = "Shadow cones and the lowest common ancestor";

DisplayList draw_side_by_side(const ConesFigure& f) {
  std::vector<ScenePanel> panels;
  std::string caption = f.caption.empty() ? "" : f.caption + ". ";
  std::vector<std::string> families = {f.cone};
  families.insert(families.end(), f.beside.begin(), f.beside.end());
  for (const std::string& family : families) {
    const PanelScene scene = panel_scene(of_family(f, family));
    caption += (panels.empty() ? "" : "; ") + scene_text(scene, f.model) + "; " +
               meeting_text(scene, f.model);
    panels.push_back({scene, f.model, std::nullopt, "<b>" + family + "</b>"});
  }
  caption += levels_text(panels.front().scene);
  const std::size_t columns = f.width < 350 || panels.size() == 2 ? 2 : 3;
  return draw_panels(begin_page(f.width, f.metadata, cones_title), panels, columns, caption);
}

}  // namespace

PanelScene panel_scene(const ConesFigure& f) {
  PanelScene scene;
  std::map<std::string, double> parameters = f.parameters;
  const bool infinite = geometry::cone_family(f.cone).base == geometry::Base::plane;
  // With the defaults of attention, objects would be too small to be seen.
  if (f.cone == "umbral") parameters.try_emplace("radius", 0.4);
  if (f.cone == "umbral-finite") parameters.try_emplace("object_radius", 0.3);
  scene.system = geometry::cone_system(f.cone, parameters);
  if (f.source) {
    scene.system =
        geometry::with_source(scene.system, geometry::point(Model::halfspace, *f.source, "source"));
  }
  scene.u = f.u.value_or(infinite ? Vector{{-0.35, 0.4}} : Vector{{-0.5, 0.3}});
  scene.v = f.v.value_or(infinite ? Vector{{0.45, 0.25}} : Vector{{-0.02, 0.25}});
  scene.ancestors = f.ancestors;
  scene.levels = f.levels;
  scene.measure = f.depth;
  scene.similarity = f.similarity;
  scene.heat = f.heat;
  scene.tokens = f.tokens;
  if (f.geodesic) scene.geodesics = {{scene.u, *scene.v, ink, false}};
  return scene;
}

std::string scene_text(const PanelScene& scene, Model model) {
  const geometry::ConeFamily& family = *scene.system.family;
  std::string text = fmt::format("{} cones", family.name);
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    text +=
        fmt::format(", {} = {}", family.parameters[i].key, short_number(scene.system.values[i]));
  }
  text += "; u = " + coordinates(scene.u, model);
  if (scene.v) text += "; v = " + coordinates(*scene.v, model);
  return text;
}

DisplayList draw_cones(const ConesFigure& f) {
  if (!f.beside.empty()) return draw_side_by_side(f);
  PanelScene scene = panel_scene(f);
  scene.annotate = true;
  return draw_panels(begin_page(f.width, f.metadata, cones_title),
                     {{scene, f.model, std::nullopt, model_title(f.model)}}, 1,
                     readout(f, scene, f.model));
}

DisplayList draw_models(const ConesFigure& f) {
  const PanelScene scene = panel_scene(f);
  std::vector<ScenePanel> panels;
  for (const Model model : geometry::all_models) {
    panels.push_back({scene, model, std::nullopt, model_title(model)});
  }
  return draw_panels(begin_page(f.width, f.metadata, "One scene in five models"), panels,
                     f.width < 350 ? 2 : 3, readout(f, scene, Model::halfspace));
}

}  // namespace conelab::figure
