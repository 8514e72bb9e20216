// The folder of results of jobs, in which a study and a search among trials keep what is finished.
//
//   DIR/jobs/KEY.h5           the result of a job; KEY is job_key (core/jobs/job_table.h). A figure
//                             has KEY.svg, KEY.pdf and KEY.png
//   DIR/jobs/KEY.json         the job's entry, written after its result
//
// Every file is written whole or not at all, so that a kill at any moment loses no finished job.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/files/atomic_file.h"
#include "core/files/byte_file.h"

namespace conelab {

/// A job in the folder. Its status is "done", "failed", "waiting" (for the result of another job)
/// or "pending".
struct JobRecord {
  std::string block, kind;
  Json sweep = Json::object();
  std::string name;
  std::string key;                 ///< Empty until its inputs are there.
  std::vector<std::string> files;  ///< In the folder: "jobs/KEY.h5".
  std::string digest;              ///< Of the first file's content, see content_digest (seal.h).
  double seconds = 0;
  std::string status = "pending";
  std::string error;                ///< One line; only of a failed job.
  std::string command;              ///< The command that does the same from within the folder.
  Json spec;                        ///< The job with its inputs, which `spec_from_json` reads.
  std::vector<std::string> inputs;  ///< Keys of the jobs that it reads.
  std::vector<std::string> remarks;
  std::map<std::string, double> measures;

  [[nodiscard]] bool done() const { return status == "done"; }
};

[[nodiscard]] Json record_to_json(const JobRecord& record);
[[nodiscard]] JobRecord record_from_json(const Json& json);

/// Returns the entry of a finished job, if its result is in the folder and has not changed since.
[[nodiscard]] std::optional<JobRecord> find_result(const std::string& folder,
                                                   const std::string& key);
/// Writes jobs/KEY.json, after which the job counts as done.
void write_record(const std::string& folder, const JobRecord& record);

/// Creates the folder and locks it against other processes that write it. Throws a failure if
/// another process has it.
[[nodiscard]] FolderLock lock_study(const std::string& folder);

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
/// Writes a file of JSON whole or not at all.
void write_json(const std::string& path, const Json& json);

}  // namespace conelab
