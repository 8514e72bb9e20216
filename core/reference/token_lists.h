// The structured operators whose tokens attend to lists of tokens, written a second time from their
// papers, for one head of one batch element.
#pragma once

#include "core/reference/problem.h"

namespace conelab::reference {

/// Computes Star-Transformer, sections 3.1 and 3.2.
void star(const Problem& problem, std::int64_t b, std::int64_t h, Tensor4<Real>& output);
/// Computes SegTree-Transformer.
void segtree(const Problem& problem, std::int64_t b, std::int64_t h, Tensor4<Real>& output);

}  // namespace conelab::reference
