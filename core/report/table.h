// Tables of a report: the numbers of a block by the values of some keys.
//
// A cell is the mean over the records that agree on the table's keys, over seeds for instance, with
// Student's 95 % interval; that of a single case of a benchmark is its median with its own
// interval.
#pragma once

#include <string>
#include <vector>

#include "core/report/number_text.h"
#include "core/report/records.h"

namespace conelab {

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

/// Makes the table of an entry, and appends its numbers. The name of a number is its measure, then
/// the values of the table's keys and, from the second study on, the study's label; characters but
/// letters, digits and `_.+-` become `-`. If the name is taken, the block goes before it.
///
/// Throws misuse for a key or a measure that no record has, and if a key of a benchmark's cases
/// with several values is missing from the entry, because a mean over lengths or operators means
/// nothing.
[[nodiscard]] Table make_table(const TableEntry& entry, const std::vector<ReportStudy>& studies,
                               const JobContext& context, std::vector<Number>& numbers);

/// Returns the text with every character but letters, digits and `_.+-` as `-`.
[[nodiscard]] std::string plain_name(const std::string& text);

}  // namespace conelab
