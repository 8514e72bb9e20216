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

#include "core/base/error.h"
#include "core/files/archive.h"
#include "core/files/bench_file.h"
#include "core/files/read_tensors.h"

namespace conelab {

/// The one failure of a reading child that says something of its file rather than of the machine:
/// the child crashed, or took more processor time than any file explains. What `run_sandboxed` says
/// otherwise (no process to be had, no memory, a disk that does not answer) is no evidence of
/// damage.
class ReaderCrash : public Error {
 public:
  explicit ReaderCrash(const std::string& message) : Error(ErrorKind::failure, message) {}
};

/// What a reading child may use. The times are those for a small file; `scaled_to` adds to both for
/// larger ones. The processor limit is the smaller one: a child that spins meets it first and is
/// known to spin, even where the machine has other work; a disk that does not answer meets the
/// other.
struct SandboxLimits {
  /// Beyond what the process has when forked; declared arrays are added once they are checked.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  double seconds = 10;                   ///< Wall time.
  int processor_seconds = 5;             ///< Processor time.
  std::function<bool()> cancelled = {};  ///< Polled while waiting; true ends the child and throws
                                         ///< interrupted.

  /// The same limits with 0.1 s more for each MB of a file of `file_bytes`.
  [[nodiscard]] SandboxLimits scaled_to(std::uint64_t file_bytes) const;
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
