// The engine by itself: a program that links conelab_engine alone computes attention, and needs
// neither HDF5 nor figures nor fonts (tests/house/engine.py looks at what it is linked to).
#include <cmath>
#include <cstdio>

#include "core/operators/operator.h"

int main() {
  conelab::AttentionInput<float> input;
  input.query = conelab::Tensor4<float>({1, 2, 16, 8}, 0.5F);
  for (std::size_t i = 0; i < input.query.data.size(); ++i) {
    input.query.data[i] = std::sin(static_cast<float>(i));
  }
  input.key = input.value = input.query;
  conelab::Call call;
  call.parameters["gamma"] = "2";
  const auto plan = conelab::resolve(call, conelab::check_extents(input));
  const auto result = conelab::forward(*plan, input);
  const auto gradients = conelab::backward(*plan, input, result);
  for (const float x : result.output.data) {
    if (!std::isfinite(x)) return 1;
  }
  std::printf("dL/dgamma %g\n", gradients.parameters.at("gamma").front());
  return gradients.query.data.size() == input.query.data.size() ? 0 : 1;
}
