// The multiply-add peak of this machine, measured in the same run as everything else: the roofline,
// and a witness that the machine was not slowed while a sample was taken.
#pragma once

#include <cstddef>

#include "core/base/tensor.h"

namespace conelab {

/// FLOP/s of `threads` threads at once over about `seconds`.
[[nodiscard]] double measure_peak(Dtype dtype, int threads, double seconds);

/// Reads and writes more memory than any cache holds, so that the next run starts cold.
void flush_caches();

/// Peak and current resident memory of this process in bytes, from /proc; 0 where unknown.
[[nodiscard]] double peak_resident_bytes();
[[nodiscard]] double resident_bytes();
/// Forgets the peak so far, where the kernel allows it.
void reset_peak_resident();

}  // namespace conelab
