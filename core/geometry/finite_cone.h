// The scalar formulas of the two finite families, and their derivatives.
//
// ρ is the distance to the source's centre, θ the angle there between two points, R the radius of
// the source's ball (penumbral), r the radius of the objects' balls (umbral).
//
//   penumbral   s(ρ) = arccos(tanh R / tanh ρ)              ρ(s) = artanh(tanh R / cos s)
//               ds/dρ = tanh R / (sinh²ρ √(1 − tanh²R/tanh²ρ))
//                     = sinh R / (sinh ρ √(sinh(ρ+R) sinh(ρ−R)))
//               ds/dR = −cosh ρ / (cosh R √(sinh(ρ+R) sinh(ρ−R)))
//               dρ/ds = tanh R sin s / (cos²s − tanh²R),
//               ∂ρ/∂R at fixed s = cos s / (cosh²R (cos²s − tanh²R))
//   umbral      s(ρ) = −arcsin(sinh r / sinh ρ)             ρ(s) = arsinh(sinh r / sin(−s))
//               ds/dρ = sinh r cosh ρ / (sinh ρ √(sinh(ρ+r) sinh(ρ−r)))
//               ds/dr = −cosh r / √(sinh(ρ+r) sinh(ρ−r))
//               dρ/ds = sinh r cos s / (|sin s| √(sin²s + sinh²r))
//               ∂ρ/∂r at fixed s = cosh r / √(sin²s + sinh²r)
//
// LCA by the law: s = min(s_u, s_v, (s_u + s_v − θ)/2), depth = ρ(s); hence
//   u is the ancestor: depth = ρ_u: ∂/∂ρ_u = 1, the rest 0;
//   otherwise: ∂depth/∂ρ_u = ½ ρ′(s) s′(ρ_u), the same for v, ∂depth/∂θ = −½ ρ′(s),
//   ∂depth/∂R = ∂ρ/∂R + ½ ρ′(s)(ds/dR(ρ_u) + ds/dR(ρ_v)).
// Written with the shadow p = s(∞) − s instead, nothing cancels far from the source; see
// `penumbral_shadow` and `penumbral_distance`. sin(−s) = sin p for umbral.
//
// Without a common ancestor (θ > s_u + s_v; umbral: β_u + β_v + θ > π, β = −s) the depth is that
// of the largest smaller source (object) that would do; with a = sinh ρ_u, b = sinh ρ_v:
//   penumbral   sinh R′ = a b sin θ / sinh d,  d the distance of u and v
//   umbral      sinh r′ = a b sin θ / √(a² + b² − 2ab cos θ)
// Both are continuous at the border. With N = a b sin θ, W the denominator and x the quotient,
// ∂R′ = x/√(1+x²) · (∂N/N − ∂W/W). For the penumbral one use
// W = 2η√(1+η²), η² = sinh²(d/2) = sinh²((ρ_u−ρ_v)/2) + a b sin²(θ/2).
#pragma once

namespace conelab::geometry {

/// p of penumbral cones: arcsin(tanh R/tanh ρ) − arcsin(tanh R), without the cancellation; ρ > R.
[[nodiscard]] double penumbral_shadow(double source_radius, double rho);
/// The inverse: sinh ρ = sin b / √(sin p sin(p + 2b)), sin b = tanh R; 0 < p ≤ π/2 − b.
[[nodiscard]] double penumbral_distance(double source_radius, double shadow);
/// arccos(tanh R), the potential at infinity and the largest shadow.
[[nodiscard]] double penumbral_limit(double source_radius);
/// R′: the distance of the geodesic through u and v from the source's centre.
[[nodiscard]] double penumbral_reach(double rho_u, double rho_v, double angle);

/// p of umbral cones: arcsin(sinh r / sinh ρ), ρ > r.
[[nodiscard]] double umbral_shadow(double object_radius, double rho);
/// The inverse: ρ = arsinh(sinh r / sin p), 0 < p ≤ π/2.
[[nodiscard]] double umbral_distance(double object_radius, double shadow);
/// r′: the largest object radius for which u and v have a common ancestor.
[[nodiscard]] double umbral_reach(double rho_u, double rho_v, double angle);

// Derivatives, as above. `s` is the potential.
[[nodiscard]] double penumbral_potential_by_rho(double source_radius, double rho);
[[nodiscard]] double penumbral_potential_by_radius(double source_radius, double rho);
[[nodiscard]] double penumbral_distance_by_potential(double source_radius, double s);
[[nodiscard]] double penumbral_distance_by_radius(double source_radius, double s);
[[nodiscard]] double umbral_potential_by_rho(double object_radius, double rho);
[[nodiscard]] double umbral_potential_by_radius(double object_radius, double rho);
[[nodiscard]] double umbral_distance_by_potential(double object_radius, double s);
[[nodiscard]] double umbral_distance_by_radius(double object_radius, double s);

}  // namespace conelab::geometry
