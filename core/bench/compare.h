// Verdicts between benchmarks: faster, slower, same, undecided, case by case.
#pragma once

#include <string>
#include <vector>

#include "core/bench/measured.h"
#include "core/files/sandbox.h"
#include "core/statistics/ratio.h"

namespace conelab {

/// One case of both files, or of two operators in one file.
struct CaseComparison {
  Case labels;         ///< Of the second.
  RatioResult result;  ///< Time of the second over the first; undecided where either has no time.
  /// Multiply-add peak of the machine, second over first, while the cases ran; NaN where unknown.
  double peak_ratio = 0;
  /// The same of its memory's bandwidth; it decides nothing.
  double bandwidth_ratio = 0;
  std::string note;  ///< What to know before believing the verdict; empty: nothing.
};

struct BenchComparison {
  std::vector<CaseComparison> cases;  ///< Those that both files have, in the first one's order.
  std::vector<Case> only_first, only_second;
  MeasuredControl first_control, second_control;
  std::vector<std::string> changed;      ///< Files whose bytes are not those that were written.
  std::vector<std::string> differences;  ///< Of the environments: "cpu: A, then B".
};

/// Runs are not paired: drift of the machine between them looks like a difference. Where the
/// machine's own peak moved by more than `margin`, or is unknown, the case is undecided and its
/// note says why. Files are read in a child process (they may be damaged). Fails where a file is no
/// result of `bench`, or where their batches differ; stops where `limits.cancelled` says so.
[[nodiscard]] BenchComparison compare_bench(const std::string& first, const std::string& second,
                                            double margin = 0.02, const SandboxLimits& limits = {});

/// Of two results without a common case: the labels of each axis on which they have none in common,
/// "1 thread against 2 threads". Empty where they do, and differ in how labels are combined.
[[nodiscard]] std::vector<std::string> differing_labels(const BenchComparison& comparison);

/// Every case against that of the operator `base` with otherwise equal labels, round by round, from
/// one file: machine drift cancels. Throws misuse where the file has no such operator.
[[nodiscard]] std::vector<CaseComparison> compare_operators(const std::vector<MeasuredCase>& cases,
                                                            const std::string& base,
                                                            double margin = 0.02);

/// What the intervals of the ratios cover, the least of them, and at most `usual_level`.
[[nodiscard]] double ratio_coverage(const std::vector<CaseComparison>& cases);

}  // namespace conelab
