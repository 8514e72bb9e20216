// Runs a benchmark's case: one pass of an operator on random input (case_problem.h), rounded to the
// case's dtype, on the CPU or on a device. In core/bench only operator_case and case_problem know
// operators. Names come from the operators' table; shapes, FLOP and masks from the resolved call.
#pragma once

#include "core/base/ranks.h"
#include "core/bench/executor.h"
#include "core/tiles/backend.h"

namespace conelab {

/// Returns the engine on the CPU as a workload. Operators are those of the table with their default
/// maps, or calls as one word (call.h): "dot:masks=causal". Masks that read lengths or an
/// array are refused. Operations of pairs that a mask hides do not count. Cases on other devices
/// are skipped.
[[nodiscard]] Workload operator_workload();

/// Prepares a case that these ranks share, of which each calls this and then the same functions of
/// the case (run_worker does so). Times are those until all have ended. Throws "skipped: ..." if
/// the operator is computed by one process only, and for the backward pass alone.
[[nodiscard]] std::unique_ptr<CaseExecutor> make_shared_case(Ranks& ranks, const Case& c,
                                                             std::int64_t batch,
                                                             std::uint64_t seed);

/// Prepares a case on a device. Operands are on the device. Times are those of the device's clock
/// for the kernels; copies and the placing of tokens are not included. Threads have no effect.
/// Throws "skipped: ..." if the device cannot be used or does not compute the dtype or the pass.
[[nodiscard]] std::unique_ptr<CaseExecutor> make_device_case(Backend& backend, const Case& c,
                                                             std::int64_t batch,
                                                             std::uint64_t seed);

}  // namespace conelab
