// The forward pass of few queries, as a model has when it writes one token after another: reading
// the keys and values takes most of the time, so that they are read once and not packed.
#pragma once

#include <optional>

#include "core/base/parallel.h"
#include "core/call/plan.h"

namespace conelab {

/// The largest number of queries for which packing the keys does not pay.
constexpr std::int64_t few_queries = 16;

/// Computes what attention_forward does. Returns nothing where the other way has to be taken: for
/// more queries, for tensors of float and double, whose backward pass needs logits that are rounded
/// as it rounds them (those of 16 bits are less exact than that difference), and for parts that
/// this way does not know. What a query sees alone decides about the way, and about every bit of
/// its row.
template <class S>
[[nodiscard]] std::optional<Forward<S>> few_queries_forward(const Plan& plan,
                                                            const AttentionInput<S>& input,
                                                            const Execution& execution);

}  // namespace conelab
