#include "core/figure/cones.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/figure/caption.h"
#include "core/figure/plane_scene.h"
#include "core/figure/text.h"
#include "core/figure/ticks.h"

namespace conelab::figure {
namespace {

constexpr double margin = 5;
constexpr Colour light_fill{255, 243, 205, 255}, shadow_fill{120, 120, 120, 70};

/// The potential of the one law: u is an ancestor of v where base ≤ s(v) − s(u).
double potential(const ConesFigure& f, double height) {
  if (f.cone == InfiniteCone::umbral) return -height * std::sinh(f.object_radius);
  return std::sqrt((f.light_height - height) * (f.light_height + height));
}

double height_of(const ConesFigure& f, double s) {
  if (f.cone == InfiniteCone::umbral) return -s / std::sinh(f.object_radius);
  return std::sqrt((f.light_height - s) * (f.light_height + s));
}

void check(const ConesFigure& f) {
  const bool penumbral = f.cone == InfiniteCone::penumbral;
  if (penumbral && !(std::isfinite(f.light_height) && f.light_height > 0)) {
    misuse("cones: height {} (expected positive)", f.light_height);
  }
  if (!penumbral && !(f.object_radius > 0 && f.object_radius <= 20)) {
    misuse("cones: radius {} (expected in (0, 20])", f.object_radius);
  }
  for (const Point& p : {f.u, f.v}) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y) || !(p.y > 0)) {
      misuse("cones: the point ({}, {}) is not in the half-plane (expected a height above 0)", p.x,
             p.y);
    }
    if (penumbral && p.y >= f.light_height) {
      misuse("cones: the point ({}, {}) is in the light (expected a height below {})", p.x, p.y,
             f.light_height);
    }
  }
}

// ---- outlines in world coordinates -------------------------------------------------------------

/// How far the cone of p reaches to each side on the boundary.
double reach(const ConesFigure& f, Point p) {
  if (f.cone == InfiniteCone::umbral) return p.y * std::sinh(f.object_radius);
  return f.light_height - potential(f, p.y);
}

/// Adds the cone's edge from `from` to `to`, both on the edge of p's cone (continued above p) on
/// the given side (−1 left, +1 right, as seen below p).
void edge(const PlaneScene& scene, const ConesFigure& f, Path& path, Point p, int side, Point from,
          Point to) {
  if (f.cone == InfiniteCone::umbral) return scene.line(path, to);
  scene.arc_between(path, {p.x - side * potential(f, p.y), 0}, from, to);
}

Path cone_outline(const PlaneScene& scene, const ConesFigure& f, Point p) {
  const Point left = {p.x - reach(f, p), 0}, right = {p.x + reach(f, p), 0};
  Path path;
  scene.move(path, left);
  edge(scene, f, path, p, -1, left, p);
  edge(scene, f, path, p, +1, p, right);
  return path.close();
}

/// The ancestors of p lie between the edges of its cone continued upwards, which end at the light
/// or at the window's top. Left open at the top.
Path ancestors_outline(const PlaneScene& scene, const ConesFigure& f, Point p) {
  const bool penumbral = f.cone == InfiniteCone::penumbral;
  const double top = penumbral ? f.light_height : scene.window().high;
  const double half = penumbral ? potential(f, p.y) : (top - p.y) * std::sinh(f.object_radius);
  const Point left = {p.x - half, top}, right = {p.x + half, top};
  Path path;
  scene.move(path, left);
  // Above p the left edge belongs to the circle whose lower part is the right edge.
  edge(scene, f, path, p, +1, left, p);
  edge(scene, f, path, p, -1, p, right);
  return path;
}

/// From p up to an ancestor on the edge of p's ancestors.
Path ascent_to(const PlaneScene& scene, const ConesFigure& f, Point p, Point ancestor) {
  Path path;
  scene.move(path, p);
  edge(scene, f, path, p, ancestor.x >= p.x ? -1 : +1, p, ancestor);
  return path;
}

Window window_of(const ConesFigure& f, const PlaneAncestor& lca) {
  Window w{1e300, -1e300, 0, 0};
  double top = lca.height;
  const auto include = [&](double x, double half) {
    w.left = std::min(w.left, x - half), w.right = std::max(w.right, x + half);
  };
  for (const Point& p : {f.u, f.v}) {
    include(p.x, reach(f, p));
    if (f.cone == InfiniteCone::umbral) top = std::max(top, p.y * std::exp(f.object_radius));
  }
  if (lca.exists && f.cone == InfiniteCone::penumbral && f.show_ancestors) {
    include(lca.at.x, potential(f, lca.at.y));
  }
  if (f.cone == InfiniteCone::penumbral) top = std::max(top, f.light_height);
  const double side = 0.06 * w.width();
  w.left -= side, w.right += side;
  w.high = top + std::max(0.12 * top, 0.05 * w.width());
  return w;
}

// ---- drawing -----------------------------------------------------------------------------------

struct Canvas {
  DisplayList& list;
  const ConesFigure& figure;
  const PlaneScene& scene;
  LabelPlacer& labels;

  void text(Point page, const std::string& markup, Colour colour, double size = text_size) const {
    labels.place(list, page, rich(markup), {.size = size, .colour = colour, .halo = 0.8});
  }
};

void draw_light(const Canvas& c) {
  const Box& b = c.scene.box();
  c.list.group_begin("light", "The light source");
  if (c.figure.cone == InfiniteCone::penumbral) {
    const double y = c.scene.page({0, c.figure.light_height}).y;
    c.list.rectangle({b.x, b.y, b.width, y - b.y}, Paint::filled(light_fill));
    c.list.path(c.scene.horosphere_at_infinity(c.figure.light_height), Paint::stroked(orange, 1));
  } else {
    constexpr int rays = 6;  // They come straight down.
    for (int i = 0; i < rays; ++i) {
      const double x = b.x + b.width * (i + 0.5) / rays;
      c.list.line({x, b.y + 1}, {x, b.y + 9}, {orange, line_width});
      c.list.path(Path::polyline({{x - 1.8, b.y + 8}, {x, b.y + 12}, {x + 1.8, b.y + 8}}, true),
                  Paint::filled(orange));
      c.labels.avoid({x - 3, b.y, 6, 12});
    }
  }
  c.list.group_end();
}

/// The shadow of an umbral object ball: all below it, between the verticals at ± y sinh r.
void draw_shadow(const Canvas& c, Point p) {
  const double r = c.figure.object_radius;
  const double half = p.y * std::sinh(r), middle = p.y * std::cosh(r);
  const Point left = {p.x - half, middle}, right = {p.x + half, middle};
  Path shadow;
  c.scene.move(shadow, left);
  c.scene.line(shadow, {left.x, 0});
  c.scene.line(shadow, {right.x, 0});
  c.scene.line(shadow, right);
  c.scene.arc(shadow, {p.x, middle}, half, 0, -std::numbers::pi);
  c.list.path(shadow.close(), Paint::filled(shadow_fill));
  for (const Point& top : {left, right}) {
    c.list.path(c.scene.segment(top, {top.x, 0}), Paint::stroked(quiet, thin_line, {2, 1.5}));
  }
}

void draw_cone(const Canvas& c, Point p, const std::string& name, Colour colour) {
  c.list.group_begin("cone-" + name, "The cone of " + name);
  if (c.figure.cone == InfiniteCone::umbral) draw_shadow(c, p);
  const Path outline = cone_outline(c.scene, c.figure, p);
  c.list.path(outline, {colour.opacity(0.22), {colour, data_line, {}, Cap::butt}});
  c.labels.avoid_path(outline);
  if (c.figure.cone == InfiniteCone::umbral) {
    const double r = c.figure.object_radius;
    const Path ball = c.scene.circle({p.x, p.y * std::cosh(r)}, p.y * std::sinh(r));
    c.list.path(ball, {colour.opacity(0.35), {colour, line_width, {}, Cap::butt}});
    c.labels.avoid_path(ball);
  }
  c.list.group_end();
}

void draw_ancestors(const Canvas& c, const PlaneAncestor& lca) {
  if (!lca.exists || !c.figure.show_ancestors) return;
  c.list.group_begin("ancestors", "The common ancestors of u and v");
  const Path outline = ancestors_outline(c.scene, c.figure, lca.at);
  c.list.path(outline, Paint::filled(green.opacity(0.16)));
  c.list.path(outline, Paint::stroked(green, line_width, {3, 1.5}));
  c.labels.avoid_path(outline);
  for (const auto& [p, colour] : {std::pair{c.figure.u, blue}, {c.figure.v, purple}}) {
    if (p == lca.at) continue;
    const Path way = ascent_to(c.scene, c.figure, p, lca.at);
    c.list.path(way, Paint::stroked(colour, line_width, {1, 2}));
    c.labels.avoid_path(way);
  }
  c.list.group_end();
}

void draw_point(const Canvas& c, Point p, Colour colour) {
  const Point at = c.scene.page(p);
  c.list.circle(at, 2.2, {colour, {white, thin_line, {}, Cap::butt}});
  c.labels.avoid(Box{at.x, at.y, 0, 0}.grown(3));
}

/// The horosphere through the LCA, whose height is what attention reads; without an LCA the
/// semicircle through u and v and the horosphere that touches it.
void draw_depth(const Canvas& c, const PlaneAncestor& lca) {
  const Path level = c.scene.horosphere_at_infinity(lca.height);
  c.list.path(level, {transparent, {vermilion, line_width, {4, 2}, Cap::butt}});
  c.labels.avoid_path(level);
  if (lca.exists || c.figure.cone == InfiniteCone::umbral || !c.figure.show_geodesic) return;
  const Path geodesic = c.scene.half_plane_geodesic(c.figure.u, c.figure.v, true);
  c.list.path(geodesic, {transparent, {vermilion, line_width, {1.5, 1.5}, Cap::butt}});
  c.labels.avoid_path(geodesic);
}

/// Text needs more contrast than areas do.
Colour darker(Colour c) {
  const auto part = [](std::uint8_t v) { return static_cast<std::uint8_t>(0.72 * v); };
  return {part(c.r), part(c.g), part(c.b), c.a};
}

std::string decimals(double value) { return plain(number_label(value, 4)); }

/// What lies between the cones' edges continued upwards is named inside, or beside where narrow.
void label_ancestors(const Canvas& c, const PlaneAncestor& lca) {
  const ConesFigure& f = c.figure;
  const bool penumbral = f.cone == InfiniteCone::penumbral;
  const double top = penumbral ? f.light_height : c.scene.window().high;
  const double y = (lca.at.y + top) / 2;
  const double reach = (y - lca.at.y) * std::sinh(f.object_radius);
  const double half = penumbral || reach * c.scene.scale() > 50 ? 0 : reach;
  c.text(c.scene.page({lca.at.x + half, y}), "common ancestors", darker(green), small_size);
}

void draw_labels(const Canvas& c, const PlaneAncestor& lca) {
  const ConesFigure& f = c.figure;
  const Box& b = c.scene.box();
  if (f.show_ancestors && lca.exists) label_ancestors(c, lca);
  if (lca.exists) c.text(c.scene.page(lca.at), "LCA(<i>u</i>, <i>v</i>)", ink);
  c.text(c.scene.page(f.u), "<i>u</i>", ink, title_size);
  c.text(c.scene.page(f.v), "<i>v</i>", ink, title_size);
  const std::string what = lca.exists ? "height of the LCA " : "lowest common light ";
  c.text({b.right() - 52, c.scene.page({0, lca.height}).y}, what + decimals(lca.height),
         darker(vermilion), small_size);
  if (f.cone == InfiniteCone::penumbral) {
    const double y = c.scene.page({0, f.light_height}).y;
    c.text({b.x + 52, (b.y + y) / 2}, "light above <i>y</i> = " + decimals(f.light_height), ink,
           small_size);
  } else {
    c.text({b.x + b.width / 6, b.y + 6}, "light at infinity", ink, small_size);
  }
}

void draw_boundary(DisplayList& list, const PlaneScene& scene) {
  const Box& b = scene.box();
  list.line({b.x, b.bottom()}, {b.right(), b.bottom()}, {ink, 1});
  list.text({b.x + b.width / 2, b.bottom() + 3}, rich("boundary of the half-plane, <i>y</i> = 0"),
            {.size = small_size, .anchor = Anchor::middle, .align = Align::top, .colour = quiet});
}

std::string readout(const ConesFigure& f, const PlaneAncestor& lca) {
  const bool penumbral = f.cone == InfiniteCone::penumbral;
  std::string text = f.caption.empty() ? "" : f.caption + ". ";
  text += penumbral ? "Penumbral cones, h = " + decimals(f.light_height)
                    : "Umbral cones, r = " + decimals(f.object_radius);
  for (const auto& [name, p] : {std::pair{"u", f.u}, {"v", f.v}}) {
    text += fmt::format("; {} = ({}, {})", name, decimals(p.x), decimals(p.y));
  }
  if (lca.exists) {
    return text + fmt::format("; LCA ({}, {})", decimals(lca.at.x), decimals(lca.at.y));
  }
  return text + "; no common ancestor";
}

}  // namespace

PlaneAncestor plane_ancestor(const ConesFigure& f) {
  check(f);
  const double base = std::abs(f.u.x - f.v.x);
  const double su = potential(f, f.u.y), sv = potential(f, f.v.y);
  const double s = std::min({su, sv, (su + sv - base) / 2});
  if (f.cone == InfiniteCone::penumbral && s < 0) {
    const double tilt = (f.u.y - f.v.y) * (f.u.y + f.v.y) / (2 * base);
    const double square = base * base / 4 + (f.u.y * f.u.y + f.v.y * f.v.y) / 2 + tilt * tilt;
    return {false, {}, std::sqrt(square)};
  }
  const double towards = f.v.x >= f.u.x ? 1 : -1;
  const double height = height_of(f, s);
  return {true, {f.u.x + towards * (su - s), height}, height};
}

DisplayList draw_cones(const ConesFigure& figure) {
  const PlaneAncestor lca = plane_ancestor(figure);
  DisplayList list;
  list.width = figure.width;
  list.metadata = figure.metadata;
  if (list.metadata.title.empty())
    list.metadata.title = "Shadow cones and the lowest common ancestor";
  const PlaneScene scene(window_of(figure, lca), {margin, margin}, figure.width - 2 * margin,
                         0.95 * figure.width);
  LabelPlacer labels(scene.box());
  const Canvas canvas{list, figure, scene, labels};
  list.clip_begin(scene.box());
  draw_light(canvas);
  draw_ancestors(canvas, lca);
  if (figure.show_cones) {
    draw_cone(canvas, figure.u, "u", blue);
    draw_cone(canvas, figure.v, "v", purple);
  }
  draw_depth(canvas, lca);
  list.clip_end();
  draw_boundary(list, scene);
  draw_point(canvas, figure.u, blue);
  draw_point(canvas, figure.v, purple);
  if (lca.exists) draw_point(canvas, lca.at, vermilion);
  draw_labels(canvas, lca);

  finish_with_caption(list, readout(figure, lca), scene.box().bottom() + 14);
  return list;
}

}  // namespace conelab::figure
