#include "core/figure/similarity_field.h"

#include <algorithm>
#include <cmath>

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

}  // namespace conelab::figure
