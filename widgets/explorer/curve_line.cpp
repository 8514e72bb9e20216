#include "widgets/explorer/curve_line.h"

#include <algorithm>
#include <cmath>

#include "core/drawing/plane_scene.h"

namespace conelab::desktop {
namespace {

using figure::Box;
using figure::Point;

constexpr double sagitta = 0.1;  ///< Pixels.
constexpr int deepest = 44, pieces = 12;
constexpr std::size_t most_points = 20000;

/// Distance of p to the segment ab.
double away(const Point& p, const Point& a, const Point& b) {
  const double dx = b.x - a.x, dy = b.y - a.y, n = dx * dx + dy * dy;
  const double t = n > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / n, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/// Splits one arc by its parameter.
class Splitter {
 public:
  Splitter(const figure::CycleArc& arc, const Projection& project, const Box& seen, Line& out)
      : at_(arc), project_(project), seen_(seen), out_(out) {}

  void run() {
    Point from = page(0);
    out_.push_back(from);
    for (int i = 0; i < pieces; ++i) {
      const double a = i / static_cast<double>(pieces), b = (i + 1.0) / pieces;
      const Point to = page(b);
      split(a, b, from, to, deepest);
      from = to;
    }
  }

 private:
  Point page(double t) const { return project_(at_(t)); }

  /// Returns whether a piece whose points lie within `reach` of its chord is invisible.
  bool unseen(const Point& a, const Point& b, double reach) const {
    return std::max(a.x, b.x) + reach < seen_.x || std::min(a.x, b.x) - reach > seen_.right() ||
           std::max(a.y, b.y) + reach < seen_.y || std::min(a.y, b.y) - reach > seen_.bottom();
  }

  void split(double a, double b, const Point& from, const Point& to, int left) {
    const double middle = (a + b) / 2;
    const Point m = page(middle);
    // Two further points detect an inflection in the middle.
    const double bow = std::max({away(m, from, to), away(page(0.75 * a + 0.25 * b), from, to),
                                 away(page(0.25 * a + 0.75 * b), from, to)});
    if (bow < sagitta || left == 0 || out_.size() > most_points || unseen(from, to, 2 * bow)) {
      out_.push_back(m);
      out_.push_back(to);
      return;
    }
    split(a, middle, from, m, left - 1);
    split(middle, b, m, to, left - 1);
  }

  figure::ArcParameter at_;
  const Projection& project_;
  const Box& seen_;
  Line& out_;
};

/// Clips at one half-plane (Sutherland and Hodgman). `inside` returns the signed distance from the
/// border, `cross` the point on the border.
template <class Inside>
Line cut(const Line& closed, Inside inside) {
  Line out;
  for (std::size_t i = 0; i < closed.size(); ++i) {
    const Point& a = closed[i];
    const Point& b = closed[(i + 1) % closed.size()];
    const double in_a = inside(a), in_b = inside(b);
    if (in_a >= 0) out.push_back(a);
    if ((in_a >= 0) != (in_b >= 0)) {
      const double t = in_a / (in_a - in_b);
      out.push_back({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)});
    }
  }
  return out;
}

constexpr double cell = 3, stride = 2;  ///< Pixels.
constexpr double shortest = 15;         ///< Pixels; shorter lines are not drawn.
/// Pixels; shorter parts of a line are not drawn, since they would look like dashes.
constexpr double shortest_part = 60;

double length(const Line& line) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    sum += std::hypot(line[i + 1].x - line[i].x, line[i + 1].y - line[i].y);
  }
  return sum;
}

/// Visits the points of the line, and more points between those whose distance exceeds a stride.
template <class Visit>
void visit_points(const Line& line, Visit visit) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    visit(line[i], true);
    if (i + 1 == line.size()) break;
    const figure::Point &a = line[i], &b = line[i + 1];
    const int parts = static_cast<int>(std::hypot(b.x - a.x, b.y - a.y) / stride);
    for (int k = 1; k < parts; ++k) {
      const double t = static_cast<double>(k) / parts;
      visit(figure::Point{a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)}, false);
    }
  }
}

}  // namespace

Line flattened(const figure::Curve& curve, const Projection& project, const Box& visible) {
  Line out;
  const Box seen = visible.grown(20);
  for (const figure::CycleArc& arc : curve) Splitter(arc, project, seen, out).run();
  // Two arcs that meet share a point.
  const auto same = [](const Point& a, const Point& b) {
    return std::abs(a.x - b.x) + std::abs(a.y - b.y) < 1e-6;
  };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

Line clipped_area(const Line& closed, const Box& box) {
  Line out = cut(closed, [&](const Point& p) { return p.x - box.x; });
  out = cut(out, [&](const Point& p) { return box.right() - p.x; });
  out = cut(out, [&](const Point& p) { return p.y - box.y; });
  return cut(out, [&](const Point& p) { return box.bottom() - p.y; });
}

std::vector<Line> clipped_line(const Line& line, const Box& box) {
  std::vector<Line> out;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    Point a = line[i], b = line[i + 1];
    if (!figure::clip_to(box, a, b)) continue;
    if (out.empty() || !(out.back().back() == a)) out.push_back({a});
    if (!(a == b)) out.back().push_back(b);
  }
  std::erase_if(out, [](const Line& piece) { return piece.size() < 2; });
  return out;
}

std::vector<Line> dashed(const Line& line, double on, double off) {
  std::vector<Line> out;
  double left = on;
  bool drawn = true;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    Point a = line[i];
    const Point& b = line[i + 1];
    for (double length = std::hypot(b.x - a.x, b.y - a.y); length > 0;) {
      const double part = std::min(left, length) / length;
      const Point c{a.x + part * (b.x - a.x), a.y + part * (b.y - a.y)};
      if (drawn && (out.empty() || left == on || out.back().empty())) out.push_back({a});
      if (drawn) out.back().push_back(c);
      left -= part * length, length -= part * length, a = c;
      if (left > 1e-9) continue;
      drawn = !drawn;
      left = drawn ? on : off;
      if (length < 1e-9) break;
    }
  }
  return out;
}

LineSpacing::LineSpacing(const figure::Box& box)
    : box_(box),
      columns_(std::max(1, static_cast<int>(std::ceil(box.width / cell)))),
      rows_(std::max(1, static_cast<int>(std::ceil(box.height / cell)))),
      cells_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_), 0) {}

bool LineSpacing::taken(const figure::Point& p) const {
  const int column = static_cast<int>(std::floor((p.x - box_.x) / cell));
  const int row = static_cast<int>(std::floor((p.y - box_.y) / cell));
  for (int r = std::max(0, row - 1); r <= std::min(rows_ - 1, row + 1); ++r) {
    for (int c = std::max(0, column - 1); c <= std::min(columns_ - 1, column + 1); ++c) {
      if (cells_[static_cast<std::size_t>(r * columns_ + c)] != 0) return true;
    }
  }
  return false;
}

std::vector<Line> LineSpacing::kept(const Line& line) const {
  std::vector<Line> out;
  bool on = false, whole = true;
  figure::Point last;
  const auto end = [&] {
    if (on && !(out.back().back() == last)) out.back().push_back(last);
    if (on && length(out.back()) < (whole ? shortest : shortest_part)) out.pop_back();
    on = false;
  };
  visit_points(line, [&](const figure::Point& p, bool corner) {
    if (taken(p)) {
      whole = false;
      return end();
    }
    if (!on) out.emplace_back(Line{p});
    if (on && corner) out.back().push_back(p);
    on = true;
    last = p;
  });
  end();
  return out;
}

void LineSpacing::add(const std::vector<Line>& lines) {
  for (const Line& line : lines) {
    visit_points(line, [&](const figure::Point& p, bool) {
      const int column = static_cast<int>(std::floor((p.x - box_.x) / cell));
      const int row = static_cast<int>(std::floor((p.y - box_.y) / cell));
      if (column < 0 || row < 0 || column >= columns_ || row >= rows_) return;
      cells_[static_cast<std::size_t>(row * columns_ + column)] = 1;
    });
  }
}

}  // namespace conelab::desktop
