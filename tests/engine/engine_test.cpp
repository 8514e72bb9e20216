// The engine by itself: a program that links conelab_engine alone computes attention, and needs
// neither HDF5 nor figures nor fonts (tests/house/engine.py looks at what it is linked to).
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/operators/operator.h"

int main() {
  // Tokens of a model: [batch, token, head, feature].
  constexpr std::int64_t batch = 1, tokens = 16, heads = 2, d = 8;
  std::vector<float> memory(batch * tokens * heads * d);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = std::sin(static_cast<float>(i));
  conelab::AttentionInput<float> input;
  input.query = {memory.data(), {batch, heads, tokens, d}, {tokens * heads * d, d, heads * d}};
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
  return gradients.query.data.size() == memory.size() ? 0 : 1;
}
