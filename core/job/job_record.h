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
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/files/atomic_file.h"
#include "core/files/byte_file.h"
#include "core/job/job_field.h"

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

/// Creates the folder and locks it against other processes that write it, except those that share
/// it. Throws a failure if another process has it.
[[nodiscard]] FolderLock lock_study(const std::string& folder, bool shared = false);

/// The claim of a process to a job, among all that share the folder, on any number of machines: a
/// file jobs/KEY.claim-N that only one process can create (O_EXCL, which NFS has too; locks of
/// files are not needed). A claim is void if its process has ended on this machine, has not
/// renewed it for two minutes, or has not written its name for five seconds. Then N + 1 can be
/// claimed.
class JobClaim {
 public:
  static constexpr int seconds_to_renew = 20, seconds_until_void = 120, seconds_until_written = 5;

  /// Returns nothing if another process has the job. Throws a failure if no file can be created.
  [[nodiscard]] static std::optional<JobClaim> take(const std::string& folder,
                                                    const std::string& key);
  /// Removes the files of the claim. The job's entry is written before.
  ~JobClaim();
  JobClaim(JobClaim&& other) noexcept : paths_(std::exchange(other.paths_, {})) {}
  JobClaim(const JobClaim&) = delete;
  JobClaim& operator=(const JobClaim&) = delete;
  JobClaim& operator=(JobClaim&&) = delete;

  void renew() const;

 private:
  explicit JobClaim(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  std::vector<std::string> paths_;  ///< Of void claims, and last of the own one.
};

/// Reads a file of JSON. Throws a failure that names it, and says `why`, if it holds something
/// else.
template <class Read>
auto read_json(const std::string& path, const Read& read,
               const char* why = "is not what `conelab run` wrote") {
  try {
    const ByteFile file(path);
    return read(Json::parse(file.read(0, file.size())));
  } catch (const nlohmann::json::exception&) {
    fail("{}: {}", path, why);
  }
}
/// Writes a file of JSON whole or not at all.
void write_json(const std::string& path, const Json& json);

}  // namespace conelab
