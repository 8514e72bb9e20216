// The memory's bandwidth, measured in the same run as everything else: the slope of the roofline.
//
// Threads read an array that no cache holds, from its begin to its end and again, each its own part
// that it wrote first, so that the part lies in the memory next to it. Reads are what attention
// mostly asks of memory, and the fastest of the sweeps: the slope is an upper bound.
#pragma once

#include <cstddef>
#include <map>

#include "core/bench/sweep.h"

namespace conelab {

/// Bytes/s that `threads` threads at once read over about `seconds`, after the array was written.
/// NaN where a quarter of the free memory does not hold the array.
[[nodiscard]] double measure_bandwidth(int threads, double seconds);

/// The array's size: four times the last cache level of a socket, so that those of two sockets do
/// not hold it either, at least 256 MiB.
[[nodiscard]] std::size_t bandwidth_bytes();

/// When a run measures it: beside the first, the middle and the last round, once per number of
/// threads; the latter two only where that costs little of the run's time.
class BandwidthWatch {
 public:
  using Measure = double (*)(int threads);

  /// Measures nothing where `measure` is null.
  BandwidthWatch(Measure measure, int rounds) : measure_(measure), rounds_(rounds) {}

  /// For a sample of `c` in `round`, `elapsed` seconds after the run began; NaN where this round
  /// does not measure it, and for devices that have a memory of their own.
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

}  // namespace conelab
