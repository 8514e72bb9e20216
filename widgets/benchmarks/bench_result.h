// The result of a benchmark as the view shows it, from a file or from a running sweep.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/bench/measured.h"
#include "core/bench/summary.h"

namespace conelab::desktop {

struct BenchData {
  std::string name;                         ///< The file.
  std::vector<MeasuredCase> cases;          ///< Row-major; the lengths are the innermost axis.
  Labels lengths;                           ///< The lengths of every line, ascending.
  std::vector<MeasuredExponent> exponents;  ///< One per line, or none.
  std::vector<std::string> sweep;           ///< "lengths=256,512", …; empty if unknown.
  std::vector<std::string> notes;           ///< A/A control and machine, one line each.
};

/// Reads a result. Throws like `measured_cases`.
[[nodiscard]] std::shared_ptr<const BenchData> bench_data(const LabelledFile& file,
                                                          const std::string& name);

/// Returns all cases as a table without empty columns: for reading, times such as "578 µs"; or
/// `exported`, as numbers of six digits in SI units without prefixes, which other programs read.
[[nodiscard]] TextTable numbers_table(const BenchData& data, bool exported = false);

/// Returns the fitted exponents, and the local ones by length: for reading, with three decimals; or
/// `exported`, with six digits.
[[nodiscard]] TextTable exponents_table(const BenchData& data, bool exported = false);

/// Returns the table of a comparison with the verdicts next to the names, where a narrow view shows
/// them.
[[nodiscard]] TextTable verdicts_first(TextTable comparison);

/// Returns the exponent over the octave that ends at the case; NaN if there is none.
[[nodiscard]] double local_exponent(const BenchData& data, const Case& labels);

/// Returns everything known about a case in one line: time with interval, rate, memory, error.
[[nodiscard]] std::string case_text(const BenchData& data, const MeasuredCase& c);

}  // namespace conelab::desktop
