#include "core/figure/explanations.h"

#include <algorithm>
#include <cmath>

#include "core/figure/style.h"
#include "core/figure/text.h"

namespace conelab::figure {
namespace {

using geometry::Vector;

Vector at(double x, double height) { return Eigen::Vector2d(x, height); }

DisplayList start(const ExplanationFigure& f, const char* title) {
  DisplayList list;
  list.width = f.width;
  list.metadata = f.metadata;
  if (list.metadata.title.empty()) list.metadata.title = title;
  return list;
}

// ---- convexity ---------------------------------------------------------------------------------

ScenePanel convexity_panel(const std::string& family, double parameter, const Vector& u,
                           const Vector& a, const Vector& b) {
  ScenePanel panel;
  PanelScene& scene = panel.scene;
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

/// Draws the case d = 3, seen from above: u ≼ v means that one disc is inside the other, and the
/// LCA is the smallest disc around both.
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

DisplayList draw_convexity(const ExplanationFigure& f) {
  DisplayList list = start(f, "Umbral cones are not geodesically convex");
  // They are next to each other on a wide page, and below each other on a narrow one.
  const bool wide = f.width >= 350;
  const double width = (f.width - 2 * margin - (wide ? gutter : 0)) / (wide ? 2 : 1);
  ScenePanel left = convexity_panel("umbral", 1, at(0, 1), at(-1, 0.1), at(0.95, 0.15));
  ScenePanel right = convexity_panel("penumbral", 1.2, at(0, 1.05), at(-0.55, 0.1), at(0.5, 0.15));
  left.window = right.window = Window{-1.3, 1.3, 0, 1.4};
  const Box a = draw_panel(list, left, {margin, margin}, width, width, "umbral");
  const Box b =
      draw_panel(list, right,
                 wide ? Point{margin + width + gutter, margin} : Point{margin, a.bottom() + gutter},
                 width, width, "penumbral");
  finish_with_caption(
      list,
      with_caption(
          f.caption,
          "Both ends of the geodesic (green dots) lie in the cone of u; where it is outside it is "
          "thick and orange. Umbral cones (r = 1) are bounded "
          "by curves of constant distance from a geodesic and are not convex; penumbral "
          "cones (h = 1.2) are bounded by geodesics and are"),
      std::max(a.bottom(), b.bottom()) + 8);
  return list;
}

DisplayList draw_lub(const ExplanationFigure& f) {
  DisplayList list = start(f, "The LCA is the least upper bound in the plane only");
  // They are next to each other on a wide page, and below each other on a narrow one.
  const bool wide = f.width >= 350;
  const double width = (f.width - 2 * margin - (wide ? gutter : 0)) / (wide ? 2 : 1);
  ScenePanel plane;
  plane.scene.system = geometry::cone_system("penumbral");
  plane.scene.u = at(-0.45, 0.5);
  plane.scene.v = at(0.45, 0.5);
  plane.scene.depth = false;
  plane.scene.marks = {at(0.1, std::sqrt(1 - 0.25 * 0.25))};
  plane.title = "<i>d</i> = 2: every common ancestor <i>w</i> is one of the LCA too";
  plane.window = Window{-0.78, 0.78, 0, 1.12};
  const Box a = draw_panel(list, plane, {margin, margin}, width, width, "plane");
  const Box b = draw_discs(
      list, wide ? Point{margin + width + gutter, margin} : Point{margin, a.bottom() + gutter},
      width);
  finish_with_caption(
      list,
      with_caption(
          f.caption,
          "First the half-plane: the common ancestors of u and v are the ancestors of their "
          "LCA. Then the shadows that points of the half-space cast on its boundary, seen "
          "from the light: u is an ancestor of v where v's disc lies in u's. The disc of w "
          "holds those of u and v, yet not that of their LCA"),
      std::max(a.bottom(), b.bottom()) + 8);
  return list;
}

}  // namespace conelab::figure
