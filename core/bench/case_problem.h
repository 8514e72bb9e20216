// The problem of a benchmark's case: its random input, and the error of what an engine computed of
// it.
#pragma once

#include <cstdint>

#include "core/bench/axes.h"
#include "core/operators/operator.h"

namespace conelab {

/// Query, key, value and output gradient [batch × head × seq_len × dim] from N(0,1), by the labels
/// of `c` and a seed; queries and keys in equal number. In every head key 1 repeats query 0, and
/// key 3 is query 2 moved by 1e-4, so that close pairs are part of every case.
[[nodiscard]] AttentionInput<float> random_input(const Case& c, std::int64_t batch,
                                                 std::uint64_t seed);

// Errors: the largest absolute difference to float64 on the same (rounded) input, over all heads,
// of a result that any engine computed. NaN where the result holds one, so that a broken result
// cannot look exact.
//
// Outputs are compared with the separately written reference, for all queries up to n = 256 and for
// 16 beyond; gradients with the engine's own float64 path (which the tests compare with the
// reference), all of them up to n = 512, beyond that those of 16 queries. Gradients in float64 are
// compared with finite differences of the reference (good to about 1e-9 of a slope), for eight
// numbers of one query; NaN where all of them lie at kinks.

/// `output` [batch × head × n × d_v] of the call on `input`, which has as many keys as queries.
template <class T>
[[nodiscard]] double output_error(const Call& call, const AttentionInput<T>& input,
                                  const Tensor4<T>& output);

/// The gradients of query, key and value, in the shapes of `input`; float64 is computed with
/// `execution`.
template <class T>
[[nodiscard]] double gradient_error(const Call& call, const AttentionInput<T>& input,
                                    const Backward<T>& gradient, const Execution& execution);

}  // namespace conelab
