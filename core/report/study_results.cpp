#include "core/report/study_results.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/find_named.h"
#include "core/files/byte_file.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

/// Returns a member as text; empty if it is missing.
std::string text_of_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? "" : json_text(*found);
}

TextPairs pairs_of_member(const Json& object, const char* name) {
  TextPairs pairs;
  const Json members = object.value(name, Json::object());
  for (const auto& [key, value] : members.items()) pairs.emplace_back(key, json_text(value));
  return pairs;
}

std::vector<std::string> list_of_member(const Json& object, const char* name) {
  return object.value(name, std::vector<std::string>());
}

StudyJob job_of_json(const Json& json) {
  StudyJob job;
  for (const auto& [name, text] : {std::pair{"block", &job.block},
                                   {"kind", &job.kind},
                                   {"name", &job.name},
                                   {"status", &job.status}}) {
    *text = json.at(name).get<std::string>();
  }
  job.key = text_of_member(json, "key");
  job.digest = text_of_member(json, "digest");
  job.error = text_of_member(json, "error");
  job.command = text_of_member(json, "command");
  job.sweep = pairs_of_member(json, "sweep");
  job.files = list_of_member(json, "files");
  job.inputs = list_of_member(json, "inputs");
  job.remarks = list_of_member(json, "remarks");
  const auto seconds = json.find("seconds");
  if (seconds != json.end() && seconds->is_number()) job.seconds = seconds->get<double>();
  const Json measures = json.value("measures", Json::object());
  for (const auto& [name, value] : measures.items()) {
    job.measures.emplace_back(
        name, value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
  }
  return job;
}

/// Throws a failure if a job is done without a file, or if a file lies outside of the folder.
void check_files(const StudyJob& job) {
  if (job.done() && job.files.empty()) fail("the job {} is done, but names no file", job.name);
  for (const std::string& file : job.files) {
    const std::filesystem::path path = std::filesystem::path(file).lexically_normal();
    if (path.is_absolute() || path.empty() || *path.begin() == "..") {
      fail("the job {} names a file outside of the folder: {}", job.name, file);
    }
  }
}

StudyResults study_of_json(const Json& json) {
  if (const Json format = json.value("format", Json()); format != 1) {
    fail("has another format (expected 1, found {})", format.dump());
  }
  StudyResults study;
  study.title = text_of_member(json, "title");
  study.program = text_of_member(json, "program");
  study.seed = text_of_member(json, "seed");
  study.quick = json.value("quick", false);
  study.machine = pairs_of_member(json, "machine");
  study.order = list_of_member(json.value("report", Json::object()), "order");
  for (const Json& job : json.at("jobs")) study.jobs.push_back(job_of_json(job));
  for (const StudyJob& job : study.jobs) check_files(job);
  return study;
}

}  // namespace

std::string StudyResults::path(const StudyJob& job, std::size_t i) const {
  return (std::filesystem::path(folder) / job.files.at(i)).string();
}

std::vector<ReportBlock> StudyResults::blocks() const {
  std::vector<ReportBlock> found;
  for (const StudyJob& job : jobs) {
    if (find_named(found, job.block) == nullptr) found.push_back({job.block, job.kind});
  }
  return found;
}

StudyResults read_study_results(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / "index.json").string();
  const ByteFile file(path);
  try {
    StudyResults study = study_of_json(Json::parse(file.read(0, file.size())));
    study.folder = folder;
    return study;
  } catch (const Json::exception& error) {
    fail("{}: is not the index of a study: {}", path, error.what());
  } catch (const Error& error) {
    fail("{}: {}", path, error.what());
  }
}

std::string json_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace conelab
