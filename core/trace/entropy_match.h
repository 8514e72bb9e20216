// The sharpness at which the attention of a head under one operator is as concentrated as under
// another one: the value of gamma, scale or beta for which the mean entropy of its rows is equal.
//
// Models are trained for one operator. The logits of another one have another range, so that its
// softmax is nearly uniform or nearly one-hot at the default sharpness. The entropy of a row of
// softmax falls with the sharpness, so that the value is found by bisection of its logarithm.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/parallel.h"
#include "core/trace/trace.h"

namespace conelab {

/// Returns the key of the parameter that multiplies the logits of a call ("gamma", "scale",
/// "beta"). Absent if the call has none, or if its weights are no softmax over keys.
[[nodiscard]] std::optional<std::string> sharpness_key(const Call& call);

/// The rows of one head whose entropies are averaged.
struct EntropyRows {
  std::shared_ptr<const HeadInput> head;
  /// Nonzero: this row or key is left out. Empty: none is.
  std::vector<std::uint8_t> query_left_out = {}, key_left_out = {};
  /// Rows are taken at equal distances so that there are about this many pairs.
  std::int64_t most_pairs = std::int64_t{1} << 21;
};

/// Returns the mean entropy of the softmax of the rows in nats. Rows without keys and rows that are
/// not finite are left out; NaN if none is left.
[[nodiscard]] double mean_row_entropy(const EntropyRows& rows, const Call& call_of_head,
                                      const Execution& execution);

/// Returns the value of the sharpness at which the call has this mean entropy. Throws a failure if
/// none between 1e-6 and 1e6 has.
[[nodiscard]] double match_entropy(const EntropyRows& rows, Call call_of_head, double entropy,
                                   const Execution& execution);

/// Returns the call with this value of a parameter on one head: in place of the number of that head
/// if there is one for each, otherwise for all heads.
[[nodiscard]] Call with_value_on_head(Call call, const std::string& key, double value,
                                      std::int64_t head);

}  // namespace conelab
