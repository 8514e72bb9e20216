// Finds what an operator can be combined with, from the tables. Lists show it, and calls are
// checked with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/operators/operator.h"

namespace conelab {

/// The parts that an operator accepts in one field of a call.
struct Combination {
  std::string field;  ///< `CallField::name`, such as "masks".
  std::vector<std::string> parts;
};

/// Returns what an operator combines with. A structured operator accepts the masks and fields of
/// its row; a similarity accepts the maps into its spaces and every part of the other fields. The
/// result is empty for an unknown name.
[[nodiscard]] std::vector<Combination> combinations(const std::string& operation);

/// Returns whether an operator combines with a part in the field of this name.
[[nodiscard]] bool combines(const std::string& operation, std::string_view field,
                            std::string_view part);

/// Returns whether a similarity, with one of its choices, uses points of this space.
[[nodiscard]] bool looks_at(const std::string& similarity, Space space);

}  // namespace conelab
