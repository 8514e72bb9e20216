// Tables of a report: the numbers of a block by the values of some keys.
//
// A cell is the mean over the records that agree on the table's keys, over seeds for instance, with
// Student's 95 % interval; that of a single case of a benchmark is its median with its own
// interval.
#pragma once

#include <string>
#include <vector>

#include "core/report/records.h"
#include "core/statistics/interval.h"

namespace conelab {

// A number as a report prints it: as many digits as its interval justifies.
//
// Half of the interval's width has two digits if its first three are below 355, else one (the rule
// of the Particle Data Group, Phys. Rev. D 110, 030001 (2024), section 5.3), and the value ends at
// the same decimal: 0.93123 with the interval ± 0.0042 is 0.931 ± 0.004. A number without an
// interval has four digits; whole numbers below 10⁷ are exact. Very small and large numbers have a
// power of 1000.

struct NumberText {
  std::string value = {};   ///< "0.931"; "–" if there is no number.
  std::string spread = {};  ///< "0.004" for an interval that is symmetric as printed; else empty.
  std::string low = {}, high = {};  ///< The bounds of one that is not symmetric; else empty.
  int exponent = 0;                 ///< All of these are multiplied by 10 to this power.
};

/// Rounds the value of an interval, whose bounds are NaN if there is none.
[[nodiscard]] NumberText number_text(const Interval& number);

/// Returns it in UTF-8: "0.931 ± 0.004", "(1.24 ± 0.03) · 10⁻³", "1.24 [1.20, 1.31]".
[[nodiscard]] std::string plain_number(const NumberText& number);
/// Returns it in LaTeX's mathematics: "0.931 \pm 0.004".
[[nodiscard]] std::string latex_number(const NumberText& number);

/// A record that a number comes from.
struct Origin {
  std::size_t study = 0, job = 0;
  TextPairs keys;  ///< Its keys that the table does not name.
  double value = 0;
};

/// A number of the report, with everything that it comes from.
struct Number {
  std::string name;  ///< What texts and LaTeX call it: "map-penumbral-2". Unique in the report.
  std::string measure;
  Interval interval;
  NumberText text;
  std::vector<Origin> origins;
  std::size_t missing = 0;  ///< How many of them have no finite value, and do not count.
};

struct TableRow {
  std::vector<std::string> values;   ///< [keys]
  std::vector<std::size_t> numbers;  ///< [measures × studies] Indices into the report's numbers.
};

struct Table {
  TableEntry entry;
  std::vector<TableRow> rows;
  std::string note;  ///< What the numbers are the mean over; empty if there is nothing to say.
};

/// Makes the table of an entry, and appends its numbers, whose name is that of `number_name`; from
/// the second study on, the study's label follows it. If the name is taken, the block goes before
/// it.
///
/// Throws misuse for a key or a measure that no record has, and if a key of a benchmark's cases
/// with several values is missing from the entry, because a mean over lengths or operators means
/// nothing.
[[nodiscard]] Table make_table(const TableEntry& entry, const std::vector<ReportStudy>& studies,
                               const JobContext& context, std::vector<Number>& numbers);

/// Returns the name of a measure for the head of a column, with its unit: "time [s]".
[[nodiscard]] std::string measure_title(const std::string& measure);

}  // namespace conelab
