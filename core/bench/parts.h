// Sealed samples of an unfinished run: one small file each in OUT.h5.parts/.
//
// Every file is written as temporary -> fsync -> rename -> fsync of the directory, and never
// touched again: a kill at any moment loses at most the sample under way. `run.txt` says which run
// they belong to, `lock` keeps a second writer out. A sample that turns out to be damaged stays
// too, as NAME.damaged, until the run is finished.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/bench/part_record.h"

namespace conelab {

/// Name and value of what identifies a run: a resumed run must agree in all of them.
using RunIdentity = std::vector<std::pair<std::string, std::string>>;

class Parts {
 public:
  /// Opens or creates the folder and takes its lock. Fails where another process has it. Throws
  /// misuse where an unfinished run lies there and `resume` is false, or it differs from
  /// `identity`: the message names what differs, expected and found. Damaged samples of that run
  /// are set aside; fails and touches none where it cannot be told which are, see `find_damaged`.
  /// Throws interrupted where `cancelled`, polled meanwhile, says so.
  Parts(const std::string& output, const RunIdentity& identity, bool resume,
        const std::function<bool()>& cancelled);
  /// A folder in which nothing was sealed goes.
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  /// Whether an unfinished run lies beside the output: one that has sealed something. True where
  /// that cannot be seen.
  [[nodiscard]] static bool exist(const std::string& output);
  /// Fails, and says how to go on, where a result that is to be read is missing because its run is
  /// unfinished.
  static void check_finished(const std::string& result);
  /// What identifies that run. Fails where it cannot be read.
  [[nodiscard]] static RunIdentity identity(const std::string& output);
  /// Removes what a run that was killed while it discarded its samples left of them; leaves an
  /// unfinished run, and one that has the lock, alone.
  static void clear_finished(const std::string& output);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// Why each of the samples that were set aside is damaged: `FILE: why`.
  [[nodiscard]] const std::vector<std::string>& damaged() const { return damaged_; }
  /// The sealed record of a slot in a round; nothing where it is still missing, or was set aside.
  [[nodiscard]] std::optional<PartRecord> load(int slot, int round) const;
  void seal(int slot, int round, const PartRecord& record) const;
  /// Seconds that a sample might take when the unfinished run was last at work; of a new run 0.
  [[nodiscard]] double earlier_limit() const { return earlier_limit_; }
  /// Removes the folder: the result file holds everything now.
  void discard();

 private:
  std::string folder_;
  int lock_ = -1;
  bool discarded_ = false;  ///< Another run may lie here since.
  double earlier_limit_ = 0;
  std::vector<std::string> damaged_;

  [[nodiscard]] std::string path(int slot, int round) const;
  void check_identity(const RunIdentity& identity, bool resume);
  void set_damaged_aside(const std::function<bool()>& cancelled);
  void take_lock();
};

/// What differs between the identity of an earlier run and this one, one entry a name: "rounds
/// (expected 8, found 9)"; empty where they agree.
[[nodiscard]] std::string identity_difference(const RunIdentity& before, const RunIdentity& now);

}  // namespace conelab
