// A benchmark's result as the view shows it: of a file, or of a sweep that still runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/bench/measured.h"
#include "core/bench/summary.h"

namespace conelab::desktop {

struct BenchData {
  std::string name;                         ///< The file.
  std::vector<MeasuredCase> cases;          ///< Row-major, the lengths innermost.
  Labels lengths;                           ///< Of every line, ascending.
  std::vector<MeasuredExponent> exponents;  ///< One a line, or none.
  std::vector<std::string> sweep;           ///< "lengths=256,512", …; empty where not told.
  std::vector<std::string> notes;           ///< A/A control and machine, one line each.
};

/// Fails as `measured_cases` does.
[[nodiscard]] std::shared_ptr<const BenchData> bench_data(const LabelledFile& file,
                                                          const std::string& name);

/// The twin of the curves: all cases with their numbers as digits, in SI units without prefixes, to
/// be read and pasted elsewhere.
[[nodiscard]] TextTable numbers_table(const BenchData& data);

/// Fitted exponents, and the local ones by length.
[[nodiscard]] TextTable exponents_table(const BenchData& data);

/// A comparison's table with the verdicts right after the names, where a narrow view shows them.
[[nodiscard]] TextTable verdicts_first(TextTable comparison);

/// The exponent over the octave that ends at the case; NaN where there is none.
[[nodiscard]] double local_exponent(const BenchData& data, const Case& labels);

/// All that is known of a case in one line: time with interval, rate, memory, error.
[[nodiscard]] std::string case_text(const BenchData& data, const MeasuredCase& c);

}  // namespace conelab::desktop
