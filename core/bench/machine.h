// What is measured of the machine in the same run as everything else: its multiply-add peak, the
// bandwidth of its memory, and the memory of this process. Also cold caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "core/base/tensor.h"
#include "core/bench/axes.h"

namespace conelab {

/// The multiply-add peak of `threads` threads at once in FLOP/s, measured for about `seconds`: the
/// roof of the roofline, and a witness that the machine was not slowed while a sample was taken. In
/// f64 for f64, in f32 for all else; but where a tile unit serves tensors of 16 bits, in its own
/// bf16 for them.
[[nodiscard]] double measure_peak(Dtype dtype, int threads, double seconds);

/// The bandwidth of memory in bytes/s: the slope of the roofline. `threads` threads read an array
/// that no cache holds, from its begin to its end and again, for about `seconds`. Each reads its
/// own part, which it wrote first, so that the part lies in the memory next to it. Attention mostly
/// reads, and reading is the fastest of the sweeps, so the slope is an upper bound. NaN where the
/// array exceeds a quarter of the free memory.
[[nodiscard]] double measure_bandwidth(int threads, double seconds);
/// The array's size: four times the last cache level of a socket, so that those of two sockets do
/// not hold it either, at least 256 MiB.
[[nodiscard]] std::size_t bandwidth_bytes();

/// Decides when a run measures the bandwidth: beside the first, the middle and the last round, once
/// per number of threads; the latter two only where that costs little of the run's time.
class BandwidthSchedule {
 public:
  using Measure = double (*)(int threads);

  /// Measures nothing where `measure` is null.
  BandwidthSchedule(Measure measure, int rounds) : measure_(measure), rounds_(rounds) {}

  /// The bandwidth for a sample of `c` in `round`, `elapsed` seconds after the run began. NaN where
  /// this round does not measure it, and on devices, which have memory of their own.
  [[nodiscard]] double beside(const Case& c, int round, double elapsed);

 private:
  struct Last {
    int round = -1;
    double value = 0;
  };

  [[nodiscard]] bool due(int round, double elapsed) const;

  Measure measure_;
  int rounds_;
  double spent_ = 0;                     ///< Seconds that measuring took.
  std::map<std::int64_t, Last> latest_;  ///< By number of threads.
};

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
