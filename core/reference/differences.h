// Slopes of L = sum(output * output_grad) by finite differences of the reference.
//
//   D(h) = (L(x + h) - L(x - h)) / 2h,   slope = (4 D(h/2) - D(h)) / 3      (Richardson)
//
// The error is of the order of h^4 at smooth points. Kinks (a tie of a maximum, the border of a
// cone, D = 0) show in the one-sided differences of second order, (4 L(x ± h) - 3 L(x) - L(x ± 2h))
// / ±2h, which then disagree, and in D(h) and D(h/2).
#pragma once

#include "core/reference/evaluate.h"

namespace conelab::reference {

struct Difference {
  double slope = 0;
  bool smooth = true;  ///< False: a kink lies within the step; `slope` means nothing.
};

[[nodiscard]] Real loss(const Problem& problem);

/// The slope with respect to `x`, which must be a number inside `problem` (an element of a tensor
/// or of a parameter's list); it is moved and restored.
[[nodiscard]] Difference central_difference(const Problem& problem, Real& x);

}  // namespace conelab::reference
