#include "core/figure/arc_curves.h"

#include <algorithm>
#include <cmath>

namespace conelab::figure {
namespace {

/// Largest distance of the standard cubic from the unit circle, over an angle up to a quarter turn:
/// 2.73e-4 at 90 degrees, falling with the sixth power.
double unit_error(double angle) {
  return 2.73e-4 * std::pow(std::abs(angle) / (std::numbers::pi / 2), 6);
}

int pieces(const ArcTo& arc, double tolerance) {
  const double radius = std::max(std::abs(arc.rx), std::abs(arc.ry));
  int n =
      std::max(1, static_cast<int>(std::ceil(std::abs(arc.sweep) / (std::numbers::pi / 2) - 1e-9)));
  while (n < 4096 && radius * unit_error(arc.sweep / n) > tolerance) ++n;
  return n;
}

/// The direction of travel at an angle, times the step of the control point.
Point tangent(const ArcTo& arc, double angle, double step) {
  const double x = -arc.rx * std::sin(angle) * step, y = arc.ry * std::cos(angle) * step;
  const double c = std::cos(arc.rotation), s = std::sin(arc.rotation);
  return {c * x - s * y, s * x + c * y};
}

}  // namespace

std::vector<CubicTo> arc_curves(const ArcTo& arc, double tolerance) {
  const int n = pieces(arc, tolerance);
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

}  // namespace conelab::figure
