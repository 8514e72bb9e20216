// What pairs and tokens add to the gradients of a call's parameters.
#pragma once

#include <span>
#include <vector>

#include "core/call/plan.h"

namespace conelab {

/// Sums over some pairs and tokens of one head. Each ticket of a pass has its own, so that the
/// order of all additions is fixed.
struct ParameterSums {
  explicit ParameterSums(const Plan& plan);

  std::vector<double> similarity;  ///< [similarity parameters + light]
  std::vector<double> constant;    ///< [constants]
  PartValues bias;                 ///< In the form of the bias's parameters; empty: 0.
};

/// Adds dL/d of every differentiable parameter of similarity, map and bias to the result, from the
/// sums [batch x head x parts] of all heads, added up in this order.
template <class T>
void add_parameter_gradients(const Plan& plan, std::span<const ParameterSums> sums,
                             Backward<T>& result);

}  // namespace conelab
