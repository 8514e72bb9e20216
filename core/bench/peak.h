// The multiply-add peak of this machine, measured in the same run as everything else: the roofline,
// and a witness that the machine was not slowed while a sample was taken. Also the memory of this
// process, and cold caches.
#pragma once

#include <cstddef>

#include "core/base/tensor.h"

namespace conelab {

/// FLOP/s of `threads` threads at once over about `seconds`: in f64 for f64, in f32 for all else,
/// but where a tile unit serves tensors of 16 bits, in its own bf16 for them.
[[nodiscard]] double measure_peak(Dtype dtype, int threads, double seconds);

/// The last cache level in bytes, as the system tells it; 0 where it does not.
[[nodiscard]] std::size_t last_cache_bytes();

/// Touches `flush_bytes()` of memory, so that the next run starts with cold caches: twice the last
/// cache level, at least 64 MiB and at most 256 MiB.
void flush_caches();
[[nodiscard]] std::size_t flush_bytes();
/// Drops memory from every cache of every core, where the processor can.
void flush_lines(const void* memory, std::size_t bytes);

/// Peak and current resident memory of this process in bytes, from /proc; 0 where unknown.
[[nodiscard]] double peak_resident_bytes();
[[nodiscard]] double resident_bytes();
/// Gives memory that was freed back to the system, so that it does not count as resident.
void release_free_memory();
/// Forgets the peak so far, where the kernel allows it.
void reset_peak_resident();

}  // namespace conelab
