// A program that uses the installed engine. It prints the first number of the output.
#include <cstdio>

#include "core/operators/operator.h"

int main() {
  conelab::AttentionInput<double> input;
  input.query = conelab::Tensor4<double>({1, 1, 2, 2}, 0.5);
  input.key = input.value = input.query;
  const auto plan = conelab::resolve(conelab::Call{}, conelab::check_extents(input));
  std::printf("%g\n", conelab::forward(*plan, input).output.data.front());
}
