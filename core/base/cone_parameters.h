// The parameters of cones. Similarities, maps and geometry share them.
#pragma once

#include "core/base/parameter.h"

namespace conelab {

inline constexpr ParameterInfo inverse_temperature{"gamma", 1.0, Domain::positive, true,
                                                   "inverse temperature"};
inline constexpr ParameterInfo cone_height{"height", 1.0, Domain::positive, true,
                                           "height h of the light's horosphere"};
inline constexpr ParameterInfo cone_radius{"radius", 0.1, Domain::positive, true,
                                           "hyperbolic radius r of the objects"};
inline constexpr ParameterInfo cone_source_radius{"source_radius", 0.5, Domain::moderate, true,
                                                  "radius R of the light's ball"};
inline constexpr ParameterInfo cone_object_radius{"object_radius", 0.1, Domain::moderate, true,
                                                  "hyperbolic radius r of the objects"};
inline constexpr ParameterInfo cone_k{"K", 0.1, Domain::moderate, true,
                                      "constant K of the cones' aperture"};

}  // namespace conelab
