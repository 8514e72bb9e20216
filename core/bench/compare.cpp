#include "core/bench/compare.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/files/sandbox.h"

namespace conelab {
namespace {

const MeasuredCase* find_case(const std::vector<MeasuredCase>& cases, const Case& labels) {
  const auto found = std::ranges::find_if(cases, [&](const auto& c) { return c.labels == labels; });
  return found == cases.end() ? nullptr : &*found;
}

std::string missing_note(const MeasuredCase& first, const MeasuredCase& second) {
  if (first.status != CaseStatus::ok) return "no time in the first: " + first.reason;
  if (second.status != CaseStatus::ok) return "no time in the second: " + second.reason;
  return "";
}

/// Returns what a reader should know about an interval of few rounds, or nothing. How many rounds a
/// verdict needs depends on the test; the interval's coverage says whether there were enough.
std::string few_rounds_note(const Interval& ratio) {
  if (std::isnan(ratio.coverage)) return "too few rounds: none has a time of both";
  if (ratio.coverage >= usual_level) return "";
  if (ratio.coverage <= 0) return "one round: no interval";
  return "too few rounds: the interval covers " + coverage_text(ratio.coverage);
}

/// Makes the verdict undecided if the speed of the machine changed between the two runs, or was not
/// measured. The statistics of the samples cannot show this.
void doubt_across_runs(CaseComparison& c, double margin) {
  if (std::isnan(c.result.ratio.value)) return;
  if (std::isnan(c.peak_ratio)) {
    c.note = "the peak of the machine is unknown";
  } else if (c.peak_ratio > 1 + margin || c.peak_ratio < 1 / (1 + margin)) {
    c.note = fmt::format("the machine itself ran at {:.2f} times its earlier speed", c.peak_ratio);
  } else {
    return;
  }
  c.result.verdict = Verdict::undecided;
}

using Compare = RatioResult (*)(const std::vector<double>&, const std::vector<double>&, double);

CaseComparison compare_case(const MeasuredCase& first, const MeasuredCase& second, double margin,
                            Compare compare) {
  CaseComparison c;
  c.labels = second.labels;
  const bool timed = first.status == CaseStatus::ok && second.status == CaseStatus::ok;
  c.result = timed ? compare(first.samples, second.samples, margin) : compare({}, {}, margin);
  c.peak_ratio = median(second.peak_samples) / median(first.peak_samples);
  c.bandwidth_ratio = second.bandwidth / first.bandwidth;
  c.note = timed ? few_rounds_note(c.result.ratio) : missing_note(first, second);
  return c;
}

std::string attribute_text(const AttributeValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    return join(*list, "; ");
  }
  return "";
}

std::string attribute(const LabelledFile& file, const char* group, const std::string& name) {
  const LabelledArray* array = file.group(group);
  for (const auto& [key, value] : array == nullptr ? Attributes{} : array->attributes) {
    if (key == name) return attribute_text(value);
  }
  return "";
}

std::vector<std::string> environment_differences(const LabelledFile& a, const LabelledFile& b) {
  std::vector<std::string> differences;
  for (const char* name : {"version", "git_hash", "compiler", "compiler_flags", "cpu", "simd",
                           "cores", "memory_bytes", "system", "peers", "devices"}) {
    const std::string first = attribute(a, "bench/environment", name);
    const std::string second = attribute(b, "bench/environment", name);
    if (first != second) differences.push_back(fmt::format("{}: {}, then {}", name, first, second));
  }
  return differences;
}

}  // namespace

BenchComparison compare_bench(const std::string& first, const std::string& second, double margin,
                              const SandboxLimits& limits) {
  const LabelledFile a = read_labelled_file_sandboxed(first, limits);
  const auto before = measured_cases(a, first);
  const LabelledFile b = read_labelled_file_sandboxed(second, limits);
  const auto now = measured_cases(b, second);
  const std::string batch = attribute(a, "bench/runtime", "batch");
  const std::string other = attribute(b, "bench/runtime", "batch");
  if (batch != other)
    fail("{}: its batch is another (expected {}, found {})", second, batch, other);
  BenchComparison result;
  result.first_control = measured_control(a);
  result.second_control = measured_control(b);
  for (const std::string& note : stored_notes(a)) result.notes.push_back(first + ": " + note);
  for (const std::string& note : stored_notes(b)) result.notes.push_back(second + ": " + note);
  if (a.changed) result.changed.push_back(first);
  if (b.changed) result.changed.push_back(second);
  for (const MeasuredCase& c : before) {
    const MeasuredCase* twin = find_case(now, c.labels);
    if (twin == nullptr) {
      result.only_first.push_back(c.labels);
    } else {
      result.cases.push_back(compare_case(c, *twin, margin, compare_unpaired));
      doubt_across_runs(result.cases.back(), margin);
    }
  }
  for (const MeasuredCase& c : now) {
    if (find_case(before, c.labels) == nullptr) result.only_second.push_back(c.labels);
  }
  result.differences = environment_differences(a, b);
  return result;
}

std::vector<std::string> differing_labels(const BenchComparison& comparison) {
  std::vector<std::string> differences;
  const auto texts = [](const std::vector<Case>& cases, const Axis& axis) {
    std::vector<std::string> all;
    for (const Case& c : cases) {
      const std::string text = label_text(axis, c[axis]);
      add_once(all, text);
    }
    return all;
  };
  for (const Axis& axis : axes()) {
    const auto first = texts(comparison.only_first, axis);
    const auto second = texts(comparison.only_second, axis);
    const bool common =
        std::ranges::any_of(first, [&](const std::string& text) { return contains(second, text); });
    if (common || first.empty() || second.empty()) continue;
    differences.push_back(
        fmt::format("{} against {}", fmt::join(first, ", "), fmt::join(second, ", ")));
  }
  return differences;
}

std::vector<CaseComparison> compare_operators(const std::vector<MeasuredCase>& cases,
                                              const std::string& base, double margin) {
  const Labels names = label_values(cases, "operator");
  if (!contains(names, base)) {
    unknown_name("operator", base, names);
  }
  std::vector<CaseComparison> result;
  for (const MeasuredCase& c : cases) {
    if (c.labels["operator"] == base) continue;
    Case labels = c.labels;
    labels.set("operator", base);
    // The two were interleaved in one run, so a change of the machine's speed affects both, and its
    // peak is not compared.
    result.push_back(compare_case(*find_case(cases, labels), c, margin, compare_paired));
  }
  return result;
}

double ratio_coverage(const std::vector<CaseComparison>& cases) {
  double least = usual_level;
  for (const CaseComparison& c : cases) {
    if (c.result.ratio.coverage < least) least = c.result.ratio.coverage;  // It is false for NaN.
  }
  return least;
}

}  // namespace conelab
