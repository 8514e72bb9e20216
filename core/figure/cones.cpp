#include "core/figure/cones.h"

#include <fmt/format.h>

#include <cmath>

#include "core/figure/text.h"

namespace conelab::figure {
namespace {

using geometry::Model;
using geometry::Vector;

Vector at(double x, double height) { return Eigen::Vector2d(x, height); }

std::string number(double value) { return fmt::format("{:.4g}", value); }

/// Formats a point of the half-plane in the coordinates of another model: "(0.3, −0.1)".
std::string coordinates(const Vector& half_plane, Model model) {
  std::string text;
  for (const double c : geometry::convert(half_plane, Model::halfspace, model)) {
    const double shown = std::abs(c) < 1e-12 ? 0 : c;  // Hides rounding of the conversion.
    text += (text.empty() ? "(" : ", ") + number(shown);
  }
  return text + ")";
}

std::string readout(const ConesFigure& f, const ConeScene& scene, Model model) {
  const std::string text = (f.caption.empty() ? "" : f.caption + ". ") + scene_text(scene, model);
  const geometry::Lca lca = scene_lca(scene);
  if (!lca.place) return text + fmt::format("; no common ancestor, depth {}", number(lca.depth));
  const Vector x = geometry::place(scene.system, *lca.place, Model::halfspace).x;
  return text + fmt::format("; LCA = {}, depth {}", coordinates(x, model), number(lca.depth));
}

DisplayList draw_models_of(const ConesFigure& f, const std::vector<Model>& models,
                           std::size_t columns, const char* title) {
  PanelFigure figure;
  ConeScene scene = cone_scene(f);
  scene.annotate = models.size() == 1;
  for (const Model model : models) {
    figure.panels.push_back({scene, model, std::nullopt, model_title(model)});
  }
  figure.columns = columns;
  figure.width = f.width;
  figure.metadata = f.metadata;
  if (figure.metadata.title.empty()) figure.metadata.title = title;
  figure.caption = readout(f, scene, models.size() == 1 ? models.front() : Model::halfspace);
  return draw_panels(figure);
}

}  // namespace

ConeScene cone_scene(const ConesFigure& f) {
  ConeScene scene;
  std::map<std::string, double> parameters = f.parameters;
  const bool infinite = geometry::cone_family(f.cone).base == geometry::Base::plane;
  // The defaults of attention make objects too small to see.
  if (f.cone == "umbral") parameters.try_emplace("radius", 0.4);
  if (f.cone == "umbral-finite") parameters.try_emplace("object_radius", 0.3);
  scene.system = geometry::cone_system(f.cone, parameters);
  if (f.source) {
    scene.system =
        geometry::with_source(scene.system, geometry::point(Model::halfspace, *f.source, "source"));
  }
  scene.u = f.u.value_or(infinite ? at(-0.35, 0.4) : at(-0.5, 0.3));
  scene.v = f.v.value_or(infinite ? at(0.45, 0.25) : at(-0.02, 0.25));
  scene.ancestors = f.ancestors;
  scene.levels = f.levels;
  return scene;
}

std::string scene_text(const ConeScene& scene, Model model) {
  const geometry::ConeFamily& family = *scene.system.family;
  std::string text = fmt::format("{} cones", family.name);
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    text += fmt::format(", {} = {}", family.parameters[i].key, number(scene.system.values[i]));
  }
  text += "; u = " + coordinates(scene.u, model);
  if (scene.v) text += "; v = " + coordinates(*scene.v, model);
  return text;
}

DisplayList draw_cones(const ConesFigure& f) {
  DisplayList list = draw_models_of(f, {f.model}, 1, "Shadow cones and the lowest common ancestor");
  return list;
}

DisplayList draw_models(const ConesFigure& f) {
  const std::vector<Model> models(std::begin(geometry::all_models), std::end(geometry::all_models));
  return draw_models_of(f, models, f.width < 350 ? 2 : 3, "One scene in five models");
}

}  // namespace conelab::figure
