// Measurements of the machine during a benchmark: its multiply-add peak, the bandwidth of its
// memory, and the memory of this process. It also has the clock, and functions that flush caches.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>

#include "core/base/tensor.h"
#include "core/bench/axes.h"

namespace conelab {

/// Stands for a number that could not be measured.
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

using Clock = std::chrono::steady_clock;
[[nodiscard]] inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Returns the multiply-add peak of `threads` concurrent threads in FLOP/s, measured for about
/// `seconds`; the default is the time used before and after each sample. It is the roof of the
/// roofline, and shows whether the machine was slowed down during a sample. It is measured in f64
/// for f64 and in f32 otherwise; for 16-bit tensors that a tile unit serves, in the unit's bf16.
[[nodiscard]] double measure_peak(Dtype dtype, int threads, double seconds = 0.002);

/// Returns the bandwidth of memory in bytes/s, the slope of the roofline. `threads` threads
/// repeatedly read an array that no cache can hold, for about `seconds`. Each reads its own part,
/// which it wrote first, so that the part is in the memory close to it. Attention mostly reads, and
/// reading is the fastest access, so the slope is an upper bound. Returns NaN if the array would
/// exceed a quarter of the free memory.
[[nodiscard]] double measure_bandwidth(int threads, double seconds);
/// Returns the size of that array: four times the last-level caches, but at least 64 MiB; 256 MiB
/// if those are unknown.
[[nodiscard]] std::size_t bandwidth_bytes();

/// Decides when a run measures the bandwidth: with the first, the middle and the last round, once
/// for each number of threads. The latter two are left out if measuring has taken too much of the
/// run's time.
class BandwidthSchedule {
 public:
  using Measure = double (*)(int threads);

  /// Measures nothing if `measure` is null.
  BandwidthSchedule(Measure measure, int rounds) : measure_(measure), rounds_(rounds) {}

  /// Returns the bandwidth for a sample of `c` in `round`, `elapsed` seconds after the run began.
  /// Returns NaN if this round does not measure it, and for devices, which have their own memory.
  [[nodiscard]] double beside(const Case& c, int round, double elapsed);

 private:
  struct Last {
    int round = -1;
    double value = 0;
  };

  [[nodiscard]] bool due(int round, double elapsed) const;

  Measure measure_;
  int rounds_;
  double spent_ = 0;                     ///< Seconds that measuring has taken.
  std::map<std::int64_t, Last> latest_;  ///< The last measurement for each number of threads.
};

/// Returns the size in bytes of the last-level caches of all processors that the system lists, or 0
/// if it does not report it.
[[nodiscard]] std::size_t last_cache_bytes();

/// Writes to `flush_bytes()` of memory, so that the next run starts with cold caches. The size is
/// twice the last-level cache, at least 64 MiB and at most 256 MiB.
void flush_caches();
[[nodiscard]] std::size_t flush_bytes();
/// Evicts memory from every cache of every core, if the processor can.
void flush_lines(const void* memory, std::size_t bytes);

/// Return the peak and the current resident memory of this process in bytes, from /proc; 0 if
/// unknown.
[[nodiscard]] double peak_resident_bytes();
[[nodiscard]] double resident_bytes();
/// Returns freed memory to the system, so that it does not count as resident.
void release_free_memory();
/// Resets the peak, if the kernel allows it.
void reset_peak_resident();

}  // namespace conelab
