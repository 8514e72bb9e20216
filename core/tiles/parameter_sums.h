// Sums over pairs and tokens from which the gradients of a call's parameters follow.
#pragma once

#include <span>
#include <vector>

#include "core/call/plan.h"

namespace conelab {

/// Sums over some of the pairs and tokens of one head. Each task of a pass has its own, so that
/// the order of all additions is fixed.
struct ParameterSums {
  explicit ParameterSums(const Plan& plan);

  /// [similarity parameters + 1 + map parameters] The one between belongs to the light.
  std::vector<double> similarity;
  std::vector<double> constant;  ///< [constants]
  PartValues bias;               ///< Has the shapes of the bias's parameters; empty: 0.
  double sink = 0, soft_cap = 0;
};

/// Adds dL/d(parameter) of every differentiable parameter of similarity, map, bias, soft cap
/// and weights to the result. The sums [batch × head × parts] are added in this order.
template <class T>
void add_parameter_gradients(const Plan& plan, std::span<const ParameterSums> sums,
                             Backward<T>& result);

}  // namespace conelab
