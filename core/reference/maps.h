// Maps from tokens x [d] to points, as written in the papers.
//
//   none         x itself: Euclidean, half-space (x_:, x_d), hyperboloid (x_s, x_t), where x_t is
//                computed from x_s and not read, or Poincare ball
//   psi          (x_: e^{x_d}, e^{x_d})            convention = reference: e^{x_d/d}
//   xi           (x_: h sigma(x_d), h sigma(x_d))  Coneheads eq. 11 with x_d for its x
//   pi           (sinh(r) u, cosh r), u = x_:/|x_:|, r = x_d     Coneheads eq. 13, |u| = 1
//   lift         (x, sqrt(1 + |x|^2))                                     hyperboloid
//   exp          Exp at (0, ..., 0, p_d), x in the orthonormal frame, Coneheads eq. 9:
//                p_d ( x_: S, 1 ) / (cosh s - x_d S),  s = |x|, S = sinh(s)/s
//   polar        direction x_:/|x_:|, rho = light + log(1 + e^{x_d})    ball
//
// Edges. polar: for x_: = 0 the direction is the first axis. pi: a negative r gives the point at
// |r| in the opposite direction, as the formula does; for x_: = 0 the direction is the first axis;
// for d = 1 there is no direction and the point is |r| on a half-line. exp: below a penumbral light
// the height is clamped to h, but x_: is not.
#pragma once

#include <string>

#include "core/reference/problem.h"

namespace conelab::reference {

/// The model in which a similarity's points live. It determines what `none` means.
enum class Model { euclidean, half_space, hyperboloid, ball };

struct MapSettings {
  Model model = Model::euclidean;
  /// h for penumbral cones and xi; rho_0 in the ball; infinity if there is no light.
  Real light = 0;
  Real base_height = 1;    ///< p_d of exp.
  bool published = false;  ///< convention = reference.
};

/// Maps a token. Throws misuse for a name that this model does not have.
[[nodiscard]] Point map_token(const std::string& name, const MapSettings& settings,
                              const std::vector<Real>& x);

}  // namespace conelab::reference
