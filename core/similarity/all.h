// The list of all similarities. This list is their only registration: the names on the command
// line, menus, benchmark axes, tests and the CPU and CUDA kernels are generated from it.
#pragma once

#include "core/similarity/additive.h"
#include "core/similarity/dot.h"
#include "core/similarity/ganea.h"
#include "core/similarity/gat.h"
#include "core/similarity/hyperbolic.h"
#include "core/similarity/laplacian.h"
#include "core/similarity/penumbral.h"
#include "core/similarity/penumbral_distance.h"
#include "core/similarity/penumbral_finite.h"
#include "core/similarity/penumbral_reference.h"
#include "core/similarity/umbral.h"
#include "core/similarity/umbral_distance.h"
#include "core/similarity/umbral_finite.h"

namespace conelab {

template <class... S>
struct TypeList {
  static constexpr int size = sizeof...(S);
};

/// Rows that share a name serve the words of its choices, the defaults first.
using Similarities = TypeList<Dot, Laplacian, HyperbolicHyperboloid, HyperbolicHalfSpace, Penumbral,
                              PenumbralReference, PenumbralDistance, Umbral, UmbralReference,
                              UmbralDistance, PenumbralFinite, UmbralFinite, Ganea, Gat, Additive>;

template <class... S>
constexpr bool fits(TypeList<S...>) {
  return ((S::values <= max_values && S::constants <= max_constants) && ...);
}
static_assert(fits(Similarities{}), "raise max_values or max_constants of similarity.h");

}  // namespace conelab
