// Cones of a finite source: the distance from its centre of the lowest common ancestor.
//
// Points are a direction (base) and the distance rho (height) from the centre; theta is the angle
// between two directions.
//
//   penumbral, light of radius R:  s = arccos(tanh R / tanh rho),  rho(s) = artanh(tanh R / cos s)
//   umbral, objects of radius r:   s = -arcsin(sinh r / sinh rho), rho(s) = arsinh(sinh r / sin -s)
//   m = min(s_u, s_v, (s_u + s_v - theta) / 2)
//
// Where no common ancestor exists (m < 0; umbral m < -pi/2): the distance of the geodesic uv from
// the centre, sinh R' = sinh rho_u sinh rho_v sin theta / sinh d(u, v); umbral
// sinh rho = a b sin theta / sqrt(a^2 + b^2 - 2 a b cos theta), a = sinh rho_u, b = sinh rho_v.
// Written from the potentials of core/geometry/cone_law.h, not from the closed forms that attention
// uses.
#pragma once

#include "core/reference/real.h"

namespace conelab::reference {

/// `radius` is R; rho_u, rho_v >= R.
[[nodiscard]] Real penumbral_depth(const Point& u, const Point& v, Real radius);

/// `radius` is r; rho_u, rho_v >= r.
[[nodiscard]] Real umbral_depth(const Point& u, const Point& v, Real radius);

}  // namespace conelab::reference
