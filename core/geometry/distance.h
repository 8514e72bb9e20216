// Hyperbolic distance in every model, accurate near 0 and far out.
//
// No acosh(1 + tiny): each formula is a sinh of the distance whose square is a sum of positive
// terms, built from differences of the given coordinates, which are exact for close points.
//   halfspace    d = 2 asinh( ‖u−v‖ / (2√(u_d v_d)) )
//   ball         d = 2 asinh( ‖u−v‖ / √((1−‖u‖²)(1−‖v‖²)) )
//   klein        d = asinh √( (g_u‖D‖² + ⟨u,D⟩²) / (g_u g_v) ),  D = u−v, g = 1−‖·‖²
//   hyperboloid  d = 2 asinh(½‖u−v‖_M), evaluated as
//                sinh²(d/2) = sinh²((ρ_u−ρ_v)/2) + sinh ρ_u sinh ρ_v sin²(θ/2)
//   band         sinh²(d/2) = (sinh²(Δt/2) + sin²(α/2)) / (cos φ_u cos φ_v),
//                α the angle between the directions on the hemisphere
#pragma once

#include "core/geometry/model.h"

namespace conelab::geometry {

/// Distance of two points; of different models through the spatial parts. Misuse when the
/// dimensions differ, naming both. Symmetric to rounding; 0 exactly for equal coordinates.
[[nodiscard]] double distance(const ModelPoint& u, const ModelPoint& v);
/// The same for bare coordinates of one model (checked by `point`).
[[nodiscard]] double distance(Model model, const Vector& u, const Vector& v);

/// Angle between two directions (any non-zero vectors), 2 atan2(‖a−b‖, ‖a+b‖) of the unit vectors:
/// accurate near 0 and near π, where acos of the scalar product is not.
[[nodiscard]] double angle_between(const Vector& a, const Vector& b);

}  // namespace conelab::geometry
