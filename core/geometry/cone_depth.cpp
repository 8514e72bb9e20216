#include "core/geometry/cone_depth.h"

#include <cmath>

#include "core/base/names.h"

namespace conelab::geometry {
namespace {

/// Returns the height whose distance counts as 0.
double level_of_light(const ConeSystem& system) {
  return system.family->penumbral ? system.family->extent(system.values) : 1;
}

}  // namespace

DepthMeasure depth_measure(const std::string& name) {
  return static_cast<DepthMeasure>(index_of_name("depth", name, {"height", "distance"}));
}

double depth_of(const ConeSystem& system, double radial, DepthMeasure measure) {
  if (!system.infinite()) return radial;
  if (measure == DepthMeasure::height) return -radial;
  return -std::log(radial / level_of_light(system));
}

double radial_of(const ConeSystem& system, double depth, DepthMeasure measure) {
  if (!system.infinite()) return depth;
  if (measure == DepthMeasure::height) return -depth;
  return level_of_light(system) * std::exp(-depth);
}

}  // namespace conelab::geometry
