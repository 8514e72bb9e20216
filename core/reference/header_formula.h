// The similarities that the reference has no formula of its own for: the header's, in float64, pair
// by pair.
//
// Maps, biases, masks, weights and gradients are then still evaluated separately; the formula
// itself is checked by its test vectors alone. Where a formula can be written in another way than
// in its header, write it in logits.cpp: that is the better oracle.
#pragma once

#include "core/reference/problem.h"
#include "core/similarity/table.h"

namespace conelab::reference {

/// The row that the call names. Throws misuse where there is none.
[[nodiscard]] const SimilarityRow& row_of(const Problem& problem);

/// score(u, v) of the header with the parameters of `head`, u the query; good to double precision.
[[nodiscard]] Real header_similarity(const Problem& problem, std::int64_t head, const Point& u,
                                     const Point& v);

/// rho_0, where the header's tokens live in a ball; else infinity.
[[nodiscard]] Real header_light(const Problem& problem, std::int64_t head);

}  // namespace conelab::reference
