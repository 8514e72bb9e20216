// What a benchmark runs: cases that are prepared once and sampled many times, and what is known of
// them before. The runner knows operators only through this interface.
#pragma once

#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/bench/axes.h"

namespace conelab {

/// Facts about a prepared case.
struct CaseFacts {
  double flops = 0;  ///< Of one run.
  double bytes = 0;  ///< Inputs read and outputs written by one run: the compulsory traffic.
  double error = 0;  ///< Largest absolute difference to float64; NaN where not determined.
};

/// One sample of a case: seconds per run, NaN where not measured.
struct Sample {
  double warm = std::numeric_limits<double>::quiet_NaN();
  double cold = std::numeric_limits<double>::quiet_NaN();        ///< One run with flushed caches.
  double runs = 0;                                               ///< That `warm` is the mean of.
  double peak_flops = std::numeric_limits<double>::quiet_NaN();  ///< Multiply-add peak of as many
                                                                 ///< threads, FLOP/s, the lower of
                                                                 ///< before and after.
  double peak_bytes = 0;    ///< Peak resident memory of the worker during a run.
  double extra_bytes = 0;   ///< Peak growth during a run, beyond inputs and outputs.
  double device_bytes = 0;  ///< Peak memory on the device; 0 on the CPU.
  /// Of the device right after the sample, see DeviceClocks; NaN on the CPU and where it does not
  /// tell.
  double device_clock = std::numeric_limits<double>::quiet_NaN();
  double device_memory_clock = std::numeric_limits<double>::quiet_NaN();
  double device_temperature = std::numeric_limits<double>::quiet_NaN();
  double device_power = std::numeric_limits<double>::quiet_NaN();
  double device_throttle = std::numeric_limits<double>::quiet_NaN();
  /// Of memory beside as many threads, bytes/s; NaN where this round did not measure it. The
  /// runner's, not the worker's.
  double bandwidth = std::numeric_limits<double>::quiet_NaN();
};

/// What became of a request, or of a case; the numbers of /bench/runtime/status.
enum class CaseStatus {
  ok = 0,
  skipped = 1,
  crashed = 2,
  timed_out = 3,
  failed = 4,
  out_of_memory = 5
};

/// "ok", "skipped", "timed out", ...; "unknown status" for a number that has no name.
[[nodiscard]] inline const char* status_name(CaseStatus status) {
  constexpr const char* names[] = {"ok",        "skipped", "crashed",
                                   "timed out", "failed",  "out of memory"};
  const auto number = static_cast<std::size_t>(status);
  return number < std::size(names) ? names[number] : "unknown status";
}

/// f(name, number) for every fact, in the order in which a worker answers them.
template <class Facts, class F>
void each_fact(Facts& facts, const F& f) {
  f("flops", facts.flops);
  f("bytes", facts.bytes);
  f("error", facts.error);
}

/// The same for every number of a sample that a worker measures.
template <class AnySample, class F>
void each_measurement(AnySample& sample, const F& f) {
  f("warm", sample.warm);
  f("cold", sample.cold);
  f("runs", sample.runs);
  f("peak_flops", sample.peak_flops);
  f("peak_bytes", sample.peak_bytes);
  f("extra_bytes", sample.extra_bytes);
  f("device_bytes", sample.device_bytes);
  f("device_clock", sample.device_clock);
  f("device_memory_clock", sample.device_memory_clock);
  f("device_temperature", sample.device_temperature);
  f("device_power", sample.device_power);
  f("device_throttle", sample.device_throttle);
}

class CaseExecutor {
 public:
  virtual ~CaseExecutor() = default;
  [[nodiscard]] virtual CaseFacts facts() = 0;
  [[nodiscard]] virtual Sample sample(bool cold) = 0;
};

/// Prepares a case of `batch` from `seed`. Throws a failure where the case cannot run; a message
/// that begins with "skipped: " says that it is not meant to.
using ExecutorFactory = std::unique_ptr<CaseExecutor> (*)(const Case& c, std::int64_t batch,
                                                          std::uint64_t seed);

/// What a case will need, known before it starts.
struct Prediction {
  double bytes = 0;       ///< Peak memory of its worker.
  double idle_bytes = 0;  ///< Memory of its worker between samples.
  double flops = 0;       ///< Of one run.
};

/// What this program can benchmark.
struct Workload {
  std::vector<std::string> operations;  ///< Known names.
  /// Throws misuse for an operation of a known name that no case can have; null: takes names alone.
  void (*check)(const std::string& operation) = nullptr;
  ExecutorFactory make = nullptr;  ///< Used in workers only.
  Prediction (*predict)(const Case& c, std::int64_t batch) = nullptr;
  /// Bytes/s that so many threads read from memory; null: not measured.
  double (*bandwidth)(int threads) = nullptr;
};

}  // namespace conelab
