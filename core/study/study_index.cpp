#include "core/study/study_index.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/base/error.h"
#include "core/files/atomic_file.h"
#include "core/files/byte_file.h"
#include "core/files/seal.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr int index_format = 1;

JobRecord record_from_json(const Json& json) {
  JobRecord record;
  const auto read = [&](const char* name, auto& member) {
    if (json.contains(name) && !json[name].is_null()) json[name].get_to(member);
  };
  read("block", record.block), read("kind", record.kind), read("name", record.name);
  read("key", record.key), read("files", record.files), read("digest", record.digest);
  read("seconds", record.seconds), read("status", record.status), read("error", record.error);
  read("command", record.command), read("inputs", record.inputs);
  read("remarks", record.remarks), read("spec", record.spec);
  record.sweep = json.value("sweep", Json::object());
  const Json measures = json.value("measures", Json::object());
  for (const auto& [name, value] : measures.items()) {
    record.measures[name] = value.is_number() ? value.get<double>() : std::nan("");
  }
  return record;
}

/// Reads a file of JSON. Throws a failure that names it if it holds something else.
template <class Read>
auto read_json(const std::string& path, const Read& read) {
  try {
    const ByteFile file(path);
    return read(Json::parse(file.read(0, file.size())));
  } catch (const nlohmann::json::exception&) {
    fail("{}: is not what `conelab run` wrote", path);
  }
}

std::string json_text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string record_path(const std::string& folder, const std::string& key) {
  return folder + "/jobs/" + key + ".json";
}

}  // namespace

std::size_t StudyIndex::count(const std::string& status) const {
  return static_cast<std::size_t>(std::count_if(
      jobs.begin(), jobs.end(), [&](const JobRecord& job) { return job.status == status; }));
}

Json record_to_json(const JobRecord& r) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json json{{"block", r.block},
            {"kind", r.kind},
            {"sweep", r.sweep},
            {"name", r.name},
            {"key", or_null(r.key)},
            {"files", r.files},
            {"digest", or_null(r.digest)},
            {"seconds", r.done() ? Json(r.seconds) : Json()},
            {"status", r.status}};
  if (!r.error.empty()) json["error"] = r.error;
  json["command"] = or_null(r.command);
  json["spec"] = r.spec;
  json["inputs"] = r.inputs;
  json["remarks"] = r.remarks;
  json["measures"] = Json::object();
  for (const auto& [name, value] : r.measures) json["measures"][name] = value;
  return json;
}

Json index_to_json(const StudyIndex& index) {
  Json json{{"format", index_format}, {"title", index.title},     {"seed", index.seed},
            {"quick", index.quick},   {"program", index.program}, {"machine", index.machine},
            {"report", index.report}, {"jobs", Json::array()}};
  for (const JobRecord& record : index.jobs) json["jobs"].push_back(record_to_json(record));
  return json;
}

StudyIndex read_index(const std::string& folder) {
  return read_json(folder + "/index.json", [&](const Json& json) {
    if (json.at("format") != index_format) {
      fail("{}/index.json: unknown format (expected {}, found {})", folder, index_format,
           json.at("format").dump());
    }
    StudyIndex index{json.at("title"),
                     json.at("seed"),
                     json.at("quick"),
                     json.at("program"),
                     json.at("machine"),
                     json.at("report"),
                     {}};
    for (const Json& job : json.at("jobs")) index.jobs.push_back(record_from_json(job));
    return index;
  });
}

void write_index(const std::string& folder, const StudyIndex& index) {
  write_text_atomically(folder + "/index.json", json_text(index_to_json(index)));
}

std::optional<JobRecord> find_result(const std::string& folder, const std::string& key) {
  const std::string path = record_path(folder, key);
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return std::nullopt;
  try {
    JobRecord record = read_json(path, record_from_json);
    for (const std::string& file : record.files) {
      if (!fs::is_regular_file(folder + "/" + file, none)) return std::nullopt;
    }
    const bool same = !record.files.empty() &&
                      content_digest(folder + "/" + record.files.front()) == record.digest;
    return same ? std::optional(record) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // What is damaged is computed again.
  }
}

void write_record(const std::string& folder, const JobRecord& record) {
  write_text_atomically(record_path(folder, record.key), json_text(record_to_json(record)));
}

StudyLock::StudyLock(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder + "/jobs", error);
  if (error) fail("{}: {}", folder, error.message());
  const std::string path = folder + "/lock";
  file_ = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (file_ < 0) fail("{}: {}", path, std::strerror(errno));
  if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  close(file_);
  fail("{}: another process is running a study there", folder);
}

StudyLock::~StudyLock() { close(file_); }

}  // namespace conelab
