#include "core/figure/plane_similarity.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/find_named.h"

namespace conelab::figure {
namespace {

using Eigen::Vector2d;

constexpr PlaneSimilarityInfo rows[] = {
    {PlaneSimilarity::dot, "dot", "u·x/√2"},
    {PlaneSimilarity::laplacian, "laplacian", "−‖u − x‖"},
    {PlaneSimilarity::hyperbolic, "hyperbolic", "−d(u, x)"},
};

/// Returns the line u·x = product, from the boundary to ∞. If it does not meet the boundary, it is
/// a horosphere at ∞.
Curve line_of(const Vector2d& u, double product) {
  if (std::abs(u.x()) < 1e-9 * u.y()) {
    const double height = product / u.y();
    if (!(height > 0)) return {};
    return {{from_half_plane(-height, height), from_half_plane(0, height),
             from_half_plane(height, height), true}};
  }
  const double foot = product / u.x();
  const Vector2d upwards = Vector2d(u.x() > 0 ? -u.y() : u.y(), std::abs(u.x())).normalized();
  const Vector2d via = Vector2d(foot, 0) + std::max(1.0, std::abs(foot)) * upwards;
  return {{from_half_plane(foot, 0), from_half_plane(via.x(), via.y()), point_at_infinity}};
}

/// Returns the part above the boundary of the Euclidean circle about u.
Curve round(const Vector2d& u, double radius) {
  const auto at = [&](double angle) {
    return from_half_plane(u.x() + radius * std::cos(angle), u.y() + radius * std::sin(angle));
  };
  const double quarter = std::numbers::pi / 2, third = 2 * std::numbers::pi / 3;
  if (radius <= u.y()) return {{at(quarter), at(quarter + third), at(quarter - third), true}};
  const double half = std::sqrt(radius * radius - u.y() * u.y());
  return {{from_half_plane(u.x() - half, 0), at(quarter), from_half_plane(u.x() + half, 0)}};
}

Curve curve_at(PlaneSimilarity similarity, const Vector2d& u, double value) {
  if (similarity == PlaneSimilarity::dot) return line_of(u, std::numbers::sqrt2 * value);
  if (!(value < 0)) return {};
  return similarity == PlaneSimilarity::laplacian ? round(u, -value) : circle_curve(u, -value);
}

}  // namespace

std::span<const PlaneSimilarityInfo> plane_similarities() { return rows; }

const PlaneSimilarityInfo* plane_similarity(const std::string& name) {
  return find_named(rows, name);
}

double similarity_of(PlaneSimilarity similarity, const Vector2d& u, const Vector2d& x) {
  switch (similarity) {
    case PlaneSimilarity::dot:
      return u.dot(x) / std::numbers::sqrt2;
    case PlaneSimilarity::laplacian:
      return -(u - x).norm();
    case PlaneSimilarity::hyperbolic:
      break;
  }
  return -2 * std::asinh((u - x).norm() / (2 * std::sqrt(u.y()) * std::sqrt(x.y())));
}

SimilarityRange similarity_range(PlaneSimilarity similarity, const Vector2d& u,
                                 const PlanePart& part) {
  const bool endless = similarity == PlaneSimilarity::hyperbolic;
  const double low = endless ? 0.05 * part.top : 0;
  SimilarityRange range{HUGE_VAL, -HUGE_VAL, endless};
  for (const double x : {part.left, part.right}) {
    for (const double height : {low, part.top}) {
      const double value = similarity_of(similarity, u, {x, height});
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  }
  if (similarity != PlaneSimilarity::dot) range.high = 0;
  return range;
}

double round_level_step(double low, double high, int most) {
  const double least = (high - low) / most;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double m : {1.0, 2.0, 5.0}) {
    if (m * power >= least) return m * power;
  }
  return 10 * power;
}

std::vector<Curve> similarity_curves(PlaneSimilarity similarity, const Vector2d& u,
                                     const SimilarityRange& range, double step) {
  std::vector<Curve> curves;
  for (double i = std::ceil(range.low / step); i * step <= range.high; ++i) {
    Curve curve = curve_at(similarity, u, i * step);
    if (!curve.empty()) curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace conelab::figure
