// The potentials and distances of the two finite families, as functions of scalars.
//
// ρ is the distance from the centre of the source, θ the angle between two points seen from there,
// R the radius of the source's ball (penumbral), r the radius of the objects' balls (umbral).
//
//   penumbral   s(ρ) = arccos(tanh R / tanh ρ)              ρ(s) = artanh(tanh R / cos s)
//   umbral      s(ρ) = −arcsin(sinh r / sinh ρ)             ρ(s) = arsinh(sinh r / sin(−s))
//
// The LCA by the law of cone_law.h: s = min(s_u, s_v, (s_u + s_v − θ)/2), depth = ρ(s). The
// functions below use the shadow p = s(∞) − s instead of s, because it does not cancel far from the
// source.
//
// Without a common ancestor (penumbral: θ > s_u + s_v; umbral: p_u + p_v + θ > π) the depth is that
// of the largest smaller source (or object) for which one would exist. With a = sinh ρ_u, b = sinh
// ρ_v:
//   penumbral   sinh R′ = a b sin θ / sinh d,  d the distance of u and v
//   umbral      sinh r′ = a b sin θ / √(a² + b² − 2ab cos θ)
// Both are continuous at the border. Sources: Coneheads, section 3; the closed forms of R′ and r′
// are derived here. Derivatives are in core/similarity/finite_cone.h.
#pragma once

namespace conelab::geometry {

/// Returns the penumbral p = arcsin(tanh R/tanh ρ) − arcsin(tanh R) without cancellation; ρ > R.
[[nodiscard]] double penumbral_shadow(double source_radius, double rho);
/// Returns the inverse, sinh ρ = sin b / √(sin p sin(p + 2b)) with sin b = tanh R; 0 < p ≤ π/2 − b.
[[nodiscard]] double penumbral_distance(double source_radius, double shadow);
/// Returns arccos(tanh R), which is both the potential at infinity and the supremum of p.
[[nodiscard]] double penumbral_limit(double source_radius);
/// Returns R′, the distance of the geodesic through u and v from the centre of the source.
[[nodiscard]] double penumbral_reach(double rho_u, double rho_v, double angle);

/// Returns the umbral p = arcsin(sinh r / sinh ρ); ρ > r.
[[nodiscard]] double umbral_shadow(double object_radius, double rho);
/// Returns the inverse, ρ = arsinh(sinh r / sin p); 0 < p ≤ π/2.
[[nodiscard]] double umbral_distance(double object_radius, double shadow);
/// Returns r′, the largest object radius for which u and v have a common ancestor.
[[nodiscard]] double umbral_reach(double rho_u, double rho_v, double angle);

}  // namespace conelab::geometry
