// Hyperbolic distance in the five models. It is accurate for close points and for distant ones.
//
// The formula acosh(1 + tiny) is avoided: each formula below is a sinh of the distance whose square
// is a sum of positive terms. The terms are built from differences of the given coordinates, which
// are exact for close points.
//   halfspace    d = 2 asinh( ‖u−v‖ / (2√(u_d v_d)) )
//   ball         d = 2 asinh( ‖u−v‖ / √((1−‖u‖²)(1−‖v‖²)) )
//   klein        d = asinh √( (g_u‖D‖² + ⟨u,D⟩²) / (g_u g_v) ),  D = u−v, g = 1−‖·‖²
//   hyperboloid  d = 2 asinh(½‖u−v‖_M), evaluated as
//                sinh²(d/2) = sinh²((ρ_u−ρ_v)/2) + sinh ρ_u sinh ρ_v sin²(θ/2)
//   band         sinh²(d/2) = (sinh²(Δt/2) + sin²(α/2)) / (cos φ_u cos φ_v),
//                α the angle between the directions on the hemisphere
#pragma once

#include <optional>

#include "core/geometry/model.h"

namespace conelab::geometry {

/// Returns the distance of two points. If their models differ, it is computed from the spatial
/// parts on the hyperboloid. It is symmetric to rounding, and exactly 0 for equal coordinates.
/// Throws misuse if the dimensions differ; the message names both.
[[nodiscard]] double distance(const ModelPoint& u, const ModelPoint& v);
/// Does the same for coordinates [d, or d + 1 on the hyperboloid] of one model, which `point`
/// checks.
[[nodiscard]] double distance(Model model, const Vector& u, const Vector& v);

// Geodesics of the half-space: the semicircle about (a+b)/2 with the ends a, b on the boundary, or
// the vertical line over a. For points of other models, convert the points first.

/// A complete geodesic, given by its ends on the boundary [d−1]. An absent end is ∞.
struct Geodesic {
  std::optional<Vector> from, to;
};

/// Returns the oriented geodesic from u through v (half-space [d]). Throws misuse if u = v.
[[nodiscard]] Geodesic geodesic_through(const Vector& u, const Vector& v);

}  // namespace conelab::geometry
