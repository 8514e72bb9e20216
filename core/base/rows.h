// A run of consecutive rows, such as the tokens of a part of a sequence.
#pragma once

#include <cstdint>

namespace conelab {

/// The rows begin, ..., end - 1.
struct Rows {
  std::int64_t begin = 0, end = 0;

  [[nodiscard]] std::int64_t count() const { return end - begin; }
  bool operator==(const Rows&) const = default;
};

}  // namespace conelab
