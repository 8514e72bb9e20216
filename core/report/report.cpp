#include "core/report/report.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/bench/compare.h"
#include "core/drawing/text.h"
#include "core/files/byte_file.h"
#include "core/report/recommend.h"

namespace conelab {
namespace {

namespace fs = std::filesystem;

/// Returns what stands in an SVG file between the first `mark` and `end`, without escapes.
std::string text_in_svg(const std::string& svg, const std::string& mark, const char* end) {
  const std::size_t begin = svg.find(mark);
  if (begin == std::string::npos) return "";
  const std::size_t from = begin + mark.size();
  return figure::xml_unescaped(svg.substr(from, svg.find(end, from) - from));
}

class ReportMaker {
 public:
  ReportMaker(Report& report, const JobContext& context) : report_(report), context_(context) {}

  void make(const std::vector<ReportEntry>& entries) {
    // Numbers first: texts and claims may name those of later tables.
    for (const ReportEntry& entry : entries) {
      if (const auto* table = std::get_if<TableEntry>(&entry)) {
        tables_.push_back(make_table(*table, report_.studies, context_, report_.numbers));
      }
    }
    for (const ReportEntry& entry : entries) {
      std::visit([&](const auto& one) { add(one); }, entry);
    }
  }

 private:
  std::size_t index_of(const std::string& name) const {
    const Number& number = row_named("number", report_.numbers, name);
    return static_cast<std::size_t>(&number - report_.numbers.data());
  }

  TextPieces pieces(const std::string& text) const {
    TextPieces found;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t open = std::min(text.find('{', at), text.size());
      const std::size_t close = text.find('}', open);
      if (open > at) found.push_back({text.substr(at, open - at)});
      if (open == text.size()) break;
      if (close == std::string::npos) misuse("'{}': a {{ without }}", text);
      found.push_back({"", index_of(text.substr(open + 1, close - open - 1))});
      at = close + 1;
    }
    return found;
  }

  void add(const TextEntry& entry) {
    TextSection section;
    for (std::size_t at = 0; at < entry.text.size();) {
      const std::size_t end = std::min(entry.text.find("\n\n", at), entry.text.size());
      section.paragraphs.push_back(pieces(entry.text.substr(at, end - at)));
      at = std::min(entry.text.find_first_not_of('\n', end), entry.text.size());
    }
    report_.sections.emplace_back(std::move(section));
  }

  void add(const RecommendEntry& entry) {
    std::vector<TableEntry> known;
    for (const Table& table : tables_) known.push_back(table.entry);
    const TableEntry* found = table_of(entry, known);
    if (found == nullptr) misuse("recommend: there is no such table");
    const Table& table = tables_[static_cast<std::size_t>(found - known.data())];
    report_.sections.emplace_back(TextSection{{recommendation(entry, table, report_.numbers)}});
  }

  void add(const FigureEntry& entry) {
    FigureSection section{entry.block, {}};
    for (std::size_t s = 0; s < report_.studies.size(); ++s) {
      const ReportStudy& study = report_.studies[s];
      for (std::size_t i = 0; i < study.jobs().size(); ++i) {
        if (study.jobs()[i].block != entry.block || !study.jobs()[i].done()) continue;
        const auto twins = [&](const ReportFigure& one) {
          return report_.studies[one.study].jobs()[one.job].name == study.jobs()[i].name;
        };
        // It goes behind the figures of the same name.
        const auto last = std::find_if(section.figures.rbegin(), section.figures.rend(), twins);
        section.figures.insert(last == section.figures.rend() ? section.figures.end() : last.base(),
                               figure(s, i));
      }
    }
    report_.sections.emplace_back(std::move(section));
  }

  ReportFigure figure(std::size_t s, std::size_t i) const {
    const ReportStudy& study = report_.studies[s];
    const JobRecord& job = study.jobs()[i];
    std::string name = plain_name(job.name);
    if (report_.studies.size() > 1) name += "-" + plain_name(study.label);
    const ByteFile file(study.path(job));
    const std::string svg = file.peek(0, 1 << 16);
    const bool in_file = job.spec.is_object() && job.spec.value("caption_in", "") == "file";
    const std::string caption = in_file ? text_in_svg(svg, "<desc>", "</desc>") : "";
    return {s, i, name, text_in_svg(svg, " data=\"", "\""), caption.empty() ? job.name : caption};
  }

  void add(const TableEntry&) {
    TableSection section{tables_[next_table_++], {}};
    for (std::size_t s = 1; s < report_.studies.size(); ++s) add_verdicts(s, section);
    report_.sections.emplace_back(std::move(section));
  }

  /// Compares the benchmarks of a table's block in the first study with those of study `s`.
  void add_verdicts(std::size_t s, TableSection& section) const {
    const ReportStudy &first = report_.studies.front(), &second = report_.studies[s];
    for (const JobRecord& a : first.jobs()) {
      if (a.kind != "bench" || a.block != section.table.entry.block || !a.done()) continue;
      const JobRecord* b = find_named(second.jobs(), a.name);
      if (b == nullptr || b->kind != "bench" || !b->done()) continue;
      const BenchComparison found =
          compare_bench(first.path(a), second.path(*b), 0.02, {.cancelled = context_.cancelled});
      section.verdicts.push_back({s, a.name, comparison_table(found.cases), found.differences});
    }
  }

  void add(const ClaimEntry& entry) {
    ClaimRow row{pieces(entry.says), pieces(entry.relation), pieces(entry.why), {}};
    row.result = judge_claim(entry.relation, [&](const std::string& name) {
      return report_.numbers[index_of(name)].interval;
    });
    auto* last =
        report_.sections.empty() ? nullptr : std::get_if<ClaimSection>(&report_.sections.back());
    if (last == nullptr)
      last = &std::get<ClaimSection>(report_.sections.emplace_back(ClaimSection{}));
    last->rows.push_back(std::move(row));
  }

  Report& report_;
  const JobContext& context_;
  std::vector<Table> tables_;
  std::size_t next_table_ = 0;
};

std::vector<ReportEntry> entries_of(const ReportStudy& study) {
  std::vector<ReportEntry> entries;
  const std::vector<ReportBlock> blocks = study.blocks();
  for (const std::string& text : study.order()) entries.push_back(parse_report_entry(text, blocks));
  if (!entries.empty()) return entries;
  for (const ReportBlock& block : blocks) {
    if (block.kind == "figure") entries.emplace_back(FigureEntry{block.name});
  }
  return entries;
}

std::vector<std::string> changes_of(const ReportStudy& study, const JobContext& context) {
  std::vector<std::string> changes;
  for (const JobRecord& job : study.jobs()) {
    if (!job.done()) continue;
    std::string change;
    try {
      change = content_change(study.path(job), job, context.cancelled);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      change = error.what();
    }
    // Without the path, which depends on how the folder was named.
    const std::string path = study.path(job);
    const std::size_t at = change.find(path);
    if (at != std::string::npos) change.replace(at, path.size(), study.label + ", " + job.name);
    if (!change.empty()) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace

Report make_report(const std::vector<std::string>& folders, const std::string& output,
                   const JobContext& context, const std::vector<std::string>& labels) {
  Report report;
  report.studies = read_report_studies(folders, labels);
  for (const ReportStudy& study : report.studies) {
    const fs::path folder = plain_folder(fs::absolute(study.folder));
    const fs::path from = plain_folder(fs::absolute(output));
    report.folders.push_back(folder.lexically_relative(from).string());
    const std::size_t all = study.jobs().size(), unfinished = all - study.index.count("done");
    if (unfinished > 0) {
      context.say("{}: {} of {} jobs have no result", study.folder, unfinished, all);
    }
    for (std::string& change : changes_of(study, context)) {
      context.say("{}", change);
      report.changes.push_back(std::move(change));
    }
  }
  try {
    ReportMaker(report, context).make(entries_of(report.studies.front()));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    misuse("{}: report.order: {}", folders.front(), error.what());
  }
  return report;
}

}  // namespace conelab
