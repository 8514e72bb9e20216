// Derivatives of L = sum(output * output_grad) by finite differences of the reference.
//
//   D(h) = (L(x + h) - L(x - h)) / 2h,   slope = (4 D(h/2) - D(h)) / 3      (Richardson)
//
// The error is of order h^4 at smooth points. At a kink (a tie of a maximum, the border of a cone,
// D = 0) the one-sided differences of second order, (4 L(x ± h) - 3 L(x) - L(x ± 2h)) / ±2h,
// disagree, and so do D(h) and D(h/2).
#pragma once

#include "core/reference/evaluate.h"

namespace conelab::reference {

struct Difference {
  double slope = 0;
  bool smooth = true;  ///< False if there is a kink within the step; `slope` is meaningless then.
};

/// Returns the derivative with respect to `x`, which must be a number inside `problem` (an element
/// of a tensor or of a parameter's list). x is changed and restored.
[[nodiscard]] Difference central_difference(const Problem& problem, Real& x);

}  // namespace conelab::reference
