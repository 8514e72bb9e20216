// The real case of `conelab bench`: one pass of the engine on random input.
#pragma once

#include "core/bench/executor.h"

namespace conelab {

/// Query, key, value and output gradient are N(0,1) in float; key 1 repeats query 0 and key 3 is
/// query 2 moved by 1e-4, so that close pairs are part of every case. The error is measured against
/// the engine's own float64 path on the same input: all rows up to n = 512, beyond that 16 rows of
/// the output or of the query's gradient. For float64 it is not determined here (NaN): the tests
/// compare that path with the separately written reference.
/// Throws "skipped: ..." for devices and dtypes that the engine does not have.
[[nodiscard]] std::unique_ptr<CaseExecutor> make_attention_case(const Case& c, std::int64_t batch,
                                                                std::uint64_t seed);

/// Bytes that a worker for this case will need at its peak, and FLOP of one run.
[[nodiscard]] double predicted_bytes(const Case& c, std::int64_t batch);
[[nodiscard]] double predicted_flops(const Case& c, std::int64_t batch);

}  // namespace conelab
