// Logits of one head, pair by pair.
#pragma once

#include "core/reference/problem.h"

namespace conelab::reference {

/// A token of a head as a point of the similarity's model.
[[nodiscard]] Point map_row(const Problem& problem, const Tensor4<Real>& tokens, std::int64_t b,
                            std::int64_t head, std::int64_t row);

/// similarity(u, v), u the query; through its header where no formula is written here. Throws
/// misuse for an unknown similarity.
[[nodiscard]] Real similarity(const Problem& problem, std::int64_t head, const Point& u,
                              const Point& v);

/// Bias at relative position `offset` = j - i - (n_k - n_q): query i sits at key i + n_k - n_q.
///   none 0;   alibi -m |offset|;   hype -tau sinh(mu offset)
[[nodiscard]] Real position_bias(const Problem& problem, std::int64_t head, std::int64_t offset);

}  // namespace conelab::reference
