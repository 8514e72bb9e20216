// A study: a file of TOML whose blocks are jobs, checked whole and expanded into single jobs before
// anything runs.
//
//   title = "..."
//   takes = "nine minutes"         # how long all jobs take, for lists of studies
//   seed = 1                       # of every job that takes a seed and gives none
//   [[attend]]                     # a kind of job_table.h; its keys are those of the command
//   name = "maps"                  # by which other blocks and the report refer to it
//   input = "trace.h5:/layer3"     # a file, relative to the study, or the name of another block; a
//                                  # file that is not there may be one that ships (shipped_files.h)
//   similarity = ["dot", "umbral"] # a list sweeps: the product of all lists is run
//   keep = ["weights"]             # the value of a list; a list of lists sweeps it
//   gamma = 2                      # a parameter, as with -p
//   tune = { trials = 16, rate = [0.005, 0.5] }   # keys that are searched, see core/jobs/tune.h
//   [report]
//   order = ["text: ...", "maps"]
//   quick = { gamma = 1 }          # the values that --quick gives to these keys
//
// A block that reads a swept block is run once for each of its jobs; input = "NAME*" reads all of
// them at once.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/job/job_spec.h"

namespace conelab {

/// Says where a job reads the output of another one.
struct JobInput {
  std::string field;
  std::size_t entry = 0;  ///< Its place in the field's list; 0 in a field with one text.
  std::size_t job = 0;    ///< Index of the job that is read.
  std::string group;      ///< The group of its file that is read; may be empty.
};

struct StudyJob {
  std::string block;  ///< The name of its block.
  std::string name;   ///< The block's name and the swept values: "points-dot-2-1".
  /// The swept keys with this job's values, in the order of the study, as an object; those of the
  /// jobs that it reads included.
  Json sweep = Json::object();
  int line = 0;  ///< Of its block.
  /// The job without its output. Paths are absolute; where `inputs` say so, the name of a block
  /// stands for the file that is not known yet.
  JobSpec spec;
  std::vector<JobInput> inputs;
  /// A trial has the index of the first trial of the case for which it was added.
  std::optional<std::size_t> first_trial;
};

struct StudyError {
  int line = 0;
  std::string text;
};

struct Study {
  std::string path, text;  ///< The file and its content.
  std::string title;
  std::string takes;  ///< The key `takes`: how long it runs, as "nine minutes; quick: three".
  std::int64_t seed = 1;
  bool quick = false;
  Json report = Json::object();    ///< The table [report].
  std::vector<StudyJob> jobs;      ///< A job comes after those that it reads.
  std::vector<StudyError> errors;  ///< Everything that is wrong, by lines. No job may run then.
};

/// Files that take the place of data sets, by the names of their blocks.
using StudyInputs = std::map<std::string, std::string>;

/// Reads a study. With `quick`, the keys of `quick` replace those of the blocks that have them;
/// then the data sets of `inputs` are imported from these files instead (importer_of of dataset.h),
/// under the keys of their blocks that imports take, such as `sample`. Files that jobs read must
/// exist.
///
/// Throws a failure if the file cannot be read, and misuse for a name of `inputs` that is no data
/// set of the study or a file that is no hierarchy by its ending; what is wrong in the study or in
/// such a file is returned in `errors`.
[[nodiscard]] Study read_study(const std::string& path, bool quick, const StudyInputs& inputs = {});
/// Does the same for this text in place of the file's content.
[[nodiscard]] Study study_of_text(const std::string& path, const std::string& text, bool quick,
                                  const StudyInputs& inputs = {});

}  // namespace conelab
