// Attention of several heads as one matrix: their mean, their maximum, and attention rollout.
//
// The mean and the maximum are those of core/statistics/rollout.h, cell by cell. Neither needs an
// array of the whole matrix.
//
// Rollout (core/statistics/rollout.h: Abnar and Zuidema 2020) is the product over the layers up to
// the open one, R_l = Ã_l R_{l−1} with Ã = (mean of heads + I) / 2 and rows that sum to one. It is
// computed in double precision and needs arrays of the whole matrix, so that the number of tokens
// is limited.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/matrix_source.h"
#include "core/trace/trace.h"

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

// Attention maps of a trace as arrays in double precision: of one head, of all heads of a layer
// together, and of the layers up to one (attention rollout). They need memory for the whole matrix;
// views that compute cells on demand use matrix_source.h.

struct WholeMap {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;        ///< [rows × columns]
  std::vector<std::uint8_t> masked;  ///< [rows × columns] 1 for masked pairs; empty: none is.
  std::int64_t heads =
      1;  ///< How many heads the operator made of tokens with one; the first is here.
};

/// Returns the call of a head of a trace, from the call for all its heads.
using CallOnHead = std::function<Call(const Trace& trace, std::int64_t head)>;

/// Computes the map of one head of one batch element. Throws as `resolve` and `head_input` do.
[[nodiscard]] WholeMap map_of_head(const Trace& trace, std::int64_t batch, std::int64_t head,
                                   const Call& call_of_head, Map2d quantity,
                                   const Execution& execution);

/// Computes the mean or the maximum of all heads (core/statistics/rollout.h). A cell is masked if
/// the join of its values is -inf. Throws misuse if the maps of the heads differ in size.
[[nodiscard]] WholeMap joined_map(const Trace& trace, std::int64_t batch, const CallOnHead& call,
                                  bool mean, Map2d quantity, const Execution& execution);

/// Throws misuse unless a rollout of tokens of this number is possible.
void check_rollout(const Extents& extents);
/// Computes the attention rollout (core/statistics/rollout.h) of the mean weights of the layers
/// `groups` of the trace's file, which end with its own. Other layers are read. Throws a failure if
/// they have other numbers of tokens, and as `check_rollout` does.
[[nodiscard]] WholeMap rollout_map(const Trace& trace, const std::vector<std::string>& groups,
                                   std::int64_t batch, const CallOnHead& call,
                                   const Execution& execution);

}  // namespace conelab
