// Attention, the chain of parts, as a row of operators: maps of tokens first, then the tiles of
// pairs.
#pragma once

#include <vector>

#include "core/operators/operator.h"

namespace conelab {

/// The row of attention.
[[nodiscard]] OperatorRow attention_row();

}  // namespace conelab
