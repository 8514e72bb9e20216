// The axes of tensor parameters. A name in ParameterInfo::shape means the same in every tensor of
// every part; a new name is one row of the table.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/parameter.h"

namespace conelab {

/// The size of an axis of a drawn tensor if nothing else determines it and the row has no other.
inline constexpr std::int64_t usual_drawn_size = 8;

struct TensorAxis {
  const char* name;   ///< "f". The shapes "2f" and "2f+1" contain it.
  const char* about;  ///< What the axis counts.
  /// Returns its size in a drawn tensor if nothing else determines it. Null: `usual_drawn_size`.
  std::int64_t (*drawn_size)(const DefaultContext& context) = nullptr;
};

[[nodiscard]] std::span<const TensorAxis> tensor_axis_table();

/// Returns whether a tensor is declared with an axis of the table.
[[nodiscard]] bool has_axis(const ParameterInfo& info, const TensorAxis& axis);

/// Adds to `sizes` those of axes that it does not contain and whose rows tell their drawn size.
[[nodiscard]] NamedSizes with_drawn_sizes(NamedSizes sizes, const DefaultContext& context);

}  // namespace conelab
