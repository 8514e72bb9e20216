// The benchmark runner: interleaved rounds, sealed samples, one result file.
//
// In each round every case runs once, in an order in which over the rounds each case stands in each
// position equally often. Every sample is sealed at once as a small file of its own beside the
// result (OUT.parts/), written as temp -> fsync -> rename: a kill at any moment loses at most the
// sample under way, and --resume goes on from there. The result is merged from the sealed samples.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/environment.h"
#include "core/bench/executor.h"
#include "core/bench/sweep.h"
#include "core/files/bench_file.h"

namespace conelab {

/// What became of a case; the numbers of /bench/runtime/status.
enum class CaseStatus { ok = 0, skipped = 1, crashed = 2, timed_out = 3, failed = 4 };

struct BenchOptions {
  std::string output;  ///< OUT.h5
  bool resume = false;
  std::vector<std::string> worker;  ///< Argument vector that starts a worker.
  std::function<bool()> cancelled;  ///< True: seal what is finished and throw interrupted.
  /// Samples done, of how many, and what runs now.
  std::function<void(int done, int total, const std::string& what)> progress;
};

/// All that is known of one case.
struct CaseResult {
  Case labels;
  CaseStatus status = CaseStatus::ok;
  std::string reason;
  CaseFacts facts;
  std::vector<Sample> samples;  ///< By round; missing rounds are absent only on failure.
};

struct BenchResult {
  Sweep sweep;
  std::vector<CaseResult> cases;     ///< In the order of Sweep::cases.
  std::vector<CaseResult> controls;  ///< A/A: a second series of some cases, same labels.
  std::vector<double> load, clock, temperature;  ///< By round; NaN where unknown.
};

/// Runs (or resumes) the sweep and writes the result file. Throws misuse where an unfinished run of
/// another sweep, or without `resume` any unfinished run, lies beside the output; interrupted where
/// cancelled (what is sealed stays).
BenchResult run_bench(const Sweep& sweep, const BenchOptions& options);

/// The result as the contract's file.
[[nodiscard]] LabelledFile bench_file(const BenchResult& result);

}  // namespace conelab
