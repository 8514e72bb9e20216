// Structured operators, written a second time from their definitions.
#pragma once

#include "core/reference/evaluate.h"

namespace conelab::reference {

/// One head of one batch element.
struct HeadOf {
  std::int64_t b, h;
};

/// Computes the output, and for multi-head and random also lse, weights and logits. Throws a
/// failure for an operator without a formula here.
[[nodiscard]] Result structured(const Problem& problem);

/// Operators that are formulas of all heads at once.
[[nodiscard]] Result multi_head(const Problem& problem);
[[nodiscard]] Result recursive(const Problem& problem);
[[nodiscard]] Result random_logits(const Problem& problem);

}  // namespace conelab::reference
