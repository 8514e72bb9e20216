// A named tensor in memory of the caller, with a number type that is known at run time: what enters
// and leaves the engine through the C interface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/tensor.h"

namespace conelab {

/// The number types of such memory: those of tensors, whole numbers, and bytes of 0 and 1.
enum class NumberType { f64, f32, f16, bf16, i64, u8 };

/// A tensor of any rank. Axes are ordered from the outermost to the innermost, as
/// [batch x head x token x feature].
struct TensorView {
  std::string name;  ///< "q", "output", "W".
  NumberType type = NumberType::f32;
  void* data = nullptr;               ///< Not written to where the tensor is an input.
  std::vector<std::int64_t> sizes;    ///< [rank]
  std::vector<std::int64_t> strides;  ///< [rank] Numbers from one index of an axis to the next.

  /// Returns how many numbers the tensor has.
  [[nodiscard]] std::int64_t count() const {
    std::int64_t product = 1;
    for (const std::int64_t n : sizes) product *= n;
    return product;
  }
};

/// Returns "f64", "f32", "f16", "bf16", "i64" or "u8".
[[nodiscard]] const char* number_type_name(NumberType type);
/// Returns the type of tensors of these numbers. Throws misuse, which names the tensor, for whole
/// numbers and bytes.
[[nodiscard]] Dtype dtype_of(const TensorView& view);

/// Throws misuse unless the view has numbers of this type.
void check_type(const TensorView& view, NumberType type);
/// Throws misuse unless the view's last axes have the last of `sizes`, and its other axes together
/// the first of `sizes`; leading axes of size 1 may be absent. Then the view's numbers, in the
/// order of its axes, are those of a dense tensor with `sizes`.
void check_sizes(const TensorView& view, const std::vector<std::int64_t>& sizes);

/// Calls each(number's offset from `data`) for all numbers, in the order of the axes.
template <class Each>
void for_each_offset(const TensorView& view, const Each& each) {
  const std::size_t rank = view.sizes.size();
  std::vector<std::int64_t> at(rank, 0);
  const std::int64_t inner = rank == 0 ? 1 : view.sizes.back();
  const std::int64_t step = rank == 0 ? 0 : view.strides.back();
  const std::int64_t rows = inner == 0 ? 0 : view.count() / inner;
  std::int64_t first = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t c = 0; c < inner; ++c) each(first + c * step);
    for (std::size_t axis = rank == 0 ? 0 : rank - 1; axis-- > 0;) {
      first += view.strides[axis];
      if (++at[axis] < view.sizes[axis]) break;
      first -= view.strides[axis] * at[axis];
      at[axis] = 0;
    }
  }
}

}  // namespace conelab
