#include "core/figure/geometry_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/figure/caption.h"
#include "core/figure/text.h"
#include "core/geometry/distance.h"

namespace conelab::figure {
namespace {

using geometry::ConeSystem;
using geometry::Model;
using geometry::Vector;

constexpr double margin = 5, gutter = 12;

Vector at(double x, double height) { return Eigen::Vector2d(x, height); }

ConeScene scene_of(const ConeFigure& f) {
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

std::string number(double value) { return fmt::format("{:.4g}", value); }

std::string readout(const ConeFigure& f, const ConeScene& scene) {
  std::string text = f.caption.empty() ? "" : f.caption + ". ";
  text += fmt::format("{} cones", f.cone);
  const geometry::ConeFamily& family = *scene.system.family;
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    text += fmt::format(", {} = {}", family.parameters[i].key, number(scene.system.values[i]));
  }
  for (const auto& [name, x] : {std::pair{"u", &scene.u}, {"v", &*scene.v}}) {
    text += fmt::format("; {} = ({}, {})", name, number((*x)[0]), number((*x)[1]));
  }
  const auto element = [&](const Vector& x) {
    return geometry::element(scene.system, geometry::point(Model::halfspace, x));
  };
  const geometry::Lca lca = geometry::lca(scene.system, element(scene.u), element(*scene.v));
  if (!lca.place) return text + fmt::format("; no common ancestor, depth {}", number(lca.depth));
  const Vector x = geometry::place(scene.system, *lca.place, Model::halfspace).x;
  return text +
         fmt::format("; LCA = ({}, {}), depth {}", number(x[0]), number(x[1]), number(lca.depth));
}

DisplayList draw_models_of(const ConeFigure& f, const std::vector<Model>& models,
                           std::size_t columns, const char* title) {
  PanelFigure figure;
  const ConeScene scene = scene_of(f);
  for (const Model model : models) {
    figure.panels.push_back({scene, model, std::nullopt, model_title(model)});
  }
  figure.columns = columns;
  figure.width = f.width;
  figure.metadata = f.metadata;
  if (figure.metadata.title.empty()) figure.metadata.title = title;
  figure.caption = readout(f, scene);
  return draw_panels(figure);
}

DisplayList start(const ExplanatoryFigure& f, const char* title) {
  DisplayList list;
  list.width = f.width;
  list.metadata = f.metadata;
  if (list.metadata.title.empty()) list.metadata.title = title;
  return list;
}

std::string with_caption(const ExplanatoryFigure& f, const std::string& text) {
  return f.caption.empty() ? text : f.caption + ". " + text;
}

// ---- convexity ---------------------------------------------------------------------------------

ScenePanel convexity_panel(const std::string& family, double parameter, const Vector& u,
                           const Vector& a, const Vector& b) {
  ScenePanel panel;
  ConeScene& scene = panel.scene;
  scene.system =
      geometry::cone_system(family, {{family == "umbral" ? "radius" : "height", parameter}});
  scene.u = u;
  scene.objects = false;
  scene.geodesics = {{a, b, green, true}};
  panel.title =
      family == "umbral" ? "umbral: the geodesic leaves the cone" : "penumbral: it stays inside";
  return panel;
}

// ---- least upper bound -------------------------------------------------------------------------

/// A shadow on the boundary plane: a disc with the name of its point.
struct Disc {
  Point centre;
  double radius;
  Colour colour;
  const char* name;
};

/// d = 3 from above: u ≼ v is one disc inside another, the LCA the smallest disc around both.
Box draw_discs(DisplayList& list, Point corner, double width) {
  list.text({corner.x + width / 2, corner.y},
            rich("<i>d</i> = 3: <i>w</i> is a common ancestor, but not of the LCA"),
            {.size = text_size, .anchor = Anchor::middle, .align = Align::top, .colour = ink});
  const Window window{-0.78, 0.78, -0.5, 1.02};
  const PlaneScene scene(window, {corner.x, corner.y + text_size + 4}, width, width);
  const double x = 0.3, p = 0.12, lift = 0.36;
  const Disc discs[] = {{{0, lift}, std::hypot(x, lift) + p, ink, "<i>w</i>"},
                        {{0, 0}, x + p, vermilion, "LCA"},
                        {{-x, 0}, p, blue, "<i>u</i>"},
                        {{x, 0}, p, purple, "<i>v</i>"}};
  LabelPlacer labels(scene.box());
  list.group_begin("discs", "Shadows on the boundary plane");
  for (const Disc& d : discs) {
    const Path circle = scene.circle(d.centre, d.radius);
    list.path(circle, Paint::filled(d.colour.opacity(d.colour == ink ? 0.06 : 0.18)));
    labels.avoid_path(circle);
  }
  for (const Disc& d : discs) {
    list.path(scene.circle(d.centre, d.radius), Paint::stroked(d.colour, data_line));
    list.circle(scene.page(d.centre), 1.6, Paint::filled(d.colour));
  }
  list.group_end();
  for (const Disc& d : discs) {
    labels.place(list, scene.page(d.centre), rich(d.name), {.size = title_size, .halo = 0.8});
  }
  const Point outside = scene.page({0, -x - p});
  labels.place(list, outside, rich("outside <i>w</i>"),
               {.size = small_size, .colour = ink, .halo = 0.8});
  return {corner.x, corner.y, width, scene.box().bottom() - corner.y};
}

}  // namespace

DisplayList draw_cone_figure(const ConeFigure& f) {
  DisplayList list = draw_models_of(f, {f.model}, 1, "Shadow cones and the lowest common ancestor");
  return list;
}

DisplayList draw_models(const ConeFigure& f) {
  const std::vector<Model> models(std::begin(geometry::all_models), std::end(geometry::all_models));
  return draw_models_of(f, models, f.width < 350 ? 2 : 3, "One scene in five models");
}

DisplayList draw_convexity(const ExplanatoryFigure& f) {
  DisplayList list = start(f, "Umbral cones are not geodesically convex");
  const double width = (f.width - 2 * margin - gutter) / 2;
  ScenePanel left = convexity_panel("umbral", 1, at(0, 1), at(-1, 0.1), at(0.95, 0.15));
  ScenePanel right = convexity_panel("penumbral", 1.2, at(0, 1.05), at(-0.55, 0.1), at(0.5, 0.15));
  left.window = right.window = Window{-1.3, 1.3, 0, 1.4};
  const Box a = draw_panel(list, left, {margin, margin}, width, width, "umbral");
  const Box b =
      draw_panel(list, right, {margin + width + gutter, margin}, width, width, "penumbral");
  finish_with_caption(
      list,
      with_caption(
          f,
          "Both ends of the geodesic lie in the cone of u. Umbral cones (r = 1) are bounded "
          "by curves of constant distance from a geodesic and are not convex; penumbral "
          "cones (h = 1.2) are bounded by geodesics and are"),
      std::max(a.bottom(), b.bottom()) + 8);
  return list;
}

DisplayList draw_lub(const ExplanatoryFigure& f) {
  DisplayList list = start(f, "The LCA is the least upper bound in the plane only");
  const double width = (f.width - 2 * margin - gutter) / 2;
  ScenePanel plane;
  plane.scene.system = geometry::cone_system("penumbral");
  plane.scene.u = at(-0.45, 0.5);
  plane.scene.v = at(0.45, 0.5);
  plane.scene.depth = false;
  plane.scene.marks = {at(0.1, std::sqrt(1 - 0.25 * 0.25))};
  plane.title = "<i>d</i> = 2: every common ancestor <i>w</i> is one of the LCA too";
  plane.window = Window{-0.78, 0.78, 0, 1.12};
  const Box a = draw_panel(list, plane, {margin, margin}, width, width, "plane");
  const Box b = draw_discs(list, {margin + width + gutter, margin}, width);
  finish_with_caption(
      list,
      with_caption(
          f,
          "Left, the half-plane: the common ancestors of u and v are the ancestors of their "
          "LCA. Right, the shadows that points of the half-space cast on its boundary, seen "
          "from the light: u is an ancestor of v where v's disc lies in u's. The disc of w "
          "holds those of u and v, yet not that of their LCA"),
      std::max(a.bottom(), b.bottom()) + 8);
  return list;
}

}  // namespace conelab::figure
