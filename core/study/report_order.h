// The entries of `order` in a study's table [report]: what its report shows, from top to bottom.
//
//   "text: The paper prints .52; we measure {map-penumbral-2}."
//   "fig1"                                             the figures of the block fig1
//   "table: points by similarity, dim: map, mean_rank"
//   "recommend: points by similarity, dim: map within .05 | dim | time"
//   "compare: points over similarity by dim: map"     pairs of jobs that differ in the key alone
//   "claim: Table 2: cones need half of the dimensions | {map-umbral-2} >= {map-dot-4} | WHY"
//
// A recommendation is a sentence on such a table: the row with the least `dim` whose map is shown
// to lie within .05 of the best, and its `time` from another table, which may be left out. With
// "lowest mean_rank within 1" smaller numbers are better. {NAME} is a number of a table, by the
// name of its LaTeX macro. A claim's relation has numbers and {NAME}s with * and / on each side of
// one of < <= = >= >.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "core/job/job_field.h"

namespace conelab {

struct TextEntry {
  std::string text;
};

struct FigureEntry {
  std::string block;
};

/// A row for each combination of the keys' values, and a column for each measure: the mean over all
/// jobs of the block that have these values.
struct TableEntry {
  std::string block;
  std::vector<std::string> keys;  ///< Empty: one row.
  std::vector<std::string> measures;
  /// Of a comparison: the last of the keys, whose further values are compared with the first one
  /// over pairs of jobs that agree in all other keys. Empty: a table of means.
  std::string over = {};
};

/// A sentence on the rows of a table of the report: which of them to take.
struct RecommendEntry {
  TableEntry table;     ///< With one measure. The report has a table with these keys and it.
  bool lowest = false;  ///< Whether smaller numbers are better.
  double margin = 0;    ///< How far below the best a number may lie.
  std::string fewest;   ///< The key whose value should be small.
  std::string cost;     ///< The measure of another table that is named as well; may be empty.
};

/// One row of a table of claims; entries that follow each other share a table.
struct ClaimEntry {
  std::string says;      ///< What is claimed, and where.
  std::string relation;  ///< What it says of the measured numbers: "{A} / {B} <= 1.2".
  std::string why;       ///< What explains the outcome; may be empty.
};

using ReportEntry = std::variant<TextEntry, FigureEntry, TableEntry, ClaimEntry, RecommendEntry>;

/// A block of a study, [[kind]] with its name.
struct ReportBlock {
  std::string name, kind;
  std::vector<Json> sweeps = {};            ///< [job] The swept keys with their values.
  std::vector<std::string> measures = {};   ///< Those that it may have; empty: any.
  std::vector<std::string> case_keys = {};  ///< JobKind::case_keys of all of its jobs.
};

/// Returns the first table with the keys and the measure of a recommendation; null if there is
/// none.
[[nodiscard]] const TableEntry* table_of(const RecommendEntry& entry,
                                         const std::vector<TableEntry>& tables);

/// Parses one entry. Throws misuse for an entry or a relation of another form, for a block that is
/// not among `blocks`, with the nearest one, and for a key or a measure of a table that its block
/// does not have. An entry without a colon names a figure.
[[nodiscard]] ReportEntry parse_report_entry(const std::string& text,
                                             const std::vector<ReportBlock>& blocks);

/// The names of numbers that the tables of a report will have. Those of benchmarks are known by
/// their beginning alone, the measure, because their cases are not.
class ReportNumbers {
 public:
  /// Adds the numbers of a table; nothing for other entries.
  void add(const ReportEntry& entry, const std::vector<ReportBlock>& blocks);
  /// Adds those of an entry that is wrong, as far as they are known: by their beginning.
  void add_unknown(const std::string& entry);
  /// Throws misuse, with the nearest one, for a {NAME} of a text or claim that no table has, and
  /// for a recommendation on a table that the report does not have.
  void check(const ReportEntry& entry) const;

 private:
  std::vector<std::string> names_, beginnings_;
  std::vector<TableEntry> tables_;
};

/// Returns the measures that the columns of a table show. Those of a comparison are the difference
/// of its measure, and the p value of that.
[[nodiscard]] std::vector<std::string> shown_measures(const TableEntry& table);

/// Returns the name of a number: the measure and the values of the table's keys, joined by `-`.
/// Characters but letters, digits and `_.+-` become `-`.
[[nodiscard]] std::string number_name(const std::string& measure,
                                      const std::vector<std::string>& values);
/// Returns the text with every character but letters, digits and `_.+-` as `-`.
[[nodiscard]] std::string plain_name(const std::string& text);
/// Returns a swept value as reports print it: words without quotes, anything else as JSON.
[[nodiscard]] std::string value_text(const Json& value);

}  // namespace conelab
