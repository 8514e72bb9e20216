#include "core/tiles/parameter_sums.h"

namespace conelab {
namespace {

void add(std::vector<double>& to, const std::vector<double>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

/// dL/d of the plan's parameters [parameters], as this head's number of each.
std::vector<double> by_parameter(const Plan& plan, std::int64_t head,
                                 std::span<const ParameterSums> parts) {
  ParameterSums total(plan);
  for (const ParameterSums& part : parts) {
    add(total.similarity, part.similarity);
    add(total.constant, part.constant);
    add(total.bias, part.bias);
  }
  plan.similarity->constant_gradient(plan.values(plan.similarity_parameters, head).data(),
                                     total.constant.data(), total.similarity.data());
  std::vector<double> slopes(plan.parameters.size(), 0.0);
  if (const int light = plan.light_index(); light >= 0) {
    slopes[static_cast<std::size_t>(light)] += total.similarity.back();
  }
  for (std::size_t i = 0; i < plan.similarity_parameters.size(); ++i) {
    slopes[plan.similarity_parameters[i]] += total.similarity[i];
  }
  for (std::size_t i = 0; i < plan.bias_parameters.size(); ++i) {
    slopes[plan.bias_parameters[i]] += total.bias[i];
  }
  return slopes;
}

}  // namespace

ParameterSums::ParameterSums(const Plan& plan)
    : similarity(plan.similarity_parameters.size() + 1, 0.0),
      constant(static_cast<std::size_t>(plan.similarity->constants), 0.0),
      bias(plan.bias_parameters.size(), 0.0) {}

std::map<std::string, std::vector<double>> parameter_gradients(
    const Plan& plan, std::span<const ParameterSums> sums) {
  std::map<std::string, std::vector<double>> gradients;
  for (const Parameter& p : plan.parameters) {
    if (p.info.differentiable) gradients[p.info.key].assign(p.values.size(), 0.0);
  }
  const auto heads = static_cast<std::size_t>(plan.extents.batch * plan.extents.head);
  const std::size_t parts = heads == 0 ? 0 : sums.size() / heads;
  for (std::size_t index = 0; index < heads; ++index) {
    const auto head = static_cast<std::int64_t>(index) % plan.extents.head;
    const std::vector<double> slopes = by_parameter(plan, head, sums.subspan(index * parts, parts));
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
      const Parameter& p = plan.parameters[i];
      if (!p.info.differentiable) continue;
      gradients[p.info.key][p.per_head() ? static_cast<std::size_t>(head) : 0] += slopes[i];
    }
  }
  return gradients;
}

}  // namespace conelab
