// Compares benchmarks case by case. The verdicts are faster, slower, same and undecided.
#pragma once

#include <string>
#include <vector>

#include "core/bench/measured.h"
#include "core/files/sandbox.h"
#include "core/statistics/ratio.h"

namespace conelab {

/// One case of both files, or of two operators in one file.
struct CaseComparison {
  Case labels;  ///< The labels of the second case.
  /// Time of the second over that of the first; undecided if either has no time.
  RatioResult result;
  /// Ratio of the machine's multiply-add peaks during the cases, second over first; NaN if unknown.
  double peak_ratio = 0;
  /// Ratio of the memory bandwidths, likewise. The verdict does not use it.
  double bandwidth_ratio = 0;
  std::string note;  ///< A remark, such as why the verdict is undecided; empty: none.
};

struct BenchComparison {
  std::vector<CaseComparison> cases;  ///< Those that both files contain, in the order of the first.
  std::vector<Case> only_first, only_second;
  MeasuredControl first_control, second_control;
  /// Files whose bytes have changed since they were written.
  std::vector<std::string> changed;
  std::vector<std::string> differences;  ///< Differences of the environments: "cpu: A, then B".
  std::vector<std::string> notes;        ///< What each run noted on its machine: "FILE: note".
};

/// Compares two files. Their runs are not paired, so that a drift of the machine between them looks
/// like a difference. If the machine's own peak changed by more than `margin`, or is unknown, the
/// case is undecided and its note says why. Files may be damaged and are read in a child process.
/// Throws a failure if a file is not a result of `bench`, or if the batches differ; stops if
/// `limits.cancelled` returns true.
[[nodiscard]] BenchComparison compare_bench(const std::string& first, const std::string& second,
                                            double margin = 0.02, const SandboxLimits& limits = {});

/// Returns, for two results without a common case, the labels of each axis on which they have none
/// in common: "1 thread against 2 threads". Returns nothing if every axis has a common label.
[[nodiscard]] std::vector<std::string> differing_labels(const BenchComparison& comparison);

/// Compares every case with that of the operator `base` with otherwise equal labels, round by
/// round, in one file, so that a drift of the machine cancels. Throws misuse if the file has no
/// such operator.
[[nodiscard]] std::vector<CaseComparison> compare_operators(const std::vector<MeasuredCase>& cases,
                                                            const std::string& base,
                                                            double margin = 0.02);

/// Returns the smallest coverage of the intervals of the ratios, at most `usual_level`.
[[nodiscard]] double ratio_coverage(const std::vector<CaseComparison>& cases);

}  // namespace conelab
