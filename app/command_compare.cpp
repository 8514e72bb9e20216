// `conelab compare`: tells which cases of two benchmark results became faster or slower, or which
// operators of one result are faster.
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/command_job.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/bench/compare.h"
#include "core/bench/parts.h"
#include "core/bench/summary.h"
#include "core/job/read_result.h"
#include "core/jobs/bench_job.h"

namespace conelab {
namespace {

struct TypedCompare {
  std::string a, b, base;
  double margin = 0.02;
  bool json = false;
};

Json comparison_json(const CaseComparison& c) {
  Json json = labels_json(c.labels);
  json["ratio"] = c.result.ratio.value;
  json["ratio_low"] = c.result.ratio.low;
  json["ratio_high"] = c.result.ratio.high;
  json["peak_ratio"] = c.peak_ratio;
  json["bandwidth_ratio"] = c.bandwidth_ratio;
  json["verdict"] = verdict_name(c.result.verdict);
  json["note"] = c.note;
  return json;
}

Json list_json(const std::vector<CaseComparison>& cases) {
  Json list = Json::array();
  for (const CaseComparison& c : cases) list.push_back(comparison_json(c));
  return list;
}

void print_cases(const std::vector<CaseComparison>& cases) {
  for (const std::string& line : table_lines(comparison_table(cases))) say("{}", line);
  std::map<std::string, int> counts;
  for (const CaseComparison& c : cases) ++counts[verdict_name(c.result.verdict)];
  std::string summary;
  for (const auto& [verdict, count] : counts) {
    summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, verdict);
  }
  say("{}: {}", counted(cases.size(), "case"), summary);
}

/// Prints how reliable the verdicts are: the margin of "same", and how often equal cases came out
/// different.
void print_trust(double margin, const std::vector<std::string>& controls) {
  say("'same': the whole interval lies within a factor of {} (--margin {})", 1 + margin, margin);
  for (const std::string& line : controls) say("{}", line);
}

int compare_files(const TypedCompare& typed) {
  for (const std::string& result : {typed.a, typed.b}) {
    check_whole_file(result);
    Parts::check_finished(result);
  }
  const BenchComparison found =
      compare_bench(typed.a, typed.b, typed.margin, {.cancelled = interrupted});
  for (const std::string& path : found.changed) print_warning(change_remark(path));
  if (found.cases.empty()) {
    const std::string labels = join(differing_labels(found));
    fail("{} and {} have no case in common{}{}", typed.a, typed.b, labels.empty() ? "" : ": ",
         labels);
  }
  if (typed.json) {
    print_json({{"a", typed.a},
                {"b", typed.b},
                {"cases", list_json(found.cases)},
                {"only_a", found.only_first.size()},
                {"only_b", found.only_second.size()},
                {"differences", found.differences},
                {"notes", found.notes},
                {"margin", typed.margin},
                {"control_a", control_json(found.first_control)},
                {"control_b", control_json(found.second_control)}});
    return 0;
  }
  say("time of {} over time of {}", typed.b, typed.a);
  for (const std::string& line : found.differences) say("not the same {}", line);
  print_cases(found.cases);
  if (const auto only = found.only_first.size() + found.only_second.size(); only > 0) {
    say("{} case{} in one file only", only, only == 1 ? " is" : "s are");
  }
  print_trust(typed.margin, {typed.a + ": " + control_note(found.first_control),
                             typed.b + ": " + control_note(found.second_control)});
  for (const std::string& note : found.notes) say("{}", note);
  return 0;
}

int compare_within(const TypedCompare& typed) {
  Parts::check_finished(typed.a);
  const LabelledFile file = read_result(typed.a, command_context());
  const auto cases = compare_operators(measured_cases(file, typed.a), typed.base, typed.margin);
  const MeasuredControl control = measured_control(file);
  if (typed.json) {
    print_json({{"a", typed.a},
                {"base", typed.base},
                {"cases", list_json(cases)},
                {"margin", typed.margin},
                {"control", control_json(control)}});
    return 0;
  }
  say("time over that of {}, round by round, in {}", typed.base, typed.a);
  print_cases(cases);
  print_trust(typed.margin, {control_note(control)});
  return 0;
}

int run(const TypedCompare& typed) {
  if (typed.b.empty() == typed.base.empty()) {
    misuse("compare takes a second file B, or one file and --base OPERATOR");
  }
  if (!(typed.margin >= 0)) misuse("--margin must not be negative (found {})", typed.margin);
  return typed.base.empty() ? compare_files(typed) : compare_within(typed);
}

}  // namespace

Action declare_compare(CLI::App& options) {
  const auto typed = std::make_shared<TypedCompare>();
  options.add_option("A", typed->a, "a result of `bench`")->required();
  options.add_option("B", typed->b, "another; its times are divided by those of A");
  options.add_option("--base", typed->base, "instead of B: the operator of A to compare all with");
  options.add_option("--margin", typed->margin, "what counts as the same")->capture_default_str();
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run(*typed); };
}

}  // namespace conelab
