#include "core/attention/parameter_sums.h"

namespace conelab {

ParameterSums::ParameterSums(const Plan& plan)
    : similarity(plan.similarity_parameters.size() + 1, 0.0),
      constant(static_cast<std::size_t>(plan.similarity->constants), 0.0),
      bias(plan.bias_parameters.size(), 0.0) {}

void ParameterSums::add(const ParameterSums& other) {
  const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  add(similarity, other.similarity);
  add(constant, other.constant);
  add(bias, other.bias);
}

std::vector<double> ParameterSums::by_parameter(const Plan& plan, std::int64_t head,
                                                std::span<const ParameterSums> tickets) {
  ParameterSums total(plan);
  for (const ParameterSums& ticket : tickets) total.add(ticket);
  plan.similarity->constant_gradient(plan.values(plan.similarity_parameters, head).data(),
                                     total.constant.data(), total.similarity.data());
  std::vector<double> sums(plan.parameters.size(), 0.0);
  if (const int light = plan.light_index(); light >= 0) {
    sums[static_cast<std::size_t>(light)] += total.similarity.back();
  }
  for (std::size_t i = 0; i < plan.similarity_parameters.size(); ++i) {
    sums[plan.similarity_parameters[i]] += total.similarity[i];
  }
  for (std::size_t i = 0; i < plan.bias_parameters.size(); ++i) {
    sums[plan.bias_parameters[i]] += total.bias[i];
  }
  return sums;
}

}  // namespace conelab
