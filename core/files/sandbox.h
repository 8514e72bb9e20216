// Reads files of unknown origin in a child process.
//
// Damaged HDF5 can make its library crash, hang or ask for all memory. A child process with limits
// on memory, processor time and wall time reads the file and sends plain arrays through a pipe. If
// it fails, the error is one line: `FILE: damaged: the reader crashed (...)`.
//
// Ctrl-C in a terminal reaches the child as well as the parent. The child ignores it, and the
// parent decides. If the parent ends, the kernel ends the child.
//
// The child is forked without exec and uses only HDF5, zlib and memory. The lock of HDF5 is held
// during the fork, so that programs with other threads may call this as well; it is safest to fork
// before starting threads.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/files/archive.h"
#include "core/files/bench_file.h"
#include "core/files/read_tensors.h"

namespace conelab {

/// The only failure of a reading child that is evidence of a damaged file: the child crashed, or
/// took more processor time than any file needs. Other failures of `run_sandboxed` (no process, no
/// memory, a disk that does not answer) concern the machine.
class ReaderCrash : public Error {
 public:
  explicit ReaderCrash(const std::string& message) : Error(ErrorKind::failure, message) {}
};

/// The limits of a reading child. The times are for a small file; `scaled_to` adds to both for
/// larger ones. The processor limit is smaller than the wall limit: a child that loops reaches the
/// former, even on a busy machine, and one that waits for a disk reaches the latter.
struct SandboxLimits {
  /// Memory in addition to that of the process at the fork. Declared arrays are added after they
  /// are checked.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  double seconds = 10;        ///< Wall time.
  int processor_seconds = 5;  ///< Processor time.
  /// Polled while waiting. If it returns true, the child is ended and interrupted is thrown.
  std::function<bool()> cancelled = {};

  /// Returns the same limits with 0.1 s more for each MB of a file of `file_bytes`.
  [[nodiscard]] SandboxLimits scaled_to(std::uint64_t file_bytes) const;
};

/// Raises the memory limit of a child by `bytes`. It serves as `before_allocation`.
void allow_more_memory(std::uint64_t bytes);

/// Runs `produce` in a child and `consume` here on what it sends. An Error that `produce` throws is
/// thrown here; a crash, a limit or a hang throws a failure `PATH: ...`, where `path` is the file
/// that is read. Threads may call this at the same time.
void run_sandboxed(const std::string& path, const SandboxLimits& limits,
                   const std::function<void(ArchiveWriter&)>& produce,
                   const std::function<void(ArchiveReader&)>& consume);

/// Receives an input as the child of read_input_sandboxed sends it. Throws a failure if tensors are
/// missing.
void receive_input(ArchiveReader& reader, Input& input);

/// Does read_input in a child for HDF5, and in this process for the other formats, whose readers
/// belong to this program and poll `limits.cancelled` as well.
[[nodiscard]] Input read_input_sandboxed(const std::string& spec, const InputOptions& options = {},
                                         const SandboxLimits& limits = {});

/// Do read_labelled, find_labelled and read_labelled_file in a child.
[[nodiscard]] LabelledArray read_labelled_sandboxed(const std::string& path,
                                                    const std::string& group,
                                                    const SandboxLimits& limits = {});
[[nodiscard]] std::optional<LabelledArray> find_labelled_sandboxed(
    const std::string& path, const std::string& group, const SandboxLimits& limits = {});
[[nodiscard]] LabelledFile read_labelled_file_sandboxed(const std::string& path,
                                                        const SandboxLimits& limits = {});

}  // namespace conelab
