// What executes a benchmark's case: one pass of an operator on random input (case_problem.h),
// rounded to the case's dtype, on the CPU or on a device. All that bench knows of operators is in
// these two files: names come from the operators' table, shapes, FLOP and masks from the resolved
// call.
#pragma once

#include "core/bench/executor.h"
#include "core/tiles/backend.h"

namespace conelab {

/// The engine on the CPU. Operators are those of the table with their own maps, or calls as one
/// word (call_text.h): "dot:masks=causal". Masks that read operands have none here. Operations of
/// pairs that a mask hides do not count. Cases on other devices are skipped.
[[nodiscard]] Workload operator_workload();

/// The same on a device where the operands are. Times are the device's own clock: kernels only;
/// copies and placing tokens are not in them. Threads have no effect. Throws "skipped: ..." where
/// the device cannot be used or does not compute the dtype or the pass.
[[nodiscard]] std::unique_ptr<CaseExecutor> make_device_case(Backend& backend, const Case& c,
                                                             std::int64_t batch,
                                                             std::uint64_t seed);

}  // namespace conelab
