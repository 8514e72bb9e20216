// The folder of a study's results, and its index.json: what was to be computed, what is there, and
// which command made it.
//
//   DIR/study.toml            a copy of the study
//   DIR/index.json            format 1: title, seed, quick, program, machine, report, jobs
//   DIR/jobs/                 the results of the jobs and their entries (core/job/job_record.h)
//   DIR/log.txt               a line for each event
//
// Every file is written whole or not at all, so that a kill at any moment loses no finished job.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/job/job_record.h"

namespace conelab {

struct StudyIndex {
  std::string title;
  std::int64_t seed = 1;
  bool quick = false;
  std::string program;
  Json machine, report;
  std::vector<JobRecord> jobs;

  /// Returns how many jobs have this status, of all or of those that are marked.
  [[nodiscard]] std::size_t count(const std::string& status,
                                  const std::vector<bool>& own = {}) const;
};

[[nodiscard]] Json index_to_json(const StudyIndex& index);

/// Returns the index of a folder. Throws a failure if there is none or if it cannot be read.
[[nodiscard]] StudyIndex read_index(const std::string& folder);
/// Writes index.json whole or not at all.
void write_index(const std::string& folder, const StudyIndex& index);

// Joins the folders of a sharded study (study_index.h).

struct MergeResult {
  StudyIndex index;
  /// One line each: results that several folders hold alike; and results of one job that differ, of
  /// which the first was kept, or that are damaged, which were left out.
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
