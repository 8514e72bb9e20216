// What the files at a result's place say of the run that they are of: the sweep that `--resume`
// goes on with where nothing else is said.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/bench/parts.h"
#include "core/bench/sweep.h"
#include "core/files/sandbox.h"

namespace conelab {

struct StoredRun {
  Sweep sweep;
  std::vector<std::string> peers;  ///< Names and versions; their commands are not stored.
};

/// Of the unfinished run beside `output`, else of the finished result at it; nothing where neither
/// is there. Throws misuse where a file of another kind lies at `output`, and for a sweep that none
/// can be; fails where it cannot be read.
[[nodiscard]] std::optional<StoredRun> stored_run(const std::string& output,
                                                  const SandboxLimits& limits = {});

/// Whether a finished result lies at `output`. Throws misuse where another kind of file does.
[[nodiscard]] bool result_lies_at(const std::string& output);

/// The items of the sweep of a finished result: what it does not say, because it is older than the
/// option, was the default. Fails where the file cannot be read.
[[nodiscard]] RunIdentity items_of_result(const std::string& path, const SandboxLimits& limits);

}  // namespace conelab
