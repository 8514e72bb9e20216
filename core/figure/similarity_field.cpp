#include "core/figure/similarity_field.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/names.h"
#include "core/drawing/axes.h"
#include "core/geometry/isometry.h"

namespace conelab::figure {
namespace {

constexpr double least_range = 1e-3;  ///< Smallest range of depths (u near the light).

/// Returns the place of a finite source in the half-plane.
Eigen::Vector2d source_of(const geometry::ConeSystem& system) {
  const geometry::Vector standard = Eigen::Vector2d(0, 1);
  if (system.infinite() || !system.to_standard) return standard;
  return geometry::apply(geometry::inverse(*system.to_standard), standard);
}

}  // namespace

SimilarityField::SimilarityField(const geometry::ConeSystem& system, const Eigen::Vector2d& u,
                                 geometry::DepthMeasure measure, const PlaneSimilarityInfo* other)
    : system_(system),
      domain_(system_.family->domain(system_.values)),
      measure_(measure),
      other_(other),
      u_place_(u),
      source_(source_of(system_)),
      largest_(system_.family->largest_shadow(system_.values)) {
  bool outside = false;
  u_ = locate(u, outside);
}

SimilarityRange SimilarityField::range(const PlanePart& part) const {
  if (other_ != nullptr) return similarity_range(other_->similarity, u_place_, part);
  const auto depth = [&](double radial) { return geometry::depth_of(system_, radial, measure_); };
  const double own = depth(u_.radial);
  if (!system_.infinite()) return {0, std::max(own, least_range), false};
  const bool penumbral = system_.family->penumbral;
  const double low = depth(penumbral ? system_.family->extent(system_.values) : part.top);
  if (measure_ == geometry::DepthMeasure::height) return {low, 0, true};
  return {std::min(low, own - least_range), own, true};
}

LawPoint SimilarityField::locate(const Eigen::Vector2d& x, bool& outside) const {
  LawPoint p;
  if (system_.infinite()) {
    p.axis = x[0], p.radial = x[1];
  } else {
    const double a = (x[0] - source_[0]) / source_[1], b = x[1] / source_[1];
    p.axis = std::atan2(a * a + b * b - 1, 2 * a);
    p.radial = 2 * std::asinh(std::hypot(a, b - 1) / (2 * std::sqrt(b)));
  }
  outside = p.radial <= domain_.low || p.radial >= domain_.high;
  if (outside) {
    p.radial = system_.infinite() ? domain_.high * (1 - 1e-12) : domain_.low * (1 + 1e-9) + 1e-12;
  }
  p.shadow = system_.family->shadow(system_.values, p.radial);
  return p;
}

double SimilarityField::radial_of_lca(const LawPoint& p, bool& extended) const {
  const geometry::ConeFamily& family = *system_.family;
  double base = std::abs(p.axis - u_.axis);
  if (!system_.infinite()) base = std::min(base, 2 * M_PI - base);
  const double shadow = std::max({u_.shadow, p.shadow, (u_.shadow + p.shadow + base) / 2});
  extended = shadow > largest_;
  if (shadow == u_.shadow) return u_.radial;
  if (shadow == p.shadow) return p.radial;
  if (extended && family.extension != nullptr) {
    return family.extension(system_.values, u_.radial, p.radial, base);
  }
  return family.radial(system_.values, std::min(shadow, largest_));
}

SimilarityField::Value SimilarityField::at(const Eigen::Vector2d& x) const {
  Value value;
  value.place = locate(x, value.outside);
  if (other_ != nullptr) {
    value.similarity = similarity_of(other_->similarity, u_place_, x);
    return value;
  }
  const double radial = radial_of_lca(value.place, value.extended);
  value.similarity = geometry::depth_of(system_, radial, measure_);
  return value;
}

std::vector<Colour> heat_colours(ColourMap map, Colour ground, bool extended) {
  constexpr int count = 256;
  const double strength = extended ? 0.30 : 0.55;
  const auto mixed = [&](std::uint8_t from, std::uint8_t to) {
    return static_cast<std::uint8_t>(std::lround(from + (to - from) * strength));
  };
  std::vector<Colour> colours;
  for (int i = 0; i < count; ++i) {
    const Colour c = colour_at(map, i / (count - 1.0));
    colours.push_back({mixed(ground.r, c.r), mixed(ground.g, c.g), mixed(ground.b, c.b), 255});
  }
  return colours;
}

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
  return round_step((high - low) / most);
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
