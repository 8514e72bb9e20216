#include "core/report/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/sha256.h"
#include "core/bench/measured.h"
#include "core/job/read_result.h"

namespace conelab {
namespace {

void add_labels(const Case& labels, std::span<const Axis> those, Record& record) {
  for (const Axis& axis : those) record.keys.emplace_back(axis.name, labels[axis]);
}

std::vector<Record> bench_records(const std::string& path, const Record& of_job,
                                  const JobContext& context) {
  const LabelledFile file = read_result(path, {.cancelled = context.cancelled});
  std::vector<Record> records = {of_job};
  for (const MeasuredCase& c : measured_cases(file, path)) {
    Record record{of_job.study, of_job.job, of_job.keys, {}, true};
    add_labels(c.labels, axes(), record);
    for (const CaseMeasure& measure : case_measures()) {
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

std::string content_change(const std::string& path, const JobRecord& job,
                           const std::function<bool()>& cancelled) {
  if (job.kind == "figure") {
    if (sha256_of_file(path, cancelled) == job.digest) return "";
    return path + ": its content does not have the digest that the index states";
  }
  const FileNumbers file = read_file_numbers(path, {.cancelled = cancelled});
  if (file.seal == hdf5::Seal::broken) return change_remark(path);
  return file.digest == job.digest ? "" : path + ": its seal states another digest than the index";
}

namespace {

namespace fs = std::filesystem;

/// Throws a failure if a job is done without a file, or if a file lies outside of the folder.
void check_files(const std::string& folder, const JobRecord& job) {
  if (job.done() && job.files.empty()) {
    fail("{}/index.json: the job {} is done, but names no file", folder, job.name);
  }
  for (const std::string& file : job.files) {
    const fs::path path = fs::path(file).lexically_normal();
    if (!path.is_absolute() && !path.empty() && *path.begin() != "..") continue;
    fail("{}/index.json: the job {} names a file outside of the folder: {}", folder, job.name,
         file);
  }
}

std::string name_of_folder(const std::string& folder) {
  return plain_folder(fs::absolute(folder)).filename().string();
}

}  // namespace

TextPairs texts_of(const Json& object) {
  TextPairs texts;
  for (const auto& [name, value] : object.items()) texts.emplace_back(name, value_text(value));
  return texts;
}

std::string ReportStudy::path(const JobRecord& job, std::size_t i) const {
  return (fs::path(folder) / job.files.at(i)).string();
}

std::vector<ReportBlock> ReportStudy::blocks() const {
  std::vector<ReportBlock> found;
  for (const JobRecord& job : jobs()) {
    if (find_named(found, job.block) == nullptr) found.push_back({job.block, job.kind, {}});
    for (ReportBlock& block : found) {
      if (block.name == job.block) block.sweeps.push_back(job.sweep);
    }
  }
  return found;
}

std::vector<std::string> ReportStudy::order() const {
  const auto found = index.report.find("order");
  return found == index.report.end() ? std::vector<std::string>()
                                     : found->get<std::vector<std::string>>();
}

fs::path plain_folder(const fs::path& folder) {
  const fs::path normal = folder.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

std::vector<ReportStudy> read_report_studies(const std::vector<std::string>& folders,
                                             const std::vector<std::string>& labels) {
  std::vector<ReportStudy> studies;
  for (const std::string& folder : folders) {
    const bool named = studies.size() < labels.size() && !labels[studies.size()].empty();
    std::string label = named ? labels[studies.size()] : name_of_folder(folder);
    const auto taken = [&](const ReportStudy& other) { return other.label == label; };
    for (int n = 2; std::ranges::any_of(studies, taken); ++n) {
      label = fmt::format("{}-{}", name_of_folder(folder), n);
    }
    studies.push_back({folder, label, read_index(folder)});
    for (const JobRecord& job : studies.back().jobs()) check_files(folder, job);
  }
  return studies;
}

}  // namespace conelab
