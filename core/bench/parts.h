// The parts of an unfinished run: one small file for each sample, in OUT.h5.parts/.
//
// Each file is written as temporary -> fsync -> rename -> fsync of the directory, and never changed
// again ("sealed"): a kill at any moment loses at most the sample under way. `run.txt` says which
// run they belong to, and `lock` keeps a second writer out. A part that turns out to be damaged is
// renamed to NAME.damaged, and kept until the run is finished.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/environment.h"
#include "core/bench/executor.h"
#include "core/bench/sweep.h"
#include "core/files/sandbox.h"

namespace conelab {

/// What one part holds: a sample, or why the case ended.
struct PartRecord {
  CaseStatus status = CaseStatus::ok;
  std::string reason;
  CaseFacts facts;
  Sample sample;
  MachineState machine;
};

/// Whole or not at all, see AtomicFile.
void write_part(const std::string& file, const PartRecord& record);
/// Fails where the file cannot be read or holds no record.
[[nodiscard]] PartRecord read_part(const std::string& file);

/// Name and value of what identifies a run: a resumed run must agree in all of them.
using RunIdentity = std::vector<std::pair<std::string, std::string>>;

class Parts {
 public:
  /// Opens or creates the folder and takes its lock. Fails where another process has it. Throws
  /// misuse where the folder holds an unfinished run and `resume` is false, or where that run
  /// differs from `identity`: the message names what differs, expected and found. Damaged parts of
  /// that run are renamed; where it cannot be told which are, fails and changes none, see
  /// `find_damaged`. Throws interrupted where `cancelled`, polled meanwhile, says so.
  Parts(const std::string& output, const RunIdentity& identity, bool resume,
        const std::function<bool()>& cancelled);
  /// Removes a folder that holds no sealed part.
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  /// Whether an unfinished run, one that has sealed something, is stored next to the output. True
  /// where that cannot be seen.
  [[nodiscard]] static bool exist(const std::string& output);
  /// Fails, and says how to go on, where a result that is to be read is missing because its run is
  /// unfinished.
  static void check_finished(const std::string& result);
  /// What identifies that run. Fails where it cannot be read.
  [[nodiscard]] static RunIdentity identity(const std::string& output);
  /// Removes what is left of the parts of a run that was killed while it discarded them. Does
  /// nothing to an unfinished run, or to one that has the lock.
  static void clear_finished(const std::string& output);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// Why each of the renamed parts is damaged: `FILE: why`.
  [[nodiscard]] const std::vector<std::string>& damaged() const { return damaged_; }
  /// The part of a series (schedule.h) in a round; nothing where it is missing or was renamed.
  [[nodiscard]] std::optional<PartRecord> load(int series, int round) const;
  void seal(int series, int round, const PartRecord& record) const;
  /// The time limit of a sample when the unfinished run was last at work; of a new run 0.
  [[nodiscard]] double earlier_limit() const { return earlier_limit_; }
  /// Removes the folder: the result file holds everything now.
  void discard();

 private:
  std::string folder_;
  int lock_ = -1;
  bool discarded_ = false;  ///< Another run may use the folder since.
  double earlier_limit_ = 0;
  std::vector<std::string> damaged_;

  [[nodiscard]] std::string path(int series, int round) const;
  void check_identity(const RunIdentity& identity, bool resume);
  void rename_damaged(const std::function<bool()>& cancelled);
  void take_lock();
};

/// What differs between the identity of an earlier run and this one, one entry a name: "rounds
/// (expected 8, found 9)"; empty where they agree.
[[nodiscard]] std::string identity_difference(const RunIdentity& before, const RunIdentity& now);

/// The damaged ones among `files`, and why: files that were read and hold no record, and files that
/// crash a process which reads nothing else. Damaged HDF5 can make its library crash, so child
/// processes read. `folder` is what the files are in, for messages.
///
/// Fails, naming the file, where it cannot be found out: no process or descriptor to be had, no
/// memory, a file that may not be read, a disk that does not answer. Throws interrupted where
/// `cancelled`, polled throughout, says so.
[[nodiscard]] std::map<std::filesystem::path, std::string> find_damaged(
    const std::string& folder, const std::vector<std::filesystem::path>& files,
    const std::function<bool()>& cancelled);

/// What is stored of a run at its output: the sweep that `--resume` continues unless told
/// otherwise.
struct StoredRun {
  Sweep sweep;
  std::vector<std::string> peers;  ///< Names and versions; their commands are not stored.
};

/// Returns the run stored in the unfinished run next to `output`. If there is none, returns that of
/// the finished result at `output`; if that is missing too, returns nothing. Throws misuse where
/// `output` is a file of another kind, and where the stored sweep cannot be read; fails where the
/// file cannot be read.
[[nodiscard]] std::optional<StoredRun> stored_run(const std::string& output,
                                                  const SandboxLimits& limits = {});

/// Whether there is a finished result at `output`. Throws misuse where it is another kind of file.
[[nodiscard]] bool result_exists(const std::string& output);

/// The items of the sweep of a finished result. Items that the file lacks, because it is older than
/// the option, have their defaults. Fails where the file cannot be read.
[[nodiscard]] RunIdentity items_of_result(const std::string& path, const SandboxLimits& limits);

}  // namespace conelab
