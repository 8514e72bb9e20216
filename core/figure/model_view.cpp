#include "core/figure/model_view.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace conelab::figure {
namespace {

using geometry::Model;

constexpr double pi = std::numbers::pi;
/// Arcs with a sagitta below this, in points, are drawn as straight lines.
constexpr double straight = 2e-3;
/// Nothing is drawn farther than this from the window. The unit is the width of the window.
constexpr double far_away = 40;

/// Returns the distance along `way` from a point to slightly outside the box.
double exit_from(const Box& box, Point p, Point way) {
  const double x = way.x > 0 ? box.right() - p.x : p.x - box.x;
  const double y = way.y > 0 ? box.bottom() - p.y : p.y - box.y;
  const double across = way.x != 0 ? x / std::abs(way.x) : HUGE_VAL;
  const double along = way.y != 0 ? y / std::abs(way.y) : HUGE_VAL;
  return std::max(0.0, std::min(across, along)) + 2;
}

double distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }
Point blend(Point a, Point b, double t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; }
Point on_cubic(Point a, const CubicTo& c, double t) {
  const Point ab = blend(a, c.control1, t), bc = blend(c.control1, c.control2, t),
              cd = blend(c.control2, c.to, t);
  return blend(blend(ab, bc, t), blend(bc, cd, t), t);
}

CubicTo hermite(const std::function<Point(double)>& f, double a, double b) {
  const double h = (b - a) * 1e-4, third = (b - a) / 3;
  const auto ahead = [&](double t, double sign) {
    const double low = std::max(t - h, a), high = std::min(t + h, b);
    const Point p = f(low), q = f(high), at = f(t);
    const double rate = sign * third / (high - low);
    return Point{at.x + (q.x - p.x) * rate, at.y + (q.y - p.y) * rate};
  };
  return {ahead(a, 1), ahead(b, -1), f(b)};
}

void refine(const std::function<Point(double)>& f, double a, double b, int depth, Path& path) {
  constexpr double tolerance = 0.02;
  const CubicTo cubic = hermite(f, a, b);
  const Point start = f(a);
  double error = 0;
  for (const double t : {0.25, 0.5, 0.75}) {
    error = std::max(error, distance(on_cubic(start, cubic, t), f(a + (b - a) * t)));
  }
  if (error <= tolerance || depth == 0) {
    path.cubic(cubic.control1, cubic.control2, cubic.to);
    return;
  }
  refine(f, a, (a + b) / 2, depth - 1, path);
  refine(f, (a + b) / 2, b, depth - 1, path);
}

}  // namespace

const char* model_title(Model model) {
  static constexpr const char* names[] = {"half-plane", "Poincaré ball", "Klein ball",
                                          "hyperboloid", "band"};
  return names[static_cast<std::size_t>(model)];
}

Point projected(const HemispherePoint& p) {
  // The projection is so steep that no part of the surface hides another one: lean > lift.
  constexpr double lift = 0.5, lean = 0.72;
  const double rim = 1 / rim_time;  // g at the rim. Points beyond it are drawn on the rim.
  const double g = std::max(p.z(), rim);
  const double length = std::hypot(p.x(), p.y());
  const double reach = length > 0 ? std::sqrt(std::max(0.0, 1 - g * g)) / (length * g) : 0;
  return {p.x() * reach, lift / g + lean * p.y() * reach};
}

ModelView::ModelView(Model model, Window window, Point corner, double width, double most_height)
    : model_(model), scene_(window, corner, width, most_height) {}

Window ModelView::usual_window(Model model) {
  switch (model) {
    case Model::halfspace:
      return {-1.5, 1.5, 0, 1.6};
    case Model::ball:
    case Model::klein:
      return {-1.03, 1.03, -1.03, 1.03};
    case Model::band:
      return {-pi / 2, pi / 2, -2.4, 2.4};
    case Model::hyperboloid:
      return {-2.72, 2.72, -0.58, 3.38};
  }
  return {};
}

Point ModelView::world(const HemispherePoint& p) const {
  switch (model_) {
    case Model::halfspace: {
      if ((p - point_at_infinity).norm() < 1e-12) return {0, far_away * scene_.window().width()};
      const Eigen::Vector2d z = to_half_plane(p);
      return {z.x(), z.y()};
    }
    case Model::ball:
      return {p.x() / (1 + p.z()), p.y() / (1 + p.z())};
    case Model::klein:
      return {p.x(), p.y()};
    case Model::band: {
      // This is tanh t = k_y, in a form that is exact for large t.
      const Window& w = scene_.window();
      const double t = std::asinh(p.y() / std::max(std::hypot(p.x(), p.z()), 1e-300));
      return {std::atan2(p.x(), p.z()), std::clamp(t, w.low - w.height(), w.high + w.height())};
    }
    case Model::hyperboloid:
      return projected(p);
  }
  return {};
}

HemispherePoint ModelView::nearest(Point at) const {
  constexpr double inside = 1e-3;  // The distance from the boundary.
  Point w = scene_.world(at);
  if (model_ == Model::halfspace) {
    return from_half_plane(w.x, std::max(w.y, inside * scene_.window().height()));
  }
  if (model_ == Model::band) {
    const double across = std::clamp(w.x, -pi / 2 + inside, pi / 2 - inside);
    const double ring = 1 / std::cosh(w.y);
    return {ring * std::sin(across), std::tanh(w.y), ring * std::cos(across)};
  }
  const double away = std::hypot(w.x, w.y), shrink = std::min(1.0, (1 - inside) / away);
  w = {w.x * shrink, w.y * shrink};
  const double square = w.x * w.x + w.y * w.y;
  if (model_ == Model::klein) return {w.x, w.y, std::sqrt(1 - square)};
  return {2 * w.x / (1 + square), 2 * w.y / (1 + square), (1 - square) / (1 + square)};
}

/// Adds a straight line. Towards infinity of the half-plane it keeps its direction.
void ModelView::line_to(Path& path, const CycleArc& arc, Ends ends) const {
  const auto is_far = [&](const HemispherePoint& p) {
    return model_ == Model::halfspace && (p - point_at_infinity).norm() < 1e-12;
  };
  const auto beyond = [&](const HemispherePoint& near, const HemispherePoint& via) {
    const Point a = page(near), b = page(via);
    const double length = std::max(distance(a, b), 1e-300);
    const Point way{(b.x - a.x) / length, (b.y - a.y) / length};
    const double reach = ends == Ends::far ? far_away * box().width : exit_from(box(), a, way);
    return Point{a.x + way.x * reach, a.y + way.y * reach};
  };
  const bool back = arc.whole || is_far(arc.from), ahead = arc.whole || is_far(arc.to);
  const Point from =
      back ? beyond(arc.whole ? arc.via : arc.to, arc.whole ? arc.from : arc.via) : page(arc.from);
  const Point to = ahead ? beyond(arc.from, arc.via) : page(arc.to);
  if (path.empty() || (back && ends == Ends::clipped)) {
    path.move(from);
  } else if (distance(path.current(), from) > 1e-9) {
    path.line(from);
  }
  path.line(to);
}

void ModelView::add_circle_arc(Path& path, const CycleArc& arc, const WeightedCircle& c,
                               Ends ends) const {
  const double span = scene_.window().width();
  const double chord =
      arc.whole ? span : std::min(distance(world(arc.from), world(arc.to)), 4 * span);
  const double sagitta = chord * chord * std::abs(c.a) / (8 * std::max(c.radius, 1e-300));
  if (sagitta * scene_.scale() < straight) return line_to(path, arc, ends);
  const Point centre{c.centre.x() / c.a, c.centre.y() / c.a};
  const double radius = c.radius / std::abs(c.a);
  const auto angle = [&](const HemispherePoint& p) {
    const Point at = world(p);
    return std::atan2(at.y - centre.y, at.x - centre.x);
  };
  const double from = angle(arc.from);
  const double sweep = arc.whole ? 2 * pi : sweep_through(from, angle(arc.via), angle(arc.to));
  scene_.arc(path, centre, radius, from, from + sweep);
}

void ModelView::add_klein_arc(Path& path, const CycleArc& arc, Ends ends) const {
  const KleinEllipse e = klein_ellipse(arc.cycle());
  if (e.along * scene_.scale() < straight) return line_to(path, arc, ends);
  const double cosine = std::cos(e.tilt), sine = std::sin(e.tilt);
  const auto angle = [&](const HemispherePoint& p) {
    const double x = p.x() - e.centre.x(), y = p.y() - e.centre.y();
    return std::atan2((y * cosine - x * sine) / e.across, (x * cosine + y * sine) / e.along);
  };
  const double from = angle(arc.from);
  const double sweep = arc.whole ? 2 * pi : sweep_through(from, angle(arc.via), angle(arc.to));
  // The page's y axis points down, so that every angle changes its sign.
  const double scale = scene_.scale();
  path.ellipse_arc({scene_.page({e.centre.x(), e.centre.y()}), e.along * scale, e.across * scale,
                    -from, -sweep, -e.tilt});
}

void ModelView::add_refined(Path& path, const CycleArc& arc) const {
  const ArcParameter at(arc);
  const std::function<Point(double)> f = [&](double t) { return page(at(t)); };
  if (path.empty()) path.move(f(0));
  constexpr int pieces = 8;  // No symmetric curve passes all these samples unnoticed.
  if (model_ != Model::band) {
    for (int i = 0; i < pieces; ++i) {
      refine(f, static_cast<double>(i) / pieces, static_cast<double>(i + 1) / pieces, 8, path);
    }
    return;
  }
  // In the band a curve may extend to infinity, where no cubic follows it. It is drawn between the
  // points where it leaves the window, and a straight line outside joins these.
  const Box near = box().grown(0.25 * box().height);
  const auto inside = [&](double t) {
    const double y = f(t).y;
    return y >= near.y && y <= near.bottom();
  };
  const auto border = [&](double in, double out) {
    for (int i = 0; i < 60; ++i) (inside((in + out) / 2) ? in : out) = (in + out) / 2;
    return in;
  };
  constexpr int samples = 8 * pieces;
  for (int i = 0; i < samples; ++i) {
    const double a = static_cast<double>(i) / samples, b = static_cast<double>(i + 1) / samples;
    const bool from = inside(a), to = inside(b);
    if (!from && to) path.line(f(border(b, a)));
    if (from || to) refine(f, from ? a : border(b, a), to ? b : border(a, b), 8, path);
    if (!to) path.line(f(b));
  }
}

void ModelView::add_arc(Path& path, const CycleArc& arc, Ends ends) const {
  switch (model_) {
    case Model::halfspace:
      return add_circle_arc(path, arc, half_plane_circle(arc.cycle()), ends);
    case Model::ball:
      return add_circle_arc(path, arc, ball_circle(arc.cycle()), ends);
    case Model::klein:
      return add_klein_arc(path, arc, ends);
    case Model::band:
    case Model::hyperboloid:
      return add_refined(path, arc);
  }
}

Path ModelView::path(const Curve& curve) const {
  Path path;
  for (const CycleArc& arc : curve) add_arc(path, arc, Ends::far);
  const bool closed = !curve.empty() &&
                      (curve.front().whole || (curve.front().from - curve.back().to).norm() < 1e-9);
  return closed ? path.close() : path;
}

Path ModelView::line(const Curve& curve) const {
  Path path;
  for (const CycleArc& arc : curve) add_arc(path, arc, Ends::clipped);
  return path;
}

Path ModelView::area(const CycleArc& whole, const HemispherePoint& inside) const {
  const Cycle cycle = whole.cycle();
  const bool line = model_ == Model::halfspace && std::abs(cycle.normal.y() + cycle.m) < 1e-12;
  if (!line) return path({whole});
  // Everything on one side of a line is a quadrilateral that is far larger than the window.
  const Point a = world(whole.from), b = world(whole.via), in = world(inside);
  const double length = distance(a, b), reach = far_away * scene_.window().width();
  const Point along{(b.x - a.x) / length * reach, (b.y - a.y) / length * reach};
  const double side = (b.x - a.x) * (in.y - a.y) - (b.y - a.y) * (in.x - a.x) > 0 ? 1 : -1;
  const Point across{-along.y * side, along.x * side};
  return Path::polyline(
      {scene_.page({a.x - along.x, a.y - along.y}), scene_.page({a.x + along.x, a.y + along.y}),
       scene_.page({a.x + along.x + across.x, a.y + along.y + across.y}),
       scene_.page({a.x - along.x + across.x, a.y - along.y + across.y})},
      true);
}

Path ModelView::domain() const {
  if (model_ == Model::ball || model_ == Model::klein) return scene_.circle({0, 0}, 1);
  return Path::rectangle(field());
}

Box ModelView::field() const {
  if (model_ != Model::band) return box();
  const double left = scene_.page({-pi / 2, 0}).x, right = scene_.page({pi / 2, 0}).x;
  return {left, box().y, right - left, box().height};
}

}  // namespace conelab::figure
