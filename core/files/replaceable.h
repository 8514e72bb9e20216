// What an output may take the place of: nothing, an empty file, or a file of the kind that the
// command itself writes. Whatever else lies there was not meant to be lost.
#pragma once

#include <functional>
#include <string>

#include "core/files/sandbox.h"

namespace conelab {

/// What a result of this program holds, as its root says: "attention", "bench" or "tree". Empty for
/// any other file, also for one that cannot be read.
[[nodiscard]] std::string result_kind(const std::string& path, const SandboxLimits& limits = {});

/// Throws misuse, naming `expected` ("a result of `bench`"), where a regular file lies at `path`
/// that is neither empty nor `own`. Nothing is asked of pipes and devices.
void check_replaceable(const std::string& path, const std::string& expected,
                       const std::function<bool()>& own);

/// The same for a result of the kind `kind`, that `command` writes.
void check_replaceable_result(const std::string& path, const std::string& kind,
                              const std::string& command, const SandboxLimits& limits = {});

}  // namespace conelab
