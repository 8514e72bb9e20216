// The entries of `order` in a study's table [report]: what its report shows, from top to bottom.
//
//   "text: The paper prints .52; we measure {map-penumbral-2}."
//   "fig1"                                             the figures of the block fig1
//   "table: points by similarity, dim: map, mean_rank"
//   "claim: Table 2: cones need half of the dimensions | {map-umbral-2} >= {map-dot-4} | WHY"
//
// {NAME} is a number of a table, by the name of its LaTeX macro. A claim's relation has numbers and
// {NAME}s with * and / on each side of one of < <= = >= >.
#pragma once

#include <string>
#include <variant>
#include <vector>

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
};

/// One row of a table of claims; entries that follow each other share a table.
struct ClaimEntry {
  std::string says;      ///< What is claimed, and where.
  std::string relation;  ///< What it says of the measured numbers: "{A} / {B} <= 1.2".
  std::string why;       ///< What explains the outcome; may be empty.
};

using ReportEntry = std::variant<TextEntry, FigureEntry, TableEntry, ClaimEntry>;

/// A block of a study, [[kind]] with its name.
struct ReportBlock {
  std::string name, kind;
};

/// Parses one entry. Throws misuse for an entry of another form, and for a block that is not among
/// `blocks`, with the nearest one. An entry without a colon names a figure.
[[nodiscard]] ReportEntry parse_report_entry(const std::string& text,
                                             const std::vector<ReportBlock>& blocks);

}  // namespace conelab
