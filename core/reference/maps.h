// Maps from tokens x [d] to points, each as written in its paper.
//
//   none         x itself: Euclidean, half-space (x_:, x_d), hyperboloid (x_s, x_t), of which x_t
//                is determined by x_s and therefore not read, or Poincare ball
//   psi          (x_: e^{x_d}, e^{x_d})            convention = reference: e^{x_d/d}
//   xi           (x_: h sigma(x_d), h sigma(x_d))  Coneheads eq. 11 with x_d for its x
//   pi           (sinh(r) u, cosh r), u = x_:/|x_:|, r = x_d     Coneheads eq. 13, |u| = 1
//   lift         (x, sqrt(1 + |x|^2))                                     hyperboloid
//   exp          Exp at (0, ..., 0, p_d), x in the orthonormal frame, Coneheads eq. 9:
//                p_d ( x_: S, 1 ) / (cosh s - x_d S),  s = |x|, S = sinh(s)/s
//   polar        direction x_:/|x_:|, rho = light + log(1 + e^{x_d})    ball
//
// Edges. polar: x_: = 0 takes the first axis. pi: a negative r is the point at |r| in the opposite
// direction (the formula says so by itself); x_: = 0 has no direction and takes the first axis; at
// d = 1 there is no axis at all and |r| on a half-line is all there is. exp: under a penumbral
// light the height is clamped to h, x_: is not.
#pragma once

#include <string>

#include "core/reference/real.h"

namespace conelab::reference {

/// Where a similarity lives; decides what `none` means.
enum class Model { euclidean, half_space, hyperboloid, ball };

struct MapSettings {
  Model model = Model::euclidean;
  Real light = 0;  ///< h, for penumbral cones and xi; rho_0 in the ball; infinity without one.
  Real base_height = 1;    ///< p_d of exp.
  bool published = false;  ///< convention = reference.
};

/// Throws misuse for a name that this model does not have.
[[nodiscard]] Point map_token(const std::string& name, const MapSettings& settings,
                              const std::vector<Real>& x);

}  // namespace conelab::reference
