// What pairs and tokens add to the gradients of a call's parameters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/attention/plan.h"

namespace conelab {

/// Sums that every ticket of the backward pass adds to, kept apart by ticket so that their order is
/// fixed.
struct ParameterSums {
  explicit ParameterSums(const Plan& plan);

  std::vector<double> similarity;  ///< [similarity parameters + light]
  std::vector<double> constant;    ///< [constants]
  std::vector<double> bias;        ///< [bias parameters]

  /// dL/d of every parameter of the plan, as one head's number of it, from the sums of its tickets
  /// in their order.
  static std::vector<double> by_parameter(const Plan& plan, std::int64_t head,
                                          std::span<const ParameterSums> tickets);

 private:
  void add(const ParameterSums& other);
};

}  // namespace conelab
