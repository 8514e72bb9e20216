// What an operator combines with, derived from the tables: for lists.
#pragma once

#include <string>
#include <vector>

#include "core/operators/operator.h"

namespace conelab {

/// The parts that an operator takes in one field of a call.
struct Combination {
  std::string field;  ///< Of `CallField::name`: "masks".
  std::vector<std::string> parts;
};

/// Returns what an operator combines with. A structured operator takes the masks of its row; a
/// similarity the maps into its space, and every part of the other fields. Empty for an unknown
/// name.
[[nodiscard]] std::vector<Combination> combinations(const std::string& operation);

/// Whether a similarity, in one of its forms, looks at points of this space.
[[nodiscard]] bool looks_at(const std::string& similarity, Space space);

}  // namespace conelab
