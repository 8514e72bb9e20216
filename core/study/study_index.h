// The folder of a study's results, and its index.json: what was to be computed, what is there, and
// which command made it.
//
//   DIR/study.toml            a copy of the study
//   DIR/index.json            format 1: title, seed, quick, program, machine, report, jobs
//   DIR/jobs/KEY.h5           the result of a job; KEY is job_key (job_table.h). A figure has
//                             KEY.svg, KEY.pdf and KEY.png
//   DIR/jobs/KEY.json         the job's entry of the index, written after its result
//   DIR/log.txt               a line for each event
//
// Every file is written whole or not at all, so that a kill at any moment loses no finished job.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/files/atomic_file.h"

namespace conelab {

/// A job in the index. Its status is "done", "failed", "waiting" (for the result of another job) or
/// "pending".
struct JobRecord {
  std::string block, kind;
  nlohmann::ordered_json sweep = nlohmann::ordered_json::object();
  std::string name;
  std::string key;                 ///< Empty until its inputs are there.
  std::vector<std::string> files;  ///< In the folder: "jobs/KEY.h5".
  std::string digest;              ///< Of the first file's content, see content_digest (seal.h).
  double seconds = 0;
  std::string status = "pending";
  std::string error;                ///< One line; only of a failed job.
  std::string command;              ///< The command that does the same from within the folder.
  nlohmann::ordered_json spec;      ///< The job with its inputs, which `spec_from_json` reads.
  std::vector<std::string> inputs;  ///< Keys of the jobs that it reads.
  std::vector<std::string> remarks;
  std::map<std::string, double> measures;

  [[nodiscard]] bool done() const { return status == "done"; }
};

struct StudyIndex {
  std::string title;
  std::int64_t seed = 1;
  bool quick = false;
  std::string program;
  nlohmann::ordered_json machine, report;
  std::vector<JobRecord> jobs;

  /// Returns how many jobs have this status.
  [[nodiscard]] std::size_t count(const std::string& status) const;
};

[[nodiscard]] nlohmann::ordered_json record_to_json(const JobRecord& record);
[[nodiscard]] nlohmann::ordered_json index_to_json(const StudyIndex& index);

/// Returns the index of a folder. Throws a failure if there is none or if it cannot be read.
[[nodiscard]] StudyIndex read_index(const std::string& folder);
/// Writes index.json whole or not at all.
void write_index(const std::string& folder, const StudyIndex& index);

/// Returns the entry of a finished job, if its result is in the folder and has not changed since.
[[nodiscard]] std::optional<JobRecord> find_result(const std::string& folder,
                                                   const std::string& key);
/// Writes jobs/KEY.json, after which the job counts as done.
void write_record(const std::string& folder, const JobRecord& record);

/// Creates the folder and locks it against other processes that write it. Throws a failure if
/// another process has it.
[[nodiscard]] FolderLock lock_study(const std::string& folder);

// Joins the folders of a sharded study (study_index.h).

struct MergeResult {
  StudyIndex index;
  /// One line each: results that several folders hold alike, and results of one job that differ, of
  /// which the first was kept.
  std::vector<std::string> duplicates, conflicts;
};

/// Copies the results of all folders to `output` and writes its index. An index that is there
/// already counts as the first of the folders, so that a second merge changes nothing. Throws
/// misuse if the folders hold different studies, a failure if one cannot be read or written, and
/// interrupted once `cancelled` returns true.
[[nodiscard]] MergeResult merge_studies(const std::vector<std::string>& folders,
                                        const std::string& output,
                                        const std::function<bool()>& cancelled);

}  // namespace conelab
