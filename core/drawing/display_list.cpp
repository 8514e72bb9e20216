#include "core/drawing/display_list.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "core/base/error.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/text.h"

namespace conelab::figure {
namespace {

/// Returns by how many points text moves down so that its line `align` lies on the given point.
double baseline_shift(Align align, double size) {
  switch (align) {
    case Align::baseline:
      return 0;
    case Align::middle:
      return 0.5 * cap_height() * size;
    case Align::top:
      return ascent() * size;
    case Align::bottom:
      return -descent() * size;
  }
  return 0;
}

/// Returns the largest distance of the standard cubic from the unit circle, over an angle up to a
/// quarter turn: 2.73e-4 at 90 degrees, falling with the sixth power.
double unit_error(double angle) {
  return 2.73e-4 * std::pow(std::abs(angle) / (std::numbers::pi / 2), 6);
}

int pieces(const ArcTo& arc) {
  constexpr double tolerance = 0.002;
  const double radius = std::max(std::abs(arc.rx), std::abs(arc.ry));
  int n =
      std::max(1, static_cast<int>(std::ceil(std::abs(arc.sweep) / (std::numbers::pi / 2) - 1e-9)));
  while (n < 4096 && radius * unit_error(arc.sweep / n) > tolerance) ++n;
  return n;
}

/// Returns the direction of travel at an angle, times the step of the control point.
Point tangent(const ArcTo& arc, double angle, double step) {
  const double x = -arc.rx * std::sin(angle) * step, y = arc.ry * std::cos(angle) * step;
  const double c = std::cos(arc.rotation), s = std::sin(arc.rotation);
  return {c * x - s * y, s * x + c * y};
}

}  // namespace

Colour Colour::opacity(double alpha) const {
  return {r, g, b, static_cast<std::uint8_t>(std::lround(255 * std::clamp(alpha, 0.0, 1.0)))};
}

Point ArcTo::at(double angle) const {
  const double x = rx * std::cos(angle), y = ry * std::sin(angle);
  const double c = std::cos(rotation), s = std::sin(rotation);
  return {centre.x + c * x - s * y, centre.y + s * x + c * y};
}

Path& Path::move(Point to) {
  segments.emplace_back(MoveTo{to});
  return *this;
}

Path& Path::line(Point to) {
  segments.emplace_back(LineTo{to});
  return *this;
}

Path& Path::arc(Point centre, double radius, double from, double sweep) {
  return ellipse_arc({centre, radius, radius, from, sweep, 0});
}

Path& Path::ellipse_arc(const ArcTo& arc) {
  const Point start = arc.start();
  if (empty()) {
    move(start);
  } else if (std::hypot(start.x - current().x, start.y - current().y) > 1e-9) {
    line(start);
  }
  segments.emplace_back(arc);
  return *this;
}

Path& Path::cubic(Point control1, Point control2, Point to) {
  segments.emplace_back(CubicTo{control1, control2, to});
  return *this;
}

Path& Path::close() {
  segments.emplace_back(Close{});
  return *this;
}

Point Path::current() const {
  struct End {
    Point operator()(const MoveTo& s) const { return s.to; }
    Point operator()(const LineTo& s) const { return s.to; }
    Point operator()(const ArcTo& s) const { return s.end(); }
    Point operator()(const CubicTo& s) const { return s.to; }
    Point operator()(const Close&) const { return {}; }
  };
  if (empty()) return {};
  if (!std::holds_alternative<Close>(segments.back())) return std::visit(End{}, segments.back());
  for (auto it = segments.rbegin(); it != segments.rend(); ++it) {
    if (const auto* start = std::get_if<MoveTo>(&*it)) return start->to;
  }
  return {};
}

Path Path::segment(Point from, Point to) { return Path().move(from).line(to); }

Path Path::polyline(const std::vector<Point>& points, bool closed) {
  Path path;
  for (const Point& p : points) path.empty() ? path.move(p) : path.line(p);
  if (closed && !path.empty()) path.close();
  return path;
}

Path Path::rectangle(const Box& box) {
  return polyline(
      {{box.x, box.y}, {box.right(), box.y}, {box.right(), box.bottom()}, {box.x, box.bottom()}},
      true);
}

Path Path::circle(Point centre, double radius) {
  return Path().arc(centre, radius, 0, 2 * std::numbers::pi).close();
}

void DisplayList::path(Path outline, Paint paint) {
  if (!outline.empty()) items.emplace_back(PathItem{std::move(outline), std::move(paint)});
}

void DisplayList::line(Point from, Point to, const Stroke& stroke) {
  path(Path::segment(from, to), {transparent, stroke});
}

void DisplayList::rectangle(const Box& box, const Paint& paint) {
  path(Path::rectangle(box), paint);
}

void DisplayList::circle(Point centre, double radius, const Paint& paint) {
  path(Path::circle(centre, radius), paint);
}

void DisplayList::text(Point at, const std::string& string, const TextStyle& style) {
  text(at, std::vector<TextRun>{{string, style.face, Script::normal}}, style);
}

void DisplayList::text(Point at, std::vector<TextRun> runs, const TextStyle& style) {
  for (TextRun& run : runs) run.text = clean_text(run.text);
  std::erase_if(runs, [](const TextRun& run) { return run.text.empty(); });
  if (runs.empty()) return;
  const double turn = style.rotation * std::numbers::pi / 180;
  const double shift = baseline_shift(style.align, style.size);
  items.emplace_back(TextItem{{at.x - shift * std::sin(turn), at.y + shift * std::cos(turn)},
                              std::move(runs),
                              style.size,
                              style.anchor,
                              style.rotation,
                              style.colour,
                              style.halo});
}

void DisplayList::image(const Box& box, std::size_t columns, std::size_t rows,
                        std::vector<std::uint8_t> rgba) {
  items.emplace_back(ImageItem{box, columns, rows, std::move(rgba)});
}

std::vector<CubicTo> arc_curves(const ArcTo& arc) {
  const int n = pieces(arc);
  const double angle = arc.sweep / n, step = 4.0 / 3.0 * std::tan(angle / 4);
  std::vector<CubicTo> curves;
  for (int i = 0; i < n; ++i) {
    const double begin = arc.from + i * angle, end = arc.from + (i + 1) * angle;
    const Point p = arc.at(begin), q = arc.at(end);
    const Point leaving = tangent(arc, begin, step), arriving = tangent(arc, end, step);
    curves.push_back({{p.x + leaving.x, p.y + leaving.y}, {q.x - arriving.x, q.y - arriving.y}, q});
  }
  return curves;
}

// The checks that every writer relies on.

namespace {

template <class... Values>
void finite(const char* what, Values... values) {
  if (!(std::isfinite(values) && ...)) fail("figure: a {} is not finite", what);
}

struct SegmentCheck {
  void operator()(const MoveTo& s) const { finite("path's point", s.to.x, s.to.y); }
  void operator()(const LineTo& s) const { finite("path's point", s.to.x, s.to.y); }
  void operator()(const ArcTo& s) const {
    finite("arc", s.centre.x, s.centre.y, s.rx, s.ry, s.from, s.sweep, s.rotation);
  }
  void operator()(const CubicTo& s) const {
    finite("curve", s.control1.x, s.control1.y, s.control2.x, s.control2.y, s.to.x, s.to.y);
  }
  void operator()(const Close&) const {}
};

void check(const Path& path) {
  for (const Segment& s : path.segments) std::visit(SegmentCheck{}, s);
  if (!path.empty() && !std::holds_alternative<MoveTo>(path.segments.front())) {
    fail("figure: a path does not begin with a move");
  }
}

struct ItemCheck {
  std::vector<char> open = {};
  std::set<std::string> ids = {};

  void operator()(const PathItem& i) {
    check(i.path);
    finite("line width", i.paint.stroke.width);
  }
  void operator()(const TextItem& i) { finite("text", i.at.x, i.at.y, i.size, i.rotation, i.halo); }
  void operator()(const ImageItem& i) {
    finite("image", i.box.x, i.box.y, i.box.width, i.box.height);
    if (i.columns == 0 || i.rows == 0 || i.rgba.size() != 4 * i.columns * i.rows) {
      fail("figure: an image of {} x {} cells carries {} bytes (expected {})", i.columns, i.rows,
           i.rgba.size(), 4 * i.columns * i.rows);
    }
  }
  void operator()(const ClipBegin& i) {
    check(i.path);
    open.push_back('c');
  }
  void operator()(const ClipEnd&) { pop('c', "clip"); }
  void operator()(const GroupBegin& i) {
    if (!ids.insert(i.id).second) fail("figure: two groups are called '{}'", i.id);
    open.push_back('g');
  }
  void operator()(const GroupEnd&) { pop('g', "group"); }
  void pop(char kind, const char* name) {
    if (open.empty() || open.back() != kind) fail("figure: the end of a {} that is not open", name);
    open.pop_back();
  }
};

}  // namespace

void validate(const DisplayList& list) {
  finite("page", list.width, list.height);
  if (list.width <= 0 || list.height <= 0) {
    fail("figure: the page is {} x {} points (expected positive)", list.width, list.height);
  }
  ItemCheck items;
  for (const Item& item : list.items) std::visit(items, item);
  if (!items.open.empty()) fail("figure: a clip or group is never closed");
}

}  // namespace conelab::figure
