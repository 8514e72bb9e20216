// Files that exist whole or not at all: temporary file beside the destination, fsync, rename,
// fsync of the directory. Until the rename the destination is untouched.
#pragma once

#include <string>
#include <string_view>

namespace conelab {

/// A temporary file that becomes `destination` on commit and vanishes otherwise. A destination that
/// is a symbolic link is written through, also where nothing is behind it yet; its permissions are
/// kept. A process that is killed leaves at most a hidden `.NAME.TAG-PID-N.tmp` behind, which the
/// next `probe_writable` of the same destination removes; TAG names the machine whose process PID
/// is.
///
/// The first use in a process makes writes beyond RLIMIT_FSIZE return an error instead of the
/// signal SIGXFSZ, unless the program handles that signal itself.
class AtomicFile {
 public:
  /// Creates the empty temporary file; fails with `DESTINATION: why` where the directory or an
  /// existing destination is not writable, or the destination is no regular file.
  explicit AtomicFile(const std::string& destination);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The path to write to before commit.
  [[nodiscard]] const std::string& temporary() const { return temporary_; }

  /// Makes the content durable under the destination's name. Close every handle before. Where the
  /// directory cannot be made durable although it could be opened, that is what the failure says:
  /// the file is complete in its place by then.
  void commit();

 private:
  std::string destination_;  ///< As the caller wrote it, for messages.
  std::string resolved_;     ///< Without symbolic links.
  std::string temporary_;    ///< Empty once committed.
};

/// Fails with `PATH: why` where a file could not be written there now; creates nothing lasting.
/// Called before long computations. Removes what killed processes left beside it.
void probe_writable(const std::string& path);

/// Replaces the content of a text (or any other) file atomically. A destination that is no regular
/// file (/dev/stdout, a pipe) is written to directly.
void write_text_atomically(const std::string& path, std::string_view content);

}  // namespace conelab
