// Attention of several heads as one matrix: their mean, their maximum, and attention rollout.
//
// The mean and the maximum are those of core/statistics/head_join.h, cell by cell. Neither needs an
// array of the whole matrix.
//
// Rollout (core/statistics/rollout.h: Abnar and Zuidema 2020) is the product over the layers up to
// the open one, R_l = Ã_l R_{l−1} with Ã = (mean of heads + I) / 2 and rows that sum to one. It is
// computed in double precision and needs arrays of the whole matrix, so that the number of tokens
// is limited.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/trace/matrix_source.h"

namespace conelab {

/// Whose attention a map shows.
struct MapSubject {
  std::shared_ptr<const Trace> trace;
  std::vector<std::string> layers;  ///< The groups of the layers of its text, in natural order.
  std::int64_t batch = 0, head = 0;
  std::string join;  ///< "one", "mean", "maximum" or "rollout".
  Backend* device = nullptr;
};

/// Returns the name of a subject (core/trace/layers.h).
[[nodiscard]] std::string subject_name(const MapSubject& subject, bool whole);

/// Returns the attention of a subject under a call. The layers and heads are read and resolved when
/// the matrix is prepared, in a job; what is wrong with them is thrown then. Throws misuse for a
/// rollout of logits, of too many tokens, or of different numbers of queries and keys.
[[nodiscard]] std::shared_ptr<MatrixSource> subject_source(const MapSubject& subject,
                                                           const Call& call, Map2d quantity);

}  // namespace conelab
