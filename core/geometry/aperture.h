// Cones seen from their apex: half-apertures, membership from distances, Ganea's own formulas.
//
// None of this uses the law of cone_law.h; the tests play one against the other.
//   half-aperture   penumbral arcsin(sinh R/sinh ρ), umbral arcsin(tanh r/tanh ρ),
//                   infinite: arcsin(u_d/h), arctan sinh r
//   penumbral membership from distances, in any model and dimension:
//                   cosh d_sv − cosh d_su cosh d_uv ≥ sinh d_uv √(sinh² d_su − sinh² R)
//   Ganea           ψ(x) = arcsin(K(1−‖x‖²)/‖x‖),
//                   Ξ(x,y) = arccos( (⟨x,y⟩(1+‖x‖²) − ‖x‖²(1+‖y‖²))
//                                    / (‖x‖ ‖x−y‖ √(1+‖x‖²‖y‖²−2⟨x,y⟩)) ),
//                   y in the cone of x ⟺ Ξ ≤ ψ
#pragma once

#include "core/geometry/model.h"

namespace conelab::geometry {

// The umbral cone is bounded by equidistant curves, so its half-aperture is an angle at the apex.
// Lengths are hyperbolic; misuse when the apex is not outside the source (object), or not below h.
[[nodiscard]] double penumbral_half_aperture(double source_radius, double rho);
[[nodiscard]] double umbral_half_aperture(double object_radius, double rho);
[[nodiscard]] double infinite_penumbral_half_aperture(double source_height, double height);
[[nodiscard]] double infinite_umbral_half_aperture(double object_radius);

/// Whether v is in the penumbral cone of u, from distances only. True for d_uv = 0.
[[nodiscard]] bool in_penumbra(double d_su, double d_sv, double d_uv, double source_radius);

/// Ganea's ψ and Ξ on the Poincaré ball. Misuse unless ‖x‖ ≥ 2K/(1+√(1+4K²)).
[[nodiscard]] double ganea_half_aperture(double k, const Vector& x);
[[nodiscard]] double ganea_angle(const Vector& x, const Vector& y);

}  // namespace conelab::geometry
