// Files that are written completely or not at all: a temporary file next to the destination is
// synced and renamed, and the directory is synced. The destination does not change before the
// rename.
#pragma once

#include <string>
#include <string_view>

#include "core/files/sandbox.h"

namespace conelab {

/// A temporary file that becomes `destination` when it is committed and is removed otherwise. If
/// the destination is a symbolic link, the file behind it is written, even if it does not exist
/// yet; the permissions of an existing file are kept. A process that is killed leaves at most a
/// hidden file `.NAME.TAG-PID-N.tmp`, which the next `probe_writable` of the same destination
/// removes. TAG identifies the machine of process PID.
///
/// The first object in a process makes writes beyond RLIMIT_FSIZE return an error instead of
/// raising SIGXFSZ, unless the program handles that signal itself.
class AtomicFile {
 public:
  /// Creates the empty temporary file. Throws a failure `DESTINATION: why` if the directory or an
  /// existing destination is not writable, or if the destination is not a regular file.
  explicit AtomicFile(const std::string& destination);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Returns the path to write to before the commit.
  [[nodiscard]] const std::string& temporary() const { return temporary_; }

  /// Syncs the content and renames the file to the destination. Close every handle before. If the
  /// directory was opened but cannot be synced, the failure says so; the file is complete at its
  /// destination by then.
  void commit();

 private:
  std::string destination_;  ///< As the caller wrote it; for messages.
  std::string resolved_;     ///< Without symbolic links.
  std::string temporary_;    ///< Empty once committed.
};

/// Throws a failure `PATH: why` if a file cannot be written there now, and leaves no file. To be
/// called before long computations. It also removes the temporary files of killed processes.
void probe_writable(const std::string& path);

/// Removes the temporary files of killed processes from a folder.
void remove_temporary_files(const std::string& folder);

/// Returns "TAG-PID", which tells this process from those of other machines.
[[nodiscard]] std::string process_tag();
/// Returns whether a text begins with the tag of a process of this machine that has ended.
[[nodiscard]] bool has_ended(std::string_view process_tag);

/// Holds the file `lock` in a folder, which only one process can hold, or any number that share it.
/// The system releases it when the process ends. Where the file system has no such locks, it holds
/// nothing.
class FolderLock {
 public:
  /// Throws a failure `FOLDER: BUSY` if another process holds it, and does not share it likewise.
  FolderLock(const std::string& folder, const char* busy, bool shared = false);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_ = -1;
};

/// Replaces the content of a text file (or any other) atomically. A destination that is not a
/// regular file (/dev/stdout, a pipe) is written to directly.
void write_text_atomically(const std::string& path, std::string_view content);

// Checks what an output file would replace. It may replace nothing, an empty file, or a file of the
// kind that is written. Any other file is kept, since nobody meant to lose it. Pipes and devices
// are not checked.

/// Throws misuse if there is a regular file at `path` that is neither empty nor a result of this
/// `kind` (result_kind.h), or if it cannot be read (with the reason). Throws misuse as well if the
/// extension is that of another format (arrays, text, figures), and for "-", because results
/// are HDF5.
void check_replaceable_result(const std::string& path, const std::string& kind,
                              const SandboxLimits& limits = {});

/// Does the same for a trace: any HDF5 file that is no result of this program may be replaced.
void check_replaceable_trace(const std::string& path);

/// Does the same for a text: one that holds `mark` may be replaced; the message says `expected`.
void check_replaceable_script(const std::string& path, std::string_view mark,
                              const std::string& expected);

/// Does the same for a figure of this program in the format "svg", "pdf" or "png".
void check_replaceable_figure(const std::string& path, const std::string& format);

}  // namespace conelab
