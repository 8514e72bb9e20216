// Position biases: a number added to the logit that depends on the relative position alone. One row
// of a table for each.
//
// Positions are aligned at their ends: query i sits at key i' = i + n_k - n_q, and a bias is a
// function of the offset j - i'. The drivers tabulate it, O(n), and add any bias at the same cost;
// backward collects dL/dlogit by offset, and a row's `slope` applies the chain rule.
//
// A row with the parameter `grid` adds one bias for each axis: tokens are the points of a grid, the
// last axis fastest, and the offset along an axis is that of the coordinates. The functions are
// given the numbers of one axis.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/base/parameter.h"

namespace conelab {

struct BiasRow {
  const char* name;
  const char* about;
  std::span<const ParameterInfo> parameters;
  DefaultOf initial;  ///< Null where every default stands in `parameters`.
  /// The bias at an offset j - i', along one axis of a grid.
  double (*value)(const PartValues& values, double offset);
  /// Adds upstream * d(bias at this offset)/d(parameters) to `gradient`.
  void (*slope)(const PartValues& values, double offset, double upstream, PartValues& gradient);
  /// Whether each pair has a number of its own: `offset` is then query * n_k + key.
  bool of_pairs = false;
  /// Whether the bias depends on the query, too: `value` and `slope` are null, and the parameters
  /// are those of RelativePositions.
  bool of_queries = false;
};

/// The parameters of a bias of queries, c = clip(j - i', -clip, clip) + clip: shaw_k [2 clip + 1 x
/// d], of which scale q_i . shaw_k[c] is added to the logit, shaw_v [2 clip + 1 x d_v], of which
/// sum_j w_ij shaw_v[c] is added to the output; one of the two may be absent; and clip.
enum class RelativePositions : std::size_t { keys, values, clip };

[[nodiscard]] std::span<const BiasRow> bias_table();
/// Numbers that are given for all pairs, R [n_q x n_k]: no bias that a call can name. Added to a
/// similarity that is 0, they are the logits.
[[nodiscard]] const BiasRow& given_numbers();
/// The row of this name, or null.
[[nodiscard]] const BiasRow* find_bias(const std::string& name);

}  // namespace conelab
