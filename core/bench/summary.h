// Turns a benchmark's result into tables for terminals and reports.
#pragma once

#include <string>
#include <vector>

#include "core/bench/compare.h"
#include "core/bench/measured.h"

namespace conelab {

/// A table of text: `header` [columns], `rows` [rows][columns].
struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// Returns one row for each case: its labels (operator, pass, n, and those axes that have several
/// values), the median time with its interval, the time with cold caches, the share of the measured
/// multiply-add peak (in brackets above 100 %, see peak_disturbed), memory beyond inputs and
/// outputs, and the error. A case without a time has its status and reason instead.
[[nodiscard]] TextTable summary_table(const std::vector<MeasuredCase>& cases);

/// Returns one row for each scaling line: its labels, and the exponent with its interval or why it
/// is not resolved.
[[nodiscard]] TextTable exponent_table(const std::vector<MeasuredExponent>& exponents);

/// Returns the same as lines of text; a single line with the reasons if no exponent is resolved.
[[nodiscard]] std::vector<std::string> exponent_lines(
    const std::vector<MeasuredExponent>& exponents);

/// Returns how often cases that were measured twice had different results, which shows how reliable
/// a verdict is.
[[nodiscard]] std::string control_note(const MeasuredControl& control);

/// Returns one row for each comparison: its labels, the ratio with its interval, the verdict and
/// the note.
[[nodiscard]] TextTable comparison_table(const std::vector<CaseComparison>& cases);

/// Returns further lines for below the tables: the A/A control, the memory's bandwidth, notes on
/// the machine.
[[nodiscard]] std::vector<std::string> summary_notes(const LabelledFile& file);

/// Returns the rows as aligned lines, the first column to the left and the others to the right,
/// with two spaces between columns.
[[nodiscard]] std::vector<std::string> table_lines(const TextTable& table);

/// Returns a time with three digits: "1.24 ms", "578 µs"; "-" for NaN.
[[nodiscard]] std::string time_text(double seconds);
/// Returns a size with three digits: "1.24 MB"; "-" for NaN.
[[nodiscard]] std::string bytes_text(double bytes);

}  // namespace conelab
