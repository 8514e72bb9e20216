#include "core/job/job_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "core/files/seal.h"

namespace conelab {
namespace {

namespace fs = std::filesystem;

std::string record_path(const std::string& folder, const std::string& key) {
  return folder + "/jobs/" + key + ".json";
}

}  // namespace

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

void write_json(const std::string& path, const Json& json) {
  write_text_atomically(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
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
  write_json(record_path(folder, record.key), record_to_json(record));
}

FolderLock lock_study(const std::string& folder, bool shared) {
  std::error_code error;
  fs::create_directories(folder + "/jobs", error);
  if (error) fail("{}: {}", folder, error.message());
  return FolderLock(folder,
                    "another process is running a study there (shards may share it: --shard 1/1)",
                    shared);
}

namespace {

/// Returns whether the claim in a file is void; nothing if the file is gone.
std::optional<bool> is_void(const std::string& path) {
  // NFS tells the server's own time of a file that is open, and not an older one.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::array<char, 128> text{};
  const bool read = ::fstat(file, &status) == 0 && ::read(file, text.data(), text.size() - 1) >= 0;
  ::close(file);
  // A process that was killed as soon as it had created the file has left it empty.
  const int limit =
      text.front() == 0 ? JobClaim::seconds_until_written : JobClaim::seconds_until_void;
  const bool old = std::time(nullptr) - status.st_mtime > limit;
  return read && (old || has_ended(text.data()));
}

}  // namespace

std::optional<JobClaim> JobClaim::take(const std::string& folder, const std::string& key) {
  std::vector<std::string> paths;
  for (int n = 1;; ++n) {
    const std::string path = fmt::format("{}/jobs/{}.claim-{}", folder, key, n);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    paths.push_back(path);
    if (file >= 0) {
      const std::string tag = process_tag();
      (void)!::write(file, tag.data(), tag.size());  // Without it the claim is void after a while.
      ::close(file);
      return JobClaim(std::move(paths));
    }
    if (errno != EEXIST) fail("{}: cannot be written: {}", path, std::strerror(errno));
    if (!is_void(path).value_or(false)) return std::nullopt;
  }
}

JobClaim::~JobClaim() {
  // The own one last: while it is there, whoever finds an earlier one gone also finds the entry.
  for (const std::string& path : paths_) ::unlink(path.c_str());
}

void JobClaim::renew() const { ::utimensat(AT_FDCWD, paths_.back().c_str(), nullptr, 0); }

}  // namespace conelab
