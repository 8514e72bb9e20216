#include "core/report/report_record.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/files/byte_file.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

ReportRecord record_of_json(const Json& json) {
  ReportRecord record;
  record.program = json.at("program").get<std::string>();
  for (const Json& one : json.at("studies")) {
    ReportRecord::Study study{one.at("folder").get<std::string>(), {}};
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
  const ByteFile file(path);
  try {
    const Json json = Json::parse(file.read(0, file.size()));
    if (json.at("format") != report_format) fail("{}: has another format", path);
    return record_of_json(json);
  } catch (const Json::exception& error) {
    fail("{}: is not the record of a report: {}", path, error.what());
  }
}

}  // namespace conelab
