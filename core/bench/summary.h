// A benchmark's result as lines of a table, for terminals and reports.
#pragma once

#include <string>
#include <vector>

#include "core/bench/compare.h"
#include "core/bench/measured.h"

namespace conelab {

/// A table of texts: `header` [columns], `rows` [rows][columns].
struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// One row per case: its labels (those axes only that have several values, and always operator,
/// pass and n), median time with its interval, time with cold caches, share of the measured
/// multiply-add peak (in brackets above 100 %, see peak_disturbed), memory beyond inputs and
/// outputs, error; where there is no time, the status and reason.
[[nodiscard]] TextTable summary_table(const std::vector<MeasuredCase>& cases);

/// One row per scaling line: its labels, the exponent with its interval, or why it is not resolved.
[[nodiscard]] TextTable exponent_table(const std::vector<MeasuredExponent>& exponents);

/// The same as lines; one line, with the reasons, where none of them is resolved.
[[nodiscard]] std::vector<std::string> exponent_lines(
    const std::vector<MeasuredExponent>& exponents);

/// How often cases that were measured twice came out different: what a verdict is worth.
[[nodiscard]] std::string control_note(const MeasuredControl& control);

/// One row per comparison: its labels, the ratio with its interval, verdict and note.
[[nodiscard]] TextTable comparison_table(const std::vector<CaseComparison>& cases);

/// What else to say below the tables, one line each: the A/A control, the memory's
/// bandwidth, notes on the machine.
[[nodiscard]] std::vector<std::string> summary_notes(const LabelledFile& file);

/// The columns aligned (first left, others right), one line a row, two spaces between.
[[nodiscard]] std::vector<std::string> table_lines(const TextTable& table);

/// "1.24 ms", "578 µs"; three digits. "-" for NaN.
[[nodiscard]] std::string time_text(double seconds);
/// "1.24 MB"; three digits. "-" for NaN.
[[nodiscard]] std::string bytes_text(double bytes);

}  // namespace conelab
