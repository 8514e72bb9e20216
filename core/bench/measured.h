// The cases of a result file of `bench` as plain structs, which summaries and comparisons read.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/bench/axes.h"
#include "core/bench/executor.h"
#include "core/files/bench_file.h"
#include "core/statistics/interval.h"

namespace conelab {

struct MeasuredCase {
  Case labels;
  CaseStatus status = CaseStatus::ok;
  std::string reason;
  double time = 0, time_low = 0, time_high = 0;  ///< Seconds; NaN if the status is not ok.
  std::vector<double> samples;                   ///< [round] Seconds; NaN if missing.
  double time_cold = 0;                          ///< Seconds; NaN if not measured.
  std::vector<double>
      peak_samples;  ///< [round] Peak FLOP/s, measured next to each sample; may be empty.
  double flops = 0, bytes = 0;  ///< Of one run.
  double peak_flops = 0;        ///< Multiply-add peak of the machine in FLOP/s.
  /// Bandwidth of the memory in bytes/s; NaN if the file does not contain it.
  double bandwidth = 0;
  double peak_bytes = 0, extra_bytes = 0;
  double error = 0;       ///< NaN if not determined.
  double evaluation = 0;  ///< An Evaluation; NaN in files that do not contain it.
};

/// Returns the arithmetic intensity: operations over compulsory bytes, with inputs read and outputs
/// written once. What is read again because no cache held it is not counted; a kernel may be below
/// the roof for that reason. NaN if either is unknown.
[[nodiscard]] double intensity(const MeasuredCase& c);

/// Returns operations per second over the machine's measured multiply-add peak; NaN if either is
/// unknown. A value above 1 means that the peak was measured while something else used the machine.
[[nodiscard]] double peak_share(const MeasuredCase& c);
/// Returns whether peak_share is above 1.
[[nodiscard]] bool peak_disturbed(const MeasuredCase& c);

/// A number that tables of a report show of each case.
struct CaseMeasure {
  const char* name;
  Interval (*of)(const MeasuredCase& c);  ///< Bounds are NaN where they are not measured.
};
[[nodiscard]] std::span<const CaseMeasure> case_measures();
/// The name of the measure that each line has: its exponent.
inline constexpr const char* exponent_measure = "exponent";

/// Returns the cases in the order of the file. `name` is the file's name for messages. Throws a
/// failure `FILE: what is wrong` if the file contains no benchmark, or lacks a variable that its
/// format requires. Variables that only this program writes may be missing (NaN).
[[nodiscard]] std::vector<MeasuredCase> measured_cases(const LabelledFile& file,
                                                       const std::string& name);

/// Returns the different labels of the cases on an axis ("operator", "dim"), in their order. Throws
/// misuse for an unknown name.
[[nodiscard]] Labels label_values(const std::vector<MeasuredCase>& cases, std::string_view axis);

/// Returns the smallest coverage of the intervals of the cases' times: `usual_level`, or less if
/// there are too few rounds for that. Cases without a time do not count.
[[nodiscard]] double time_coverage(const std::vector<MeasuredCase>& cases);

/// Returns a coverage as text, at most "95 %".
[[nodiscard]] std::string coverage_text(double coverage);

/// The scaling exponent of one line: all lengths, with the other labels fixed.
struct MeasuredExponent {
  Case labels;  ///< The label of the length is 0.
  double value = 0, low = 0, high = 0;
  std::string why_not;        ///< Why it is not resolved (the values are NaN); empty if it is.
  std::vector<double> local;  ///< [length] Exponent of the octave that ends there; NaN if missing.
};

/// Returns the exponents of /bench/fit, in the order of the file; none if the file has no such
/// group.
[[nodiscard]] std::vector<MeasuredExponent> measured_exponents(const LabelledFile& file,
                                                               const std::string& name);

/// The result of the A/A control: how often cases that were measured twice had different results.
struct MeasuredControl {
  int comparisons = 0;
  double rate = 0, rate_low = 0, rate_high = 1;  ///< NaN without comparisons.
  int rounds = 0;                                ///< Rounds that measured every copy.
};

/// Returns /bench/control. If the file has no such group, there are 0 comparisons.
[[nodiscard]] MeasuredControl measured_control(const LabelledFile& file);

/// Returns what the run noted on how reliable its machine was.
[[nodiscard]] std::vector<std::string> stored_notes(const LabelledFile& file);

}  // namespace conelab
