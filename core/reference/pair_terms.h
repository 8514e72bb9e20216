// Masks, biases and maps of tokens, written a second time from their definitions.
#pragma once

#include <vector>

#include "core/reference/problem.h"

namespace conelab::reference {

/// Returns whether query i of a head of batch element b sees key j, the intersection of the call's
/// masks. A mask whose array is missing admits every pair.
[[nodiscard]] bool sees(const Problem& problem, std::int64_t b, std::int64_t head, std::int64_t i,
                        std::int64_t j);

/// Returns whether no gradient flows through the pair to its key and value.
[[nodiscard]] bool is_stopped(const Problem& problem, std::int64_t i, std::int64_t j);

/// Returns the bias of query i, which is at the position of key i + n_k - n_q, with key j.
[[nodiscard]] Real position_bias(const Problem& problem, std::int64_t b, std::int64_t head,
                                 std::int64_t i, std::int64_t j);
/// Returns what the bias adds to the value [d_v] of key j for query i (Shaw et al. eq. 3), or null.
[[nodiscard]] const Real* position_value(const Problem& problem, std::int64_t head, std::int64_t i,
                                         std::int64_t j);

/// Returns P x with a head's matrix of this name, or x if there is none.
[[nodiscard]] std::vector<Real> projected(const Problem& problem, const std::string& name,
                                          std::int64_t head, const std::vector<Real>& x);

/// Returns a query (or key) after the call's maps of tokens.
[[nodiscard]] std::vector<Real> mapped_token(const Problem& problem, std::int64_t head,
                                             bool is_query, std::int64_t index,
                                             std::vector<Real> x);

/// Returns a value after the call's map of values.
[[nodiscard]] std::vector<Real> mapped_value(const Problem& problem, std::vector<Real> v);

}  // namespace conelab::reference
