// The table of biases: numbers that are added to the logit, most of them by the relative position.
//
// Positions are aligned at their ends: query i is at the position of key i' = i + n_k - n_q, and
// such a bias is a function of the offset j - i'. The drivers tabulate it in O(n), so that every
// bias takes the same time for a pair. The backward pass sums dL/dlogit by offset, and a row's
// `slope` applies the chain rule.
//
// A row with the parameter `grid` adds one bias for each axis of a grid. The tokens are then the
// points of the grid, with the last axis fastest, and the offset along an axis is that of the
// coordinates. The functions receive the parameters of one axis.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/base/parameter.h"

namespace conelab {

/// How a bias is computed by columns that a map appends to queries and keys instead.
struct BiasColumns {
  const char* form = nullptr;  ///< The choice, a parameter of the bias. Null: there are none.
  const char* word = nullptr;  ///< Its word for columns.
  const char* map = nullptr;   ///< The map, a name of core/token/token_map.h.
};

struct BiasRow {
  const char* name;
  const char* about;            ///< The formula in one line.
  const char* paper = "";       ///< The paper and the equation; empty if there is none.
  const char* conditions = "";  ///< What it combines with only in part, for `conelab list`.
  std::span<const ParameterInfo> parameters = {};
  DefaultOf initial = nullptr;  ///< Null if `parameters` contains every default.
  /// Returns the bias at an offset j - i', along one axis of a grid.
  double (*value)(const PartValues& values, double offset) = nullptr;
  /// Adds upstream * d(bias at this offset)/d(parameters) to `gradient`.
  void (*slope)(const PartValues& values, double offset, double upstream,
                PartValues& gradient) = nullptr;
  /// Returns the row c of the first tensors that belongs to an offset. Null: the bias reads none.
  std::size_t (*place)(const PartValues& values, double offset) = nullptr;
  /// Says whether each pair has its own number, that of the tensor which is the first parameter.
  /// `value` and `slope` are null then, and core/tiles/pair_bias.h reads the tensor.
  bool of_pairs = false;
  /// Says whether the bias depends on the query as well. `value` and `slope` are null then, and the
  /// first two parameters are those of RelativePositions.
  bool of_queries = false;
  BiasColumns columns = {};
};

/// The first parameters of a bias that depends on queries, with c = place(j - i'):
/// - keys [rows x d]; scale q_i . keys[c] is added to the logit;
/// - values [rows x d_v]; sum_j w_ij values[c] is added to the output.
/// One of the two tensors may be absent.
enum class RelativePositions : std::size_t { keys, values };

[[nodiscard]] std::span<const BiasRow> bias_table();
/// Returns the row with this name, or null.
[[nodiscard]] const BiasRow* find_bias(const std::string& name);

}  // namespace conelab
