// The maps psi and xi (core/token/model_map.h) as formulas over a number type, so that the kernels
// place several tokens at a time. Both multiply a token's base coordinates by its height, which
// depends on its last coordinate x_d alone.
#pragma once

#include <cmath>

#include "core/similarity/number.h"

namespace conelab {

/// The map of a row of model_map_table() if it is one of these.
enum class ExponentialMap { none, psi, xi };

/// The place of a token.
template <class N>
struct ExponentialPlace {
  N height;          ///< Also the factor of the base coordinates.
  N light_distance;  ///< As in EmbeddedPoint.
};

/// sigma(t) and sigma(-t), computed from one exponential.
template <class N>
struct Sigma {
  N up, down;
  CONELAB_FORMULA explicit Sigma(N t) {
    using std::exp;
    const N e = exp(-max(t, -t));
    const N large = N(1) / (N(1) + e), small = e * large;
    const auto above = t > N(0);
    up = select(above, large, small);
    down = select(above, small, large);
  }
};

/// Returns the place under psi, which takes e^{rate x_d}, below a light of this height.
template <class N>
CONELAB_FORMULA inline ExponentialPlace<N> psi_place(N last, N rate, N light) {
  using std::exp;
  const N height = exp(last * rate);
  return {height, light - height};
}

/// Returns the place under xi: light sigma(x_d), and what is missing to `light` without
/// cancellation.
template <class N>
CONELAB_FORMULA inline ExponentialPlace<N> xi_place(N last, N light) {
  const Sigma<N> s(last);
  return {light * s.up, light * s.down};
}

}  // namespace conelab
