#include "core/tiles/parameter_sums.h"

#include "core/base/half.h"

namespace conelab {
namespace {

void add(std::vector<double>& to, const std::vector<double>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

ParameterSums sum_of(const Plan& plan, std::span<const ParameterSums> parts) {
  ParameterSums total(plan);
  total.bias = plan.zeros(plan.bias_parameters);
  for (const ParameterSums& part : parts) {
    add(total.similarity, part.similarity);
    add(total.constant, part.constant);
    total.sink += part.sink;
    total.soft_cap += part.soft_cap;
    if (part.bias.p.empty()) continue;
    add(total.bias.p, part.bias.p);
    for (std::size_t k = 0; k < total.bias.tensor.size(); ++k) {
      add(total.bias.tensor[k], part.bias.tensor[k]);
    }
  }
  return total;
}

}  // namespace

ParameterSums::ParameterSums(const Plan& plan)
    : similarity(plan.similarity_parameters.size() + 1 + plan.map_parameters.size(), 0.0),
      constant(static_cast<std::size_t>(plan.similarity->constants), 0.0),
      bias{} {}

template <class T>
void add_parameter_gradients(const Plan& plan, std::span<const ParameterSums> sums,
                             Backward<T>& result) {
  const auto heads = static_cast<std::size_t>(plan.extents.batch * plan.extents.head);
  const std::size_t parts = heads == 0 ? 0 : sums.size() / heads;
  ParameterSet light;
  if (plan.light_index() >= 0) light = {static_cast<std::size_t>(plan.light_index())};
  std::vector<PartValues> similarity, height, map, bias, sinks, caps;
  const auto own = static_cast<std::ptrdiff_t>(plan.similarity_parameters.size());
  for (std::size_t index = 0; index < heads; ++index) {
    ParameterSums total = sum_of(plan, sums.subspan(index * parts, parts));
    const auto head = static_cast<std::int64_t>(index) % plan.extents.head;
    plan.similarity->constant_gradient(plan.values(plan.similarity_parameters, head).data(),
                                       total.constant.data(), total.similarity.data());
    const auto light_sum = total.similarity.begin() + own;
    height.push_back({{*light_sum}, {}});
    map.push_back({{light_sum + 1, total.similarity.end()}, {}});
    similarity.push_back({{total.similarity.begin(), light_sum}, {}});
    bias.push_back(std::move(total.bias));
    sinks.push_back({{0}, {{total.sink}}});
    caps.push_back({{total.soft_cap}, {}});
  }
  add_gradients(plan, plan.similarity_parameters, similarity, result);
  add_gradients(plan, plan.map_parameters, map, result);
  add_gradients(plan, light, height, result);
  add_gradients(plan, plan.bias_parameters, bias, result);
  add_gradients(plan, plan.sinks, sinks, result);
  add_gradients(plan, plan.soft_cap, caps, result);
}
template void add_parameter_gradients(const Plan&, std::span<const ParameterSums>,
                                      Backward<float>&);
template void add_parameter_gradients(const Plan&, std::span<const ParameterSums>,
                                      Backward<double>&);
template void add_parameter_gradients(const Plan&, std::span<const ParameterSums>,
                                      Backward<Float16>&);
template void add_parameter_gradients(const Plan&, std::span<const ParameterSums>,
                                      Backward<Bfloat16>&);

}  // namespace conelab
