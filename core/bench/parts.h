// Sealed samples of an unfinished run: one small file each in OUT.parts/.
#pragma once

#include <optional>
#include <string>

#include "core/bench/runner.h"

namespace conelab {

/// One sealed record: a sample, or why the case ended.
struct PartRecord {
  CaseStatus status = CaseStatus::ok;
  std::string reason;
  CaseFacts facts;
  Sample sample;
  MachineState machine;
};

class Parts {
 public:
  /// Opens or creates the folder and takes its lock. Throws misuse as run_bench says, a failure
  /// where another process runs the same sweep.
  Parts(const std::string& output, const Sweep& sweep, bool resume);
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::optional<PartRecord> load(int index, int round) const;
  void seal(int index, int round, const PartRecord& record) const;
  /// Removes the folder: the result file holds everything now.
  void discard();

 private:
  std::string folder_;
  int lock_ = -1;

  [[nodiscard]] std::string path(int index, int round) const;
  void check_sweep_text(const std::string& text, bool resume) const;
  void take_lock();
};

}  // namespace conelab
