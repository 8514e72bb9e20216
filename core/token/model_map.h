// Maps from Euclidean tokens to points of a hyperbolic model, with their gradients.
//
//   none  tokens are already coordinates of the model
//   psi   (x_: e^{x_d}, e^{x_d})                       half-space (umbral); Coneheads eq. 10
//   xi    (x_: h sigma(x_d), h sigma(x_d))             half-space below height h; Coneheads eq. 11,
//                                                      with x_d where the paper prints x
//   exp   Exp at the point (0, ..., 0, p_d), v = x     half-space; Coneheads eq. 9 in the
//         in the orthonormal frame                     orthonormal frame
//   polar direction x_:/|x_:|, distance                ball; defined by this project
//         rho = rho_0 + log(1 + e^{x_d}) from the source's centre
//   pi    (sinh(r) u, cosh r), u = x_:/|x_:|, r = x_d  hyperboloid; Coneheads eq. 13 (normalised)
//   lift  (x, sqrt(1 + |x|^2))                         hyperboloid; the Weierstrass lift
//
// A mapped token is a EmbeddedPoint: base coordinates [m] and a height
// (core/similarity/similarity.h). Every map multiplies x_: by a number, so that it needs only the
// TokenNumbers of a token; the kernels do the rest. Arithmetic is in double and is rounded to T
// once.
#pragma once

#include <span>
#include <string>

#include "core/base/parameter.h"
#include "core/similarity/exponential_place.h"
#include "core/similarity/similarity.h"

namespace conelab {

/// Holds what a map needs besides the token.
struct ModelMapContext {
  int feature = 0;            ///< d
  const double* p = nullptr;  ///< Parameters of the map, in the order of its row.
  /// The parameter `height` of map or similarity; rho_0 in the ball; +infinity if there is none.
  double light;
  bool published_code = false;  ///< Whether convention = reference, in which psi divides x_d by d.
};

/// Holds what a map needs of a token x [d]. The numbers are 0 if d is 0.
struct TokenNumbers {
  /// |x_:|^2 over the first base_size coordinates; see ModelMapRow::by_norm.
  double norm2 = 0;
  double first = 0, last = 0;  ///< x_1, x_d
};

/// The base coordinates are factor x_:, or factor e_1 if x_: = 0 or has one dimension only.
struct Scaling {
  double factor = 1;
  bool along_first = false;
};

/// dL/d(place) of a token.
struct PlaceGradient {
  double along;         ///< x_: . dL/d(base), over the base coordinates.
  EmbeddedPoint place;  ///< dL/d(height) and dL/d(light distance).
};

/// dL/dx: by_base dL/d(base) + by_token x_: for the base coordinates, and `last` for x_d if it is
/// none of them.
struct TokenGradient {
  double by_base = 1, by_token = 0, last = 0;
};

struct ModelMapRow {
  const char* name;
  const char* about;       ///< The formula in one line.
  const char* paper = "";  ///< The paper and the equation; empty if there is none.
  Space space;
  std::span<const ParameterInfo> parameters = {};
  /// Says whether the image lies in every cone's domain. Otherwise places are checked.
  bool inside_domain = false;
  bool by_norm = false;  ///< Whether `place` reads norm2, which may otherwise have any value.
  ExponentialMap exponential = ExponentialMap::none;  ///< The formula that `place` computes.
  int (*base_size)(int feature);
  /// Sets base and place for a token x. Returns null, or text that says why x is outside the model.
  const char* (*place)(const ModelMapContext& context, const TokenNumbers& x, Scaling& base,
                       EmbeddedPoint& place);
  /// Returns dL/dx. Adds dL/d(light) to dp[0], and dL/d(parameter) of the map's parameter k to
  /// dp[1 + k], where the height of the light is left to dp[0].
  TokenGradient (*gradient)(const ModelMapContext& context, const TokenNumbers& x,
                            const PlaceGradient& upstream, double* dp);
};

/// Returns the numbers of x [d].
[[nodiscard]] TokenNumbers token_numbers(const ModelMapRow& map, const ModelMapContext& context,
                                         const double* x);
/// Sets base [m] and place for x [d]. Returns the same as ModelMapRow::place.
[[nodiscard]] const char* place_token(const ModelMapRow& map, const ModelMapContext& context,
                                      const double* x, double* base, EmbeddedPoint& place);

[[nodiscard]] std::span<const ModelMapRow> model_map_table();
/// Returns the row with this name for this space, or null.
[[nodiscard]] const ModelMapRow* find_model_map(const std::string& name, Space space);

}  // namespace conelab
