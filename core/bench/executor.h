// The interface between the benchmark's runner and what it measures: cases that are prepared once
// and sampled many times, and predictions about them. The runner knows operators only through this
// interface.
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
  double flops = 0;  ///< Operations of one run.
  double bytes = 0;  ///< Inputs read and outputs written by one run: the compulsory traffic.
  double error = 0;  ///< Largest absolute difference from float64; NaN if not determined.
  /// The Evaluation of the last pass, as a number; NaN if it is another program's.
  double evaluation = std::numeric_limits<double>::quiet_NaN();
};

/// One sample of a case. Times are seconds per run; NaN if not measured.
struct Sample {
  double warm = std::numeric_limits<double>::quiet_NaN();
  double cold = std::numeric_limits<double>::quiet_NaN();  ///< One run with flushed caches.
  /// `warm` is the mean of this many runs: as many as fill 20 ms (operator_case.cpp).
  double runs = 0;
  /// Multiply-add peak of as many threads in FLOP/s, the smaller one of before and after the
  /// sample.
  double peak_flops = std::numeric_limits<double>::quiet_NaN();
  double peak_bytes = 0;    ///< Peak resident memory of the worker during a run.
  double extra_bytes = 0;   ///< Peak growth of memory during a run, without inputs and outputs.
  double device_bytes = 0;  ///< Peak memory on the device; 0 on the CPU.
  /// State of the device after the sample, see DeviceClocks. NaN on the CPU and if the device does
  /// not report it.
  double device_clock = std::numeric_limits<double>::quiet_NaN();
  double device_memory_clock = std::numeric_limits<double>::quiet_NaN();
  double device_temperature = std::numeric_limits<double>::quiet_NaN();
  double device_power = std::numeric_limits<double>::quiet_NaN();
  double device_throttle = std::numeric_limits<double>::quiet_NaN();
  /// Bandwidth of memory in bytes/s for as many threads. The runner measures it, not the worker.
  /// NaN if this round did not.
  double bandwidth = std::numeric_limits<double>::quiet_NaN();
};

/// The outcome of a request or of a case. The numbers are those of /bench/runtime/status.
enum class CaseStatus {
  ok = 0,
  skipped = 1,
  crashed = 2,
  timed_out = 3,
  failed = 4,
  out_of_memory = 5
};

/// Returns "ok", "skipped", "timed out", ..., or "unknown status" for a number without a name.
[[nodiscard]] inline const char* status_name(CaseStatus status) {
  constexpr const char* names[] = {"ok",        "skipped", "crashed",
                                   "timed out", "failed",  "out of memory"};
  const auto number = static_cast<std::size_t>(status);
  return number < std::size(names) ? names[number] : "unknown status";
}

/// Calls f(name, number) for every fact, in the order of a worker's answer.
template <class Facts, class F>
void each_fact(Facts& facts, const F& f) {
  f("flops", facts.flops);
  f("bytes", facts.bytes);
  f("error", facts.error);
  f("evaluation", facts.evaluation);
}

/// Calls f(name, number) for every number of a sample that a worker measures, in that order too.
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
  /// Computes the facts. It is called once, with the first sample.
  [[nodiscard]] virtual CaseFacts facts() = 0;
  /// Runs the case and measures it. If `cold`, also times one run with flushed caches.
  [[nodiscard]] virtual Sample sample(bool cold) = 0;
};

/// Prepares a case with `batch` and `seed`. Throws a failure if the case cannot run. A message that
/// begins with "skipped: " says that it is not meant to run.
using ExecutorFactory = std::unique_ptr<CaseExecutor> (*)(const Case& c, std::int64_t batch,
                                                          std::uint64_t seed);

/// The needs of a case, known before it starts.
struct Prediction {
  double bytes = 0;       ///< Peak memory of its worker.
  double idle_bytes = 0;  ///< Memory of its worker between samples.
  double flops = 0;       ///< Operations of one run.
};

/// What this program can benchmark.
struct Workload {
  std::vector<std::string> operations;  ///< Names of the operators.
  /// Throws misuse or a failure if the case's operator cannot have its parameters at the case's
  /// sizes. Null: only names are accepted.
  void (*check)(const Case& c, std::int64_t batch) = nullptr;
  ExecutorFactory make = nullptr;  ///< Prepares a case. Used in workers only.
  Prediction (*predict)(const Case& c, std::int64_t batch) = nullptr;
  /// Returns the bytes/s that this number of threads read from memory. Null: not measured.
  double (*bandwidth)(int threads) = nullptr;
};

}  // namespace conelab
