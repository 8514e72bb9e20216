// The result of a benchmark and its file.
#pragma once

#include <string>
#include <vector>

#include "core/bench/executor.h"
#include "core/bench/sweep.h"
#include "core/files/bench_file.h"

namespace conelab {

/// The results of one case.
struct CaseResult {
  Case labels;
  CaseStatus status = CaseStatus::ok;
  std::string reason;  ///< Empty if the status is ok.
  CaseFacts facts;
  std::vector<Sample> samples;  ///< [round] Times are NaN if there is no sample.
};

struct BenchResult {
  Sweep sweep;
  std::vector<CaseResult> cases;  ///< In the order of Sweep::cases.
  /// The A/A control: a second series of some cases, with the same labels.
  std::vector<CaseResult> controls;
  std::vector<double> load, clock, temperature;  ///< [round] NaN if unknown.
  std::vector<std::string> peers;                ///< Names and versions of the other programs.
  std::vector<std::string> devices;              ///< A description of each device except the CPU.
};

/// Returns the file in its documented format: the groups bench/runtime (times, memory, errors,
/// status), bench/fit and bench/local_fit (scaling exponents), bench/control (A/A) and
/// bench/environment. In bench/runtime, `time_samples` [case, round] are the numbers Sample::warm,
/// and `time` [case] is their median over the rounds with its interval `time_low` to `time_high`
/// (`median_interval`), NaN unless the case's status is ok; `time_cold` and `time_cold_samples` are
/// the same of Sample::cold.
[[nodiscard]] LabelledFile bench_file(const BenchResult& result);

/// Returns notes for the reader on how reliable the machine was (see
/// core/statistics/order.h).
[[nodiscard]] std::vector<std::string> machine_notes(const BenchResult& result);

}  // namespace conelab
