// How deep an element of a cone family is: what attention reads off the lowest common ancestor.
//
//                 infinite source                           finite source
//   height        −height                                   ρ
//   distance      −ln(height/h) penumbral, −ln height umbral    ρ
//
// With `distance` the depth of a penumbral family is its hyperbolic distance from the light; the
// light of umbral cones is infinitely far, and ln height is that distance up to a constant. Finite
// families are distances already. Source: Coneheads (2023), eq. 4; `depth` in
// core/similarity/penumbral_distance.h and umbral_distance.h.
#pragma once

#include <string>

#include "core/geometry/cone_law.h"

namespace conelab::geometry {

enum class DepthMeasure { height, distance };
/// Returns the measure of the name "height" or "distance". Throws misuse for another name.
[[nodiscard]] DepthMeasure depth_measure(const std::string& name);

/// Returns the depth of the radial coordinate, which grows away from the light.
[[nodiscard]] double depth_of(const ConeSystem& system, double radial, DepthMeasure measure);
/// Returns the radial coordinate of a depth, the inverse of `depth_of`.
[[nodiscard]] double radial_of(const ConeSystem& system, double depth, DepthMeasure measure);

}  // namespace conelab::geometry
