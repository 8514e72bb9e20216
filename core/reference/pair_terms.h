// Masks, biases and maps of tokens, each written once more from its definition.
#pragma once

#include <vector>

#include "core/reference/problem.h"

namespace conelab::reference {

/// Whether query i of batch element b may see key j: the intersection of the call's masks. A mask
/// that reads an array that is not there admits every pair.
[[nodiscard]] bool sees(const Problem& problem, std::int64_t b, std::int64_t i, std::int64_t j);

/// Whether no gradient flows through the pair to its key and value.
[[nodiscard]] bool is_stopped(const Problem& problem, std::int64_t i, std::int64_t j);

/// The bias of query i, which sits at key i + n_k - n_q, with key j.
[[nodiscard]] Real position_bias(const Problem& problem, std::int64_t b, std::int64_t head,
                                 std::int64_t i, std::int64_t j);
/// What the bias adds to the value of key j as query i sees it [d_v] (Shaw et al. eq. 3), or null.
[[nodiscard]] const Real* position_value(const Problem& problem, std::int64_t head, std::int64_t i,
                                         std::int64_t j);

/// P x with a head's matrix of this name; x where there is none.
[[nodiscard]] std::vector<Real> projected(const Problem& problem, const std::string& name,
                                          std::int64_t head, const std::vector<Real>& x);

/// A query (or key) after the call's maps of tokens.
[[nodiscard]] std::vector<Real> mapped_token(const Problem& problem, std::int64_t head,
                                             bool is_query, std::int64_t index,
                                             std::vector<Real> x);

/// A value under the call's value map.
[[nodiscard]] std::vector<Real> mapped_value(const Problem& problem, std::vector<Real> v);

}  // namespace conelab::reference
