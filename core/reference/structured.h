// Structured operators, written a second time from their definitions.
#pragma once

#include "core/reference/evaluate.h"
#include "core/reference/problem.h"

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

// The structured operators whose tokens attend to lists of tokens, written a second time from their
// papers, for one head of one batch element.

/// Computes Star-Transformer, sections 3.1 and 3.2.
void star(const Problem& problem, std::int64_t b, std::int64_t h, Tensor4<Real>& output);
/// Computes SegTree-Transformer.
void segtree(const Problem& problem, std::int64_t b, std::int64_t h, Tensor4<Real>& output);

}  // namespace conelab::reference
