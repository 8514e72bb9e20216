// A case of `conelab bench` on a device: one pass of a call whose operands lie there.
#pragma once

#include "core/bench/executor.h"
#include "core/tiles/backend.h"

namespace conelab {

/// Query, key, value and output gradient as the CPU's case has them, rounded to the case's dtype.
/// Times are the device's own clock: kernels only, operands and results on the device; placing
/// tokens and copies are not in them. Errors are those of case_error.h. Threads play no part.
/// Throws "skipped: ..." where the device cannot be used or does not compute the dtype.
[[nodiscard]] std::unique_ptr<CaseExecutor> make_device_case(Backend& backend, const Case& c,
                                                             std::int64_t batch,
                                                             std::uint64_t seed);

}  // namespace conelab
