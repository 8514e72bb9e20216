#include "core/report/records.h"

#include <limits>

#include "core/bench/measured.h"
#include "core/report/file_numbers.h"
#include "core/study/labelled_view.h"

namespace conelab {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Interval lone(double value) { return {value, none, none, none}; }

/// A measure of a benchmark's cases.
struct BenchMeasure {
  const char* name;
  Interval (*of)(const MeasuredCase& c);
};
constexpr BenchMeasure case_measures[] = {
    {"time",
     [](const MeasuredCase& c) {
       return Interval{c.time, c.time_low, c.time_high, none};
     }},
    {"time_cold", [](const MeasuredCase& c) { return lone(c.time_cold); }},
    {"flops", [](const MeasuredCase& c) { return lone(c.flops); }},
    {"throughput",
     [](const MeasuredCase& c) {
       return Interval{c.flops / c.time, c.flops / c.time_high, c.flops / c.time_low, none};
     }},
    {"peak_share", [](const MeasuredCase& c) { return lone(peak_share(c)); }},
    {"peak_bytes", [](const MeasuredCase& c) { return lone(c.peak_bytes); }},
    {"extra_bytes", [](const MeasuredCase& c) { return lone(c.extra_bytes); }},
    {"error", [](const MeasuredCase& c) { return lone(c.error); }},
};
constexpr const char* exponent_measure = "exponent";

void add_labels(const Case& labels, std::span<const Axis> those, Record& record) {
  for (const Axis& axis : those) record.keys.emplace_back(axis.name, labels[axis]);
}

std::vector<Record> bench_records(const std::string& path, const Record& of_job,
                                  const JobContext& context) {
  const LabelledFile file = read_result(path, context);
  std::vector<Record> records = {of_job};
  for (const MeasuredCase& c : measured_cases(file, path)) {
    Record record{of_job.study, of_job.job, of_job.keys, {}, true};
    add_labels(c.labels, axes(), record);
    for (const BenchMeasure& measure : case_measures) {
      record.measures.emplace_back(measure.name, measure.of(c));
    }
    records.push_back(std::move(record));
  }
  for (const MeasuredExponent& line : measured_exponents(file, path)) {
    Record record{of_job.study, of_job.job, of_job.keys, {}, true};
    add_labels(line.labels, line_axes(), record);
    record.measures.emplace_back(exponent_measure,
                                 Interval{line.value, line.low, line.high, usual_level});
    records.push_back(std::move(record));
  }
  return records;
}

Record job_record(const std::string& path, Record record, const JobContext& context) {
  const FileNumbers file = read_file_numbers(path, {.cancelled = context.cancelled});
  if (file.seal == hdf5::Seal::broken && context.remark) context.remark(change_remark(path));
  for (const auto& [name, value] : file.numbers) {
    const auto same = [&, &name = name](const auto& measure) { return measure.first == name; };
    std::erase_if(record.measures, same);
    record.measures.emplace_back(name, lone(value));
  }
  return record;
}

}  // namespace

std::vector<Record> records_of_block(const std::vector<ReportStudy>& studies, std::size_t study,
                                     const std::string& block, const JobContext& context) {
  std::vector<Record> records;
  for (std::size_t i = 0; i < studies[study].jobs().size(); ++i) {
    const JobRecord& job = studies[study].jobs()[i];
    if (job.block != block || !job.done()) continue;
    const std::string path = studies[study].path(job);
    Record record{study, i, texts_of(job.sweep), {}, job.kind == "bench"};
    for (const auto& [name, value] : job.measures) record.measures.emplace_back(name, lone(value));
    if (record.of_bench) {
      for (Record& one : bench_records(path, record, context)) records.push_back(std::move(one));
    } else {
      records.push_back(job_record(path, std::move(record), context));
    }
  }
  return records;
}

}  // namespace conelab
