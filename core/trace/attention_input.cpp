#include "core/trace/attention_input.h"

#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/half.h"

namespace conelab {
namespace {

/// Rounds to the nearest number of `dtype`, in place.
template <class T>
void round_to(Dtype dtype, std::vector<T>& numbers) {
  if constexpr (sizeof(T) == 2) return;  // The type itself is the rounded one.
  for (T& x : numbers) {
    if (dtype == Dtype::f16) x = static_cast<T>(from_f16(to_f16(x)));
    if (dtype == Dtype::bf16) x = static_cast<T>(from_bf16(to_bf16(x)));
  }
}

/// Returns the numbers of an array of indices. Throws a failure for a number that is not whole.
Array<std::int64_t> whole_numbers(const std::string& name, const Array<double>& from) {
  Array<std::int64_t> to{from.extents, {}};
  for (const double x : from.data) {
    if (x != std::floor(x) || std::abs(x) >= 0x1p63)
      fail("{} holds {} (expected whole numbers)", name, x);
    to.data.push_back(static_cast<std::int64_t>(x));
  }
  return to;
}

}  // namespace

template <class T>
AttentionInput<T> attention_input(Input&& file, Dtype dtype) {
  AttentionInput<T> input;
  input.key = file.key ? to_tensor<T>(std::move(*file.key)) : to_tensor<T>(file.query);
  input.value = file.value ? to_tensor<T>(std::move(*file.value)) : to_tensor<T>(file.query);
  input.query = to_tensor<T>(std::move(file.query));
  if (file.output_grad) input.output_grad = to_tensor<T>(std::move(*file.output_grad));
  for (auto* tensor : {&input.query, &input.key, &input.value, &input.output_grad}) {
    round_to(dtype, tensor->owned().data);
  }
  if (!file.mask.empty()) input.allowed_sizes = file.mask_sizes;
  input.allowed = std::move(file.mask);
  for (auto& [name, tensor] : file.parameters) {
    const std::vector<double> numbers = to_doubles(tensor);
    if (name == "edge") {
      input.indices[name] = whole_numbers(name, {tensor.extents, numbers});
      continue;
    }
    Array<T>& to = input.tensors[name];
    to.extents = tensor.extents;
    for (const double x : numbers) to.data.push_back(static_cast<T>(x));
    round_to(dtype, to.data);
  }
  return input;
}
template AttentionInput<float> attention_input(Input&&, Dtype);
template AttentionInput<double> attention_input(Input&&, Dtype);
template AttentionInput<Float16> attention_input(Input&&, Dtype);
template AttentionInput<Bfloat16> attention_input(Input&&, Dtype);

}  // namespace conelab
