// Checks what an output file would replace. It may replace nothing, an empty file, or a file of the
// kind that is written. Any other file is kept, since nobody meant to lose it. Pipes and devices
// are not checked.
#pragma once

#include <string>

#include "core/files/sandbox.h"

namespace conelab {

/// Returns the kind of a result of this program as its root names it: "attention", "bench" or
/// "tree". Returns an empty string for any other file. Throws a failure if the file cannot be read.
[[nodiscard]] std::string result_kind(const std::string& path, const SandboxLimits& limits = {});

/// Throws misuse if there is a regular file at `path` that is neither empty nor a result of this
/// `kind`, which `command` writes, or if it cannot be read (with the reason). Throws misuse as well
/// if the extension is that of another format (arrays, text, figures), and for "-", because results
/// are HDF5.
void check_replaceable_result(const std::string& path, const std::string& kind,
                              const std::string& command, const SandboxLimits& limits = {});

/// Does the same for a figure of this program in the format "svg", "pdf" or "png".
void check_replaceable_figure(const std::string& path, const std::string& format);

}  // namespace conelab
