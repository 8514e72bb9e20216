// The files of a report, and its record report.json.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/files/atomic_file.h"
#include "core/files/byte_file.h"
#include "core/job/job_record.h"
#include "core/report/report.h"

namespace conelab {
namespace {

ReportRecord record_of_json(const Json& json) {
  ReportRecord record;
  for (const Json& one : json.at("studies")) {
    ReportRecord::Study study{one.at("folder").get<std::string>(), one.value("label", ""), {}};
    for (const auto& [name, job] : one.at("jobs").items()) {
      study.digests[name] = job.at("digest").get<std::string>();
    }
    record.studies.push_back(std::move(study));
  }
  for (const auto& [name, number] : json.at("numbers").items()) {
    record.numbers[name] = number.at("text").get<std::string>();
  }
  record.files = json.at("files").get<std::map<std::string, std::string>>();
  return record;
}

}  // namespace

ReportRecord read_report_record(const std::string& output) {
  const std::string path = (std::filesystem::path(output) / report_record_name).string();
  const auto read = [&](const Json& json) {
    if (json.at("format") != report_format) fail("{}: has another format", path);
    return record_of_json(json);
  };
  return read_json(path, read,
                   "is not the record that `conelab report` wrote: it was cut off or changed");
}

// The files of a report, their record report.json, and the folder that they are written to.

namespace {

namespace fs = std::filesystem;

Json json_of_number(const Report& report, const Number& number) {
  Json origins = Json::array();
  for (const Origin& origin : number.origins) {
    const ReportStudy& study = report.studies[origin.study];
    const JobRecord& job = study.jobs()[origin.job];
    origins.push_back({{"study", study.label}, {"job", job.name}, {"value", origin.value}});
  }
  return {{"text", plain_number(number.text)},
          {"value", number.interval.value},
          {"low", number.interval.low},
          {"high", number.interval.high},
          {"origins", std::move(origins)}};
}

/// Returns the text with the names of its numbers in braces, as the study has it.
std::string text_of(const TextPieces& pieces, const Report& report) {
  std::string text;
  for (const TextPiece& piece : pieces) {
    text += piece.number ? "{" + report.numbers[*piece.number].name + "}" : piece.text;
  }
  return text;
}

void add_claims(const ClaimSection& section, const Report& report, Json& claims) {
  for (const ClaimRow& row : section.rows) {
    claims.push_back({{"says", text_of(row.says, report)},
                      {"relation", text_of(row.relation, report)},
                      {"left", plain_number(number_text(row.result.left))},
                      {"verdict", claim_verdict_name(row.result.verdict)}});
  }
}

Json record_of(const Report& report, const std::map<std::string, std::string>& files) {
  Json record = {{"format", report_format}, {"program", program_version()}};
  for (std::size_t s = 0; s < report.studies.size(); ++s) {
    Json jobs = Json::object();
    for (const JobRecord& job : report.studies[s].jobs()) {
      if (job.done()) jobs[job.name] = {{"key", job.key}, {"digest", job.digest}};
    }
    record["studies"].push_back({{"folder", report.folders[s]},
                                 {"label", report.studies[s].label},
                                 {"jobs", std::move(jobs)}});
  }
  record["numbers"] = Json::object();
  for (const Number& number : report.numbers) {
    record["numbers"][number.name] = json_of_number(report, number);
  }
  record["claims"] = Json::array();
  for (const ReportSection& section : report.sections) {
    if (const auto* claims = std::get_if<ClaimSection>(&section)) {
      add_claims(*claims, report, record["claims"]);
    }
  }
  for (const auto& [name, bytes] : files) record["files"][name] = sha256(bytes);
  return record;
}

void add_figure_files(const Report& report, const ReportFigure& figure,
                      std::map<std::string, std::string>& files) {
  const ReportStudy& study = report.studies[figure.study];
  const JobRecord& job = study.jobs()[figure.job];
  for (std::size_t i = 0; i < job.files.size(); ++i) {
    const ByteFile file(study.path(job, i));
    const std::string ending = fs::path(job.files[i]).extension().string();
    files["figures/" + figure.name + ending] = file.read(0, file.size());
  }
}

void remove_old_figures(const std::string& output,
                        const std::map<std::string, std::string>& files) {
  const fs::path record = fs::path(output) / report_record_name;
  std::error_code error;
  if (!fs::exists(record, error)) return;
  for (const auto& [name, digest] : read_report_record(output).files) {
    const fs::path path(name);
    if (files.contains(name) || path.parent_path() != "figures") continue;
    fs::remove(fs::path(output) / path, error);
  }
}

void check_folder(const std::string& output) {
  std::error_code error;
  if (!fs::exists(output, error)) return;
  if (!fs::is_directory(output, error)) misuse("{}: is not a folder", output);
  if (fs::is_empty(output, error) || fs::exists(fs::path(output) / report_record_name, error))
    return;
  misuse("{}: holds something else than a report; give an empty folder or a new name", output);
}

}  // namespace

std::map<std::string, std::string> report_files(const Report& report) {
  std::map<std::string, std::string> files;
  for (const ReportSection& section : report.sections) {
    const auto* figures = std::get_if<FigureSection>(&section);
    if (figures == nullptr) continue;
    for (const ReportFigure& figure : figures->figures) add_figure_files(report, figure, files);
  }
  files["index.html"] = report_html(report);
  files["report.tex"] = report_latex(report);
  files["numbers.tex"] = numbers_latex(report);
  files[report_record_name] =
      record_of(report, files).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  return files;
}

void write_report(const Report& report, const std::string& output) {
  check_folder(output);
  const std::map<std::string, std::string> files = report_files(report);
  std::error_code error;
  fs::create_directories(fs::path(output) / "figures", error);
  if (error) fail("{}: cannot be made: {}", output, error.message());
  remove_old_figures(output, files);
  for (const auto& [name, bytes] : files) {
    if (name != report_record_name)
      write_text_atomically((fs::path(output) / name).string(), bytes);
  }
  write_text_atomically((fs::path(output) / report_record_name).string(),
                        files.at(report_record_name));
}

}  // namespace conelab
