// Tensors as they are in files: their shape and their conversions.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/half.h"
#include "core/files/read_tensors.h"

namespace conelab {
namespace {

template <class T>
std::vector<T> widened(const std::vector<std::uint16_t>& bits, Dtype dtype) {
  std::vector<T> numbers(bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    numbers[i] = static_cast<T>(dtype == Dtype::f16 ? from_f16(bits[i]) : from_bf16(bits[i]));
  }
  return numbers;
}

template <class T, class From>
std::vector<T> each_as(const std::vector<From>& from) {
  std::vector<T> numbers(from.size());
  std::transform(from.begin(), from.end(), numbers.begin(),
                 [](From x) { return static_cast<T>(x); });
  return numbers;
}

template <class T>
std::vector<T> converted(const InputTensor& tensor) {
  if (const auto* bits = std::get_if<std::vector<std::uint16_t>>(&tensor.numbers)) {
    return widened<T>(*bits, tensor.dtype);
  }
  if (const auto* floats = std::get_if<std::vector<float>>(&tensor.numbers)) {
    return each_as<T>(*floats);
  }
  return each_as<T>(std::get<std::vector<double>>(tensor.numbers));
}

}  // namespace

Shape4 InputTensor::shape() const {
  const std::size_t r = rank();
  return {r >= 4 ? extents[r - 4] : 1, r >= 3 ? extents[r - 3] : 1, r >= 2 ? extents[r - 2] : 1,
          r >= 1 ? extents[r - 1] : 1};
}

template <class T>
Tensor4<T> to_tensor(const InputTensor& tensor) {
  Tensor4<T> result;
  result.shape = tensor.shape();
  result.data = converted<T>(tensor);
  return result;
}

template <class T>
Tensor4<T> to_tensor(InputTensor&& tensor) {
  InputTensor taken = std::exchange(tensor, {});
  Tensor4<T> result;
  result.shape = taken.shape();
  if constexpr (sizeof(T) > 2) {
    if (auto* same = std::get_if<std::vector<T>>(&taken.numbers)) {
      result.data = std::move(*same);
      return result;
    }
  }
  result.data = converted<T>(taken);
  return result;
}

std::vector<double> to_doubles(const InputTensor& tensor) { return converted<double>(tensor); }

template Tensor4<float> to_tensor<float>(const InputTensor&);
template Tensor4<double> to_tensor<double>(const InputTensor&);
template Tensor4<Float16> to_tensor<Float16>(const InputTensor&);
template Tensor4<Bfloat16> to_tensor<Bfloat16>(const InputTensor&);
template Tensor4<float> to_tensor<float>(InputTensor&&);
template Tensor4<double> to_tensor<double>(InputTensor&&);
template Tensor4<Float16> to_tensor<Float16>(InputTensor&&);
template Tensor4<Bfloat16> to_tensor<Bfloat16>(InputTensor&&);

}  // namespace conelab
