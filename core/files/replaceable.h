// What an output may take the place of: nothing, an empty file, or a file of the kind that is
// written there. Whatever else lies there was not meant to be lost. Nothing is asked of pipes and
// devices.
#pragma once

#include <string>

#include "core/files/sandbox.h"

namespace conelab {

/// What a result of this program holds, as its root says: "attention", "bench" or "tree". Empty for
/// any other file. Fails where the file cannot be read.
[[nodiscard]] std::string result_kind(const std::string& path, const SandboxLimits& limits = {});

/// Throws misuse where a regular file lies at `path` that is neither empty nor a result of the kind
/// `kind`, that `command` writes; and where it cannot be read, with the reason. And where the name
/// ends as that of a file of another format (arrays, text, figures): results are HDF5.
void check_replaceable_result(const std::string& path, const std::string& kind,
                              const std::string& command, const SandboxLimits& limits = {});

/// The same of a figure of this program, of the format "svg", "pdf" or "png".
void check_replaceable_figure(const std::string& path, const std::string& format);

}  // namespace conelab
