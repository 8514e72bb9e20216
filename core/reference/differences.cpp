#include "core/reference/differences.h"

#include <algorithm>
#include <cmath>

namespace conelab::reference {

namespace {

Real loss(const Problem& problem) {
  const Tensor4<Real> output = evaluate(problem).output;
  Real sum = 0;
  for (std::size_t i = 0; i < output.data.size(); ++i) {
    sum += output.data[i] * problem.output_grad.data[i];
  }
  return sum;
}

}  // namespace

Difference central_difference(const Problem& problem, Real& x) {
  const Real middle = x;
  const Real step = 1e-4L * std::max(Real(1), std::abs(middle));
  const auto at = [&](Real offset) {
    x = middle + offset;
    const Real value = loss(problem);
    x = middle;
    return value;
  };
  const Real here = at(0);
  const Real right = at(step), left = at(-step);
  const Real coarse = (right - left) / (2 * step);
  const Real fine = (at(step / 2) - at(-step / 2)) / step;
  const Real from_right = (4 * right - 3 * here - at(2 * step)) / (2 * step);
  const Real from_left = (at(-2 * step) + 3 * here - 4 * left) / (2 * step);
  const Real scale = 1 + std::abs(fine);
  Difference result;
  result.slope = static_cast<double>((4 * fine - coarse) / 3);
  result.smooth =
      std::abs(from_right - from_left) < 1e-5L * scale && std::abs(coarse - fine) < 1e-5L * scale;
  return result;
}

}  // namespace conelab::reference
