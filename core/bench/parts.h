// The parts of an unfinished run: one small text file for each sample, in
// OUT.h5.parts/, whose last line is the digest of the others.
//
// Each file is written to a temporary one, which is synced, renamed and the directory synced. A
// file is never changed after that ("sealed"), so that a kill at any moment loses at most the
// current sample. `run.txt` identifies the run, and `lock` excludes a second writer. A part that
// turns out to be damaged is renamed to NAME.damaged and kept until the run is finished.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/environment.h"
#include "core/bench/executor.h"
#include "core/bench/sweep.h"
#include "core/files/atomic_file.h"
#include "core/files/sandbox.h"

namespace conelab {

/// The contents of a part: a sample, or the reason why the case ended.
struct PartRecord {
  CaseStatus status = CaseStatus::ok;
  std::string reason;
  CaseFacts facts;
  Sample sample;
  MachineState machine;
};

/// Writes a part completely or not at all, see AtomicFile.
void write_part(const std::string& file, const PartRecord& record);
/// Reads a part. Returns nothing if its bytes are not those that were written; throws a failure if
/// the file cannot be read.
[[nodiscard]] std::optional<PartRecord> read_part(const std::string& file);

/// Names and values that identify a run. A resumed run must agree in all of them.
using RunIdentity = std::vector<std::pair<std::string, std::string>>;

class Parts {
 public:
  /// Opens or creates the folder and locks it. Throws a failure if another process has locked it.
  /// Throws misuse if the folder contains an unfinished run and `resume` is false, or if that run
  /// differs from `identity`; the message names the differences, expected and found. Damaged parts
  /// of that run are renamed; throws a failure if one cannot be read. Throws interrupted if
  /// `cancelled`, which is polled, returns true.
  Parts(const std::string& output, const RunIdentity& identity, bool resume,
        const std::function<bool()>& cancelled);
  /// Removes a folder without sealed parts and releases the lock.
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  /// Returns whether an unfinished run with a sealed part is stored next to the output. Returns
  /// true if that cannot be determined.
  [[nodiscard]] static bool exist(const std::string& output);
  /// Returns whether a run was begun there, perhaps without a sealed part so far.
  [[nodiscard]] static bool begun(const std::string& output);
  /// Throws a failure, which says how to continue, if a result is missing because its run is
  /// unfinished.
  static void check_finished(const std::string& result);
  /// Returns the identity of that run. Throws a failure if it cannot be read.
  [[nodiscard]] static RunIdentity identity(const std::string& output);
  /// Removes the remaining parts of a run that was killed while it discarded them. Does nothing to
  /// an unfinished run or if another process has the lock.
  static void clear_finished(const std::string& output);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// Returns for each renamed part why it is damaged: `FILE: why`.
  [[nodiscard]] const std::vector<std::string>& damaged() const { return damaged_; }
  /// Returns the part of a series (schedule.h) in a round, or nothing if it is missing or was
  /// renamed.
  [[nodiscard]] std::optional<PartRecord> load(int series, int round) const;
  void seal(int series, int round, const PartRecord& record) const;
  /// Returns the time limit of a sample of the unfinished run; 0 for a new run.
  [[nodiscard]] double earlier_limit() const { return earlier_limit_; }
  /// Removes the folder once the result file contains everything.
  void discard();

 private:
  std::string folder_;
  FolderLock lock_;
  bool discarded_ = false;  ///< The folder may belong to another run since.
  double earlier_limit_ = 0;
  std::vector<std::string> damaged_;

  [[nodiscard]] std::string path(int series, int round) const;
  void check_identity(const RunIdentity& identity, bool resume);
  void rename_damaged(const std::function<bool()>& cancelled);
};

/// Returns the differences between the identity of an earlier run and this one, as "rounds
/// (expected 8, found 9)" joined by commas; empty if they agree.
[[nodiscard]] std::string identity_difference(const RunIdentity& before, const RunIdentity& now);

/// Holds what a run stores next to its output about itself. `--resume` continues this sweep unless
/// options change it.
struct StoredRun {
  Sweep sweep;
  std::vector<std::string> peers;  ///< Names and versions. Their commands are not stored.
};

/// Returns the run stored in the unfinished run next to `output`, with or without a sealed part. If
/// there is none, returns that of
/// the finished result at `output`; if that is missing too, returns nothing. Throws misuse if
/// `output` is a file of another kind, or if the stored sweep cannot be parsed. Throws a failure if
/// the file cannot be read.
[[nodiscard]] std::optional<StoredRun> stored_run(const std::string& output,
                                                  const SandboxLimits& limits = {});

/// Returns whether there is a finished result at `output`. Throws misuse if it is another kind of
/// file.
[[nodiscard]] bool result_exists(const std::string& output);

/// Returns the items of the sweep of a finished result. Items that the file lacks, because it is
/// older than the option, have their defaults. Throws a failure if the file cannot be read.
[[nodiscard]] RunIdentity items_of_result(const std::string& path, const SandboxLimits& limits);

}  // namespace conelab
