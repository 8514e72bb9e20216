// A report over one or several studies that `conelab run` has computed: the sections that the first
// study's [report] orders, with every number and figure and what each was made from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/bench/summary.h"
#include "core/report/table.h"
#include "core/statistics/claim.h"

namespace conelab {

/// A part of a text: characters, or a number of the report.
struct TextPiece {
  std::string text;
  std::optional<std::size_t> number = {};  ///< Its index; absent: the text.
};
using TextPieces = std::vector<TextPiece>;

struct TextSection {
  std::vector<TextPieces> paragraphs;
};

/// A figure that a study drew.
struct ReportFigure {
  std::size_t study = 0, job = 0;
  std::string name;  ///< The stem of its files in the folder `figures`.
  std::string data;  ///< The digests of what it was drawn from, separated by blanks; may be empty.
  /// The description in its file, where it has one that is not in the drawing; else the job's name.
  std::string caption;
};
struct FigureSection {
  std::string block;
  std::vector<ReportFigure> figures;  ///< The figures of all studies, each study's side by side.
};

/// The verdicts of `compare` on a benchmark of the first study and its twin in another.
struct BenchVerdicts {
  std::size_t study = 0;  ///< The other one.
  std::string job;        ///< The name of both.
  TextTable cases;
  std::vector<std::string> notes;
};
struct TableSection {
  Table table;
  std::vector<BenchVerdicts> verdicts;
};

struct ClaimRow {
  TextPieces says, relation, why;
  ClaimResult result;
};
struct ClaimSection {
  std::vector<ClaimRow> rows;
};

using ReportSection = std::variant<TextSection, FigureSection, TableSection, ClaimSection>;

struct Report {
  std::vector<ReportStudy> studies;
  std::vector<std::string> folders;  ///< [studies] Their paths as seen from the report's folder.
  std::vector<std::string> changes;  ///< One line for each result that is not the index's.
  std::vector<Number> numbers;
  std::vector<ReportSection> sections;
};

/// Reads the studies and makes the report that the first one's `order` asks for; without an order,
/// all of its figures. `output` is the folder that the report is for, which need not exist;
/// `labels` are those of read_report_studies.
///
/// Remarks on failed jobs and on results that have changed, which the page names too. Throws misuse
/// for an entry of the order that is wrong, and a failure if an index, a result or a figure cannot
/// be read.
[[nodiscard]] Report make_report(const std::vector<std::string>& folders, const std::string& output,
                                 const JobContext& context,
                                 const std::vector<std::string>& labels = {});

/// Returns the files of a report by their paths in its folder: index.html, report.tex, numbers.tex,
/// report.json, which `check_report` reads, and the figures. Equal input gives equal bytes.
[[nodiscard]] std::map<std::string, std::string> report_files(const Report& report);

/// Writes the files of the report, each whole or not at all, report.json last, and removes figures
/// of an earlier report in the folder that this one does not have. Throws misuse if the folder
/// holds anything but a report.
void write_report(const Report& report, const std::string& output);

// Each makes one file of a report.
[[nodiscard]] std::string report_html(const Report& report);
[[nodiscard]] std::string report_latex(const Report& report);
[[nodiscard]] std::string numbers_latex(const Report& report);

// Text of any kind as LaTeX that compiles with latex-base alone.

/// Returns the text with LaTeX's special characters escaped. Latin letters with accents stay, Greek
/// letters and common signs become mathematics, and any other character its code point: U+4E2D.
[[nodiscard]] std::string latex_text(const std::string& text);

/// Does the same for a command, a path or a digest, which may be broken at any of their marks, and
/// after 16 letters or digits.
[[nodiscard]] std::string latex_code(const std::string& text);

// report.json: what a report was made from, and the digests of its files, as `conelab report
// --check` reads it.

inline constexpr int report_format = 1;
inline constexpr const char* report_record_name = "report.json";

struct ReportRecord {
  struct Study {
    std::string folder;                          ///< As seen from the report's folder.
    std::string label;                           ///< ReportStudy::label
    std::map<std::string, std::string> digests;  ///< Of the finished jobs, by name.
  };
  std::vector<Study> studies;
  std::map<std::string, std::string> numbers;  ///< Their texts by name: "0.931 ± 0.004".
  std::map<std::string, std::string> files;    ///< The SHA-256 of the other files, by path.
};

/// Reads OUTPUT/report.json. Throws a failure `OUTPUT/report.json: why` if it is missing or is not
/// the record of a report.
[[nodiscard]] ReportRecord read_report_record(const std::string& output);

}  // namespace conelab
