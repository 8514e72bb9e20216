// The problem of a benchmark's case: its random input, and the error of an engine's results.
#pragma once

#include <cstdint>

#include "core/bench/axes.h"
#include "core/operators/operator.h"

namespace conelab {

/// Returns the sizes of a case. A label 0 of `key_head`, `query_len` or `value_dim` means the size
/// of `head`, `seq_len` or `dim`.
[[nodiscard]] Extents extents_of(const Case& c, std::int64_t batch);

/// Returns query, key, value and output gradient of the case's sizes from N(0,1), for a seed. If
/// there are at least 4 keys, in every head key 1 equals query 0, and key 3 is query 2 moved by
/// 1e-4, so that the case contains close pairs.
[[nodiscard]] AttentionInput<float> random_input(const Case& c, std::int64_t batch,
                                                 std::uint64_t seed);

// The error is the largest absolute difference from float64 on the same (rounded) input, over all
// heads, for the results of any engine. It is NaN if a result is NaN, so that a broken result
// cannot look exact.
//
// Outputs are compared with the separately written reference: for all queries up to n = 256, and
// for 16 of them beyond. Gradients are compared with the engine's own float64 path, which the tests
// compare with the reference: all of them up to n = 512, and those of 16 queries beyond. If a
// query's results depend on other queries (structured operators, axis=query, mask graph), all
// queries are compared: outputs with the reference up to n = 256, everything else with the engine's
// float64 path, and NaN is returned where that is the engine under test. Gradients in float64 are
// compared with finite differences of the reference, which are accurate to about 1e-9 of a
// derivative, for eight numbers of one query. The result is NaN if all of them are at kinks.

/// Returns the error of `output` [batch × head × n_q × d_v] of the call on `input`.
template <class T>
[[nodiscard]] double output_error(const Call& call, const AttentionInput<T>& input,
                                  const Tensor4<T>& output);

/// Returns the error of the gradients of query, key and value, in the shapes of `input`. float64 is
/// computed with `execution`.
template <class T>
[[nodiscard]] double gradient_error(const Call& call, const AttentionInput<T>& input,
                                    const Backward<T>& gradient, const Execution& execution);

}  // namespace conelab
