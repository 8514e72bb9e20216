// Penumbral cones under a horosphere of height h: the height of the lowest common ancestor.
//
// With a = x_d^2, s = sqrt(h^2 - a) and D = |u_: - v_:|, u the query and v the key.
//
// convention = paper (Coneheads eq. 5 and 6; eq. 7 corrected, see its eq. 23): logit = -gamma H,
//   D <= s_u + s_v:  H^2 = h^2 - m^2,  m = min(s_u, s_v, (s_u + s_v - D) / 2)
//   else             H^2 = D^2/4 + (a_u + a_v)/2 + ((a_u - a_v) / (2D))^2
// The border belongs to the cone (<=).
//
// convention = reference: logit = -gamma H^2, without the final root. As published by the authors
// (github.com/tsengalb99/coneheads, penumbral.py), with e = 1e-6 and S = sqrt(h^2 - a + e):
//   D <= S_u  or  (D - S_u)^2 + a_v <= h^2:  H^2 = max(a_u, a_v, h^2 - ((S_u + S_v - D) / 2)^2)
//   else                                     H^2 = ((D^2 + a_v - a_u) / (2D + e))^2 + a_u
// So e stands under both roots and in the denominator, but not beside a_v in the test: that is
// D <= S_u + s_v, and swapping query and key changes the result by an amount of the order of e.
// With inputs rounded to float32, as theirs were, this gives the published numbers to the last bit.
// The published code takes D from a matrix product above 25 rows; here D is always exact.
#pragma once

#include "core/reference/real.h"

namespace conelab::reference {

/// H of the paper; `h` is the height of the light, 0 < x_d <= h.
[[nodiscard]] Real penumbral_height(const Point& u, const Point& v, Real h);

/// H^2 of the published code.
[[nodiscard]] Real published_penumbral_height2(const Point& u, const Point& v, Real h);

}  // namespace conelab::reference
