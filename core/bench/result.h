// The result of a benchmark, and its file.
#pragma once

#include <string>
#include <vector>

#include "core/bench/executor.h"
#include "core/bench/sweep.h"
#include "core/files/bench_file.h"

namespace conelab {

/// All that is known of one case.
struct CaseResult {
  Case labels;
  CaseStatus status = CaseStatus::ok;
  std::string reason;  ///< Where the status is not ok.
  CaseFacts facts;
  std::vector<Sample> samples;  ///< [round]; NaN times where there is none.
};

struct BenchResult {
  Sweep sweep;
  std::vector<CaseResult> cases;     ///< In the order of Sweep::cases.
  std::vector<CaseResult> controls;  ///< A/A: a second series of some cases, with the same labels.
  std::vector<double> load, clock, temperature;  ///< [round]; NaN where unknown.
  std::vector<std::string> peers;                ///< Names and versions of other programs.
  std::vector<std::string> devices;              ///< Describes each device except the CPU.
};

/// The contract's file: groups bench/runtime (times, memory, errors, status), bench/fit and
/// bench/local_fit (scaling exponents), bench/control (A/A) and bench/environment.
[[nodiscard]] LabelledFile bench_file(const BenchResult& result);

/// The sweep as its attribute in the file: "lengths=256,512", ...
[[nodiscard]] std::vector<std::string> sweep_lines(const Sweep& sweep);

/// Notes for people on how far the machine can be trusted (see core/statistics/machine_notes.h).
[[nodiscard]] std::vector<std::string> machine_notes(const BenchResult& result);

}  // namespace conelab
