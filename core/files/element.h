// The types of numbers in files of any format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/tensor.h"

namespace conelab {

/// `boolean` is one byte, `raw16` two bytes of unknown meaning (ml_dtypes writes bf16 so), `text`
/// has no fixed size, and `other` cannot be read.
enum class Element {
  f64,
  f32,
  f16,
  bf16,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean,
  raw16,
  text,
  other
};

/// Returns "f32", "uint8", "text", ...
[[nodiscard]] const char* element_name(Element element);
/// Returns the bytes of one element; 0 for text and other.
[[nodiscard]] std::size_t element_size(Element element);
/// Returns the number type of a tensor, or nothing if the element is none of the four.
[[nodiscard]] std::optional<Dtype> element_dtype(Element element);
[[nodiscard]] bool is_integer(Element element);

/// Returns the product of extents, or nothing if one is negative or the product exceeds 2^62.
[[nodiscard]] std::optional<std::int64_t> checked_product(const std::vector<std::int64_t>& extents);

/// Returns "[12, 30, 32]".
[[nodiscard]] std::string extents_text(const std::vector<std::int64_t>& extents);

}  // namespace conelab
