#include "core/figure/explanations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/drawing/axes.h"
#include "core/drawing/style.h"
#include "core/drawing/text.h"
#include "core/geometry/distance.h"

namespace conelab::figure {
namespace {

using geometry::Vector;

Vector at(double x, double height) { return Eigen::Vector2d(x, height); }

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
  DisplayList list = begin_page(f.width, f.metadata, "Umbral cones are not geodesically convex");
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
  DisplayList list =
      begin_page(f.width, f.metadata, "The LCA is the least upper bound in the plane only");
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

// Figure `finite-to-infinite`: how cones of a finite source approach the infinite ones as the
// source recedes.

namespace {

using geometry::ConeSystem;
using geometry::Model;
using geometry::Vector;

constexpr double object_radius = 0.4;
constexpr Window shown_window{-1, 1, 0, 1.35};

const Vector& place_u() {
  static const Vector u = Eigen::Vector2d(-0.35, 0.4);
  return u;
}
const Vector& place_v() {
  static const Vector v = Eigen::Vector2d(0.4, 0.25);
  return v;
}

ConeSystem infinite_system(const std::string& cone) {
  if (cone == "umbral") return geometry::cone_system(cone, {{"radius", object_radius}});
  if (cone != "penumbral")
    misuse("finite-to-infinite: cone '{}' (expected penumbral or umbral)", cone);
  return geometry::cone_system(cone);
}

ConeSystem finite_system(const std::string& cone, double height) {
  const bool umbral = cone == "umbral";
  const double radius = umbral ? object_radius : std::log(height);
  const char* key = umbral ? "object_radius" : "source_radius";
  const ConeSystem standard = geometry::cone_system(cone + "-finite", {{key, radius}});
  return geometry::with_source(
      standard, geometry::point(Model::halfspace, Eigen::Vector2d(0.3, height), "source"));
}

Vector ancestor(const ConeSystem& system) {
  const auto element = [&](const Vector& x) {
    return geometry::element(system, geometry::point(Model::halfspace, x));
  };
  const geometry::Lca found = geometry::lca(system, element(place_u()), element(place_v()));
  if (!found.place) fail("finite-to-infinite: the source is too close for a common ancestor");
  return geometry::place(system, *found.place, Model::halfspace).x;
}

ScenePanel panel_of(const ConeSystem& system, const std::string& title) {
  ScenePanel panel;
  panel.scene.system = system;
  panel.scene.u = place_u();
  panel.scene.v = place_v();
  panel.window = shown_window;
  panel.title = title;
  return panel;
}

/// Draws the error of the LCA over the height of the source for both families, with a line of slope
/// −2.
void draw_convergence(DisplayList& list, Point corner, double width, double height) {
  std::vector<double> heights, errors;
  for (double exponent = 0.5; exponent <= 4.01; exponent += 0.25)
    heights.push_back(std::pow(10, exponent));
  for (const char* cone : {"penumbral", "umbral"}) {
    for (const double h : heights) errors.push_back(recession_error(cone, h));
  }
  Frame frame;
  frame.x = axis_over(ScaleKind::log10, heights, 5, rich("height of the source"));
  frame.y = axis_over(ScaleKind::log10, errors, 5, rich("error of the LCA (distance)"));
  const double left = room_left(frame.y), below = room_below(frame.x);
  frame.box = {corner.x + left, corner.y + text_size + 4, width - left - 4,
               height - below - text_size - 4};
  draw_frame(list, frame, "convergence");
  const Point a = frame.at(heights.front(), errors.front() / 3);
  const Point b =
      frame.at(heights.back(), errors.front() / 3 * std::pow(heights.front() / heights.back(), 2));
  list.clip_begin(frame.box);
  list.line(a, b, {quiet, thin_line, {2, 2}});
  list.clip_end();
  list.text({(a.x + b.x) / 2 - 4, (a.y + b.y) / 2 + 4}, rich("slope −2"),
            {.size = small_size, .anchor = Anchor::end, .align = Align::top, .colour = quiet});
  std::size_t series = 0;
  for (const char* cone : {"penumbral", "umbral"}) {
    const Colour colour = series_colour(series);
    std::vector<Point> points;
    for (std::size_t i = 0; i < heights.size(); ++i) {
      points.push_back(frame.at(heights[i], errors[series * heights.size() + i]));
    }
    list.path(Path::polyline(points), Paint::stroked(colour, data_line));
    for (std::size_t i = 0; i < points.size(); i += 2)
      draw_marker(list, points[i], series, 3.5, colour);
    list.text({frame.box.right() - 4, frame.box.y + 5 + 9 * static_cast<double>(series)}, cone,
              {.size = small_size, .anchor = Anchor::end, .align = Align::top, .colour = colour});
    ++series;
  }
}

}  // namespace

double recession_error(const std::string& cone, double source_height) {
  const ConeSystem near = finite_system(cone, source_height);
  return geometry::distance(Model::halfspace, ancestor(near), ancestor(infinite_system(cone)));
}

DisplayList draw_finite_to_infinite(const ExplanationFigure& f) {
  DisplayList list = begin_page(f.width, f.metadata, "Finite shadow cones become infinite ones");
  std::vector<ScenePanel> panels;
  for (const double height : {1.7, 3.0, 10.0}) {
    panels.push_back(
        panel_of(finite_system(f.cone, height), fmt::format("source at height {}", height)));
  }
  panels.push_back(panel_of(infinite_system(f.cone), "source at infinity"));
  const double columns = f.width < 350 ? 2 : 3;
  const double width = (f.width - 2 * margin - (columns - 1) * gutter) / columns;
  double x = margin, y = margin, bottom = margin;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (i > 0 && i % static_cast<std::size_t>(columns) == 0) x = margin, y = bottom + gutter;
    bottom = std::max(
        bottom,
        draw_panel(list, panels[i], {x, y}, width, 2 * width, fmt::format("h{}", i)).bottom());
    x += width + gutter;
  }
  const bool wide = columns == 3;
  const Point corner = wide ? Point{x, y} : Point{margin, bottom + gutter};
  const double room = f.width - margin - corner.x;
  const double tall = wide ? bottom - y : 0.55 * room;
  draw_convergence(list, corner, room, tall);
  const std::string what = f.cone == "umbral"
                               ? fmt::format("Umbral cones of a point light, r = {}", object_radius)
                               : "Penumbral cones of a ball of light that touches the horosphere "
                                 "of height 1";
  finish_with_caption(list,
                      (f.caption.empty() ? "" : f.caption + ". ") + what +
                          "; as the light recedes, cones and LCA tend to those of a source at "
                          "infinity, with an error of the order of its height to the power −2",
                      std::max(bottom, corner.y + tall) + 8);
  return list;
}

}  // namespace conelab::figure
