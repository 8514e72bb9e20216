// The cases of a result file of `bench`, as plain structs: what summaries and comparisons read.
#pragma once

#include <string>
#include <vector>

#include "core/bench/axes.h"
#include "core/bench/executor.h"
#include "core/files/bench_file.h"

namespace conelab {

struct MeasuredCase {
  Case labels;
  CaseStatus status = CaseStatus::ok;
  std::string reason;
  double time = 0, time_low = 0, time_high = 0;  ///< Seconds, NaN where the status is not ok.
  std::vector<double> samples;                   ///< [round] seconds, NaN where missing.
  double time_cold = 0;                          ///< NaN where not measured.
  std::vector<double>
      peak_samples;             ///< [round] FLOP/s of the machine beside each sample; or empty.
  double flops = 0, bytes = 0;  ///< Of a run.
  double peak_flops = 0;        ///< FLOP/s of the machine.
  double bandwidth = 0;         ///< Bytes/s of its memory; NaN in files that do not know it.
  double peak_bytes = 0, extra_bytes = 0;
  double error = 0;  ///< NaN where not determined.
};

/// Arithmetic intensity: operations over compulsory bytes, the inputs read and the outputs written
/// once each. What is read again, because no cache held it, is not counted: a kernel that does may
/// stay below the roof for that. NaN where either is unknown.
[[nodiscard]] double intensity(const MeasuredCase& c);

/// Operations per second over the machine's measured multiply-add peak; NaN where either is
/// unknown. Above 1 the peak is not to be trusted: it was measured while something else held the
/// machine.
[[nodiscard]] double peak_share(const MeasuredCase& c);
/// Whether that is so.
[[nodiscard]] bool peak_disturbed(const MeasuredCase& c);

/// In the order of the file. Fails with `FILE: what is wrong` where the file holds no benchmark, or
/// lacks a variable that the contract asks for; what only this program writes may be missing (NaN).
[[nodiscard]] std::vector<MeasuredCase> measured_cases(const LabelledFile& file,
                                                       const std::string& name);

/// The different labels of the cases on an axis ("operator", "dim"), in their order. Throws misuse
/// where no axis has this name.
[[nodiscard]] Labels label_values(const std::vector<MeasuredCase>& cases, std::string_view axis);

/// What the intervals of the cases' times cover, the least of them: `usual_level`, less where the
/// rounds are too few for that. Cases without a time count for nothing.
[[nodiscard]] double time_coverage(const std::vector<MeasuredCase>& cases);

/// "95 %", or of what covers less, so much: "50 %".
[[nodiscard]] std::string coverage_text(double coverage);

/// The scaling exponent of one line: all lengths at fixed other labels.
struct MeasuredExponent {
  Case labels;  ///< The length is 0.
  double value = 0, low = 0, high = 0;
  std::string why_not;        ///< Where it is not resolved (and NaN).
  std::vector<double> local;  ///< [length] over the octave that ends there; NaN where missing.
};

/// Those of /bench/fit, in the order of the file; empty where the file has none.
[[nodiscard]] std::vector<MeasuredExponent> measured_exponents(const LabelledFile& file,
                                                               const std::string& name);

/// The A/A control: how often cases that were measured twice came out different.
struct MeasuredControl {
  int comparisons = 0;
  double rate = 0, rate_low = 0, rate_high = 1;  ///< NaN without comparisons.
  int rounds = 0;                                ///< Of the run; 0 where the file has none.
};

/// Of /bench/control; none where the file has no such group.
[[nodiscard]] MeasuredControl measured_control(const LabelledFile& file);

}  // namespace conelab
