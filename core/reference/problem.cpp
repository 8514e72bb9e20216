#include "core/reference/problem.h"

namespace conelab::reference {

Problem make_problem(const Call& call, const AttentionInput<double>& input) {
  const auto plan = resolve(call, check_extents(input));
  Problem p;
  p.call = plan->call;
  p.query = convert<Real>(input.query);
  p.key = convert<Real>(input.key);
  p.value = convert<Real>(input.value);
  p.stopped_key = p.key;
  p.stopped_value = p.value;
  p.output_grad = convert<Real>(input.output_grad);
  p.allowed = input.allowed;
  p.allowed_sizes = mask_sizes(input);
  p.key_lengths = input.key_lengths;
  p.indices = input.indices;
  if (input.output_grad.empty()) {
    p.output_grad = Tensor4<Real>(plan->output, 1);
  }
  for (const Parameter& parameter : plan->parameters) {
    if (parameter.is_number()) {
      p.numbers[parameter.info.key] = {parameter.values.begin(), parameter.values.end()};
    }
  }
  p.words = choices(*plan);
  for (const auto& [name, tensor] : input.tensors) p.tensors[name] = convert<Real>(tensor);
  return p;
}

}  // namespace conelab::reference
