// One sealed record of an unfinished run, as a small file.
#pragma once

#include <string>

#include "core/base/environment.h"
#include "core/bench/executor.h"

namespace conelab {

/// A sample, or why the case ended.
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

}  // namespace conelab
