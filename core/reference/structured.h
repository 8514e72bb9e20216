// Structured operators, each written once more from its definition.
#pragma once

#include "core/reference/evaluate.h"

namespace conelab::reference {

/// One head of one batch element.
struct HeadOf {
  std::int64_t b, h;
};

/// Output, and of multi-head and random lse, weights and logits; an operator without a formula of
/// its own here is a failure.
[[nodiscard]] Result structured(const Problem& problem);

/// Operators that take all heads at once.
[[nodiscard]] Result multi_head(const Problem& problem);
[[nodiscard]] Result recursive(const Problem& problem);
[[nodiscard]] Result random_logits(const Problem& problem);

}  // namespace conelab::reference
