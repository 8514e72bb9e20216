// What pairs and tokens add to the gradients of a call's parameters.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/call/plan.h"

namespace conelab {

/// Sums over some pairs and tokens of one head. Those that threads add to at once are kept apart,
/// so that the order of all additions is fixed.
struct ParameterSums {
  explicit ParameterSums(const Plan& plan);

  std::vector<double> similarity;  ///< [similarity parameters + light]
  std::vector<double> constant;    ///< [constants]
  std::vector<double> bias;        ///< [bias parameters]
};

/// dL/d of every differentiable parameter, by its key, with as many numbers as it has: from the
/// sums [batch × head × parts] of all heads, added up in this order.
[[nodiscard]] std::map<std::string, std::vector<double>> parameter_gradients(
    const Plan& plan, std::span<const ParameterSums> sums);

}  // namespace conelab
