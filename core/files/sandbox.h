// Reading files of unknown origin in a child process.
//
// Damaged HDF5 can make its library crash, hang or ask for all memory. A child with limits on
// memory, processor time and wall time reads, and hands plain arrays over a pipe; whatever happens
// to it becomes one line: `FILE: damaged: the reader crashed (...)`.
//
// Ctrl-C in a terminal reaches the child as well as the parent. The child does not heed it: the
// parent decides, and a child whose parent has ended is ended by the kernel.
//
// The child is forked without exec. It uses HDF5, zlib and memory only; the lock of HDF5 is held
// while forking, so that a program with other threads may call this too, but programs that fork
// before they start threads are safest.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/files/archive.h"
#include "core/files/bench_file.h"
#include "core/files/read_tensors.h"

namespace conelab {

struct SandboxLimits {
  /// Beyond what the process has when forked; declared arrays are added once they are checked.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  double seconds = 60;                   ///< Wall time; 0.1 s are added for each MB of the file.
  int processor_seconds = 60;            ///< Likewise.
  std::function<bool()> cancelled = {};  ///< Polled while waiting; true ends the child and throws
                                         ///< interrupted.
};

/// Raises the memory limit of a child by `bytes`; the argument for `before_allocation`.
void allow_more_memory(std::uint64_t bytes);

/// Runs `produce` in a child and `consume` here on what it sends. An Error that `produce` throws is
/// thrown here; a crash, a limit or a hang fails with `PATH: ...`. `path` is the file that is read.
/// Any number of threads may do so at the same time.
void run_sandboxed(const std::string& path, const SandboxLimits& limits,
                   const std::function<void(ArchiveWriter&)>& produce,
                   const std::function<void(ArchiveReader&)>& consume);

/// read_input in a child for HDF5; in this process for the other formats, whose readers are ours
/// and poll `limits.cancelled` as well.
[[nodiscard]] Input read_input_sandboxed(const std::string& spec, const InputOptions& options = {},
                                         const SandboxLimits& limits = {});

/// read_labelled, find_labelled and read_labelled_file in a child.
[[nodiscard]] LabelledArray read_labelled_sandboxed(const std::string& path,
                                                    const std::string& group,
                                                    const SandboxLimits& limits = {});
[[nodiscard]] std::optional<LabelledArray> find_labelled_sandboxed(
    const std::string& path, const std::string& group, const SandboxLimits& limits = {});
[[nodiscard]] LabelledFile read_labelled_file_sandboxed(const std::string& path,
                                                        const SandboxLimits& limits = {});

}  // namespace conelab
