// Maps from Euclidean tokens to places in a hyperbolic model, with their gradients.
//
//   none  tokens are already coordinates of the model
//   psi   (x_: e^{x_d}, e^{x_d})                       half-space (umbral); Coneheads eq. 10
//   xi    (x_: h sigma(x_d), h sigma(x_d))             half-space below height h; Coneheads eq. 11,
//                                                      with x_d where the paper prints x
//   exp   Exp at the point (0, ..., 0, p_d), v = x     half-space; Coneheads eq. 9 in the
//         in the orthonormal frame                     orthonormal frame
//   polar direction x_:/|x_:|, distance          ball; our own
//         rho = rho_0 + log(1 + e^{x_d}) from the source's centre
//   pi    (sinh(r) u, cosh r), u = x_:/|x_:|, r = x_d  hyperboloid; Coneheads eq. 13 (normalised)
//   lift  (x, sqrt(1 + |x|^2))                         hyperboloid; the Weierstrass lift
//
// A place is base coordinates [m] and a height, see core/similarity/similarity.h. Every map scales
// x_: by a number, so that it sees no more of a token than its numbers below, and the kernels do
// the rest. Arithmetic is in double: the rounding to T then happens once.
#pragma once

#include <span>
#include <string>

#include "core/base/parameter.h"
#include "core/similarity/similarity.h"

namespace conelab {

/// What a map needs to know besides the token.
struct MapContext {
  int feature = 0;              ///< d
  const double* p = nullptr;    ///< The map's own parameters, in the order of its row.
  double light;                 ///< Parameter `height` of map or similarity, rho_0 in the ball,
                                ///< +infinity without one.
  bool published_code = false;  ///< convention = reference: psi divides x_d by d.
};

/// What a map needs to know of a token x [d]; zeros where d is 0.
struct TokenNumbers {
  double norm2 = 0;  ///< |x_:|^2, x_: the first base_size coordinates; see MapRow::by_norm.
  double first = 0, last = 0;  ///< x_1, x_d
};

/// Base coordinates: factor x_:, or factor e_1 where x_: has no direction, or one dimension.
struct Scaling {
  double factor = 1;
  bool along_first = false;
};

/// The gradient of a token's place: `base` has base_size numbers.
struct PlaceGradient {
  const double* base;  ///< dL/dbase [m]
  Place place;         ///< dL/dheight, dL/dgap
};

struct MapRow {
  const char* name;
  const char* about;
  Space space;
  std::span<const ParameterInfo> parameters;
  /// Whether the image lies in every cone's domain; otherwise places are checked.
  bool inside_domain;
  bool by_norm;  ///< Whether `place` looks at norm2; it may be anything otherwise.
  int (*base_size)(int feature);
  /// x -> base, height, gap. Null error text: fine; otherwise what is wrong with x.
  const char* (*place)(const MapContext& context, const TokenNumbers& x, Scaling& base,
                       Place& place);
  /// Adds dL/dx [d] and dL/dlight; other parameters of maps are not differentiated.
  void (*gradient)(const MapContext& context, const double* x, const PlaceGradient& upstream,
                   double* dx, double* dlight);
};

/// The numbers of x [d].
[[nodiscard]] TokenNumbers token_numbers(const MapRow& map, const MapContext& context,
                                         const double* x);
/// The base coordinates [m], height and gap of x [d]; returns as MapRow::place.
[[nodiscard]] const char* place_token(const MapRow& map, const MapContext& context, const double* x,
                                      double* base, Place& place);

[[nodiscard]] std::span<const MapRow> map_table();
/// The row of this name for this space, or null.
[[nodiscard]] const MapRow* find_map(const std::string& name, Space space);

}  // namespace conelab
