// Reads bytes at offsets of a file of unknown origin, never beyond its end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"

namespace conelab {

struct DeclaredArray;  // core/files/tensor_source.h

/// A regular file that is opened for reading.
class ByteFile {
 public:
  /// Throws a failure `PATH: why` if the file is missing, not regular (such as a directory),
  /// unreadable or empty. Reads poll `cancelled` and throw interrupted if it returns true.
  explicit ByteFile(const std::string& path, std::function<bool()> cancelled = {});
  ~ByteFile();
  ByteFile(const ByteFile&) = delete;
  ByteFile& operator=(const ByteFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Reads exactly `count` bytes at `offset`. Throws a failure "truncated: expected ..., have ..."
  /// if there are fewer.
  void read(std::uint64_t offset, void* bytes, std::uint64_t count) const;
  /// Returns the same bytes as a string.
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t count) const;
  /// Reads array.rows (TensorSource::read_rows) of an array that begins at `offset`, row-major.
  void read_rows(std::uint64_t offset, const DeclaredArray& array, void* numbers) const;
  /// Returns at most `count` bytes; fewer at the end of the file.
  [[nodiscard]] std::string peek(std::uint64_t offset, std::uint64_t count) const;

 private:
  void require(std::uint64_t offset, std::uint64_t count) const;

  std::string path_;
  std::function<bool()> cancelled_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// Returns the size, the times and the number of a file as a text, which is another one whenever
/// the content may be; empty if there is no file.
[[nodiscard]] std::string file_stamp(const std::string& path);

/// The first bytes of HDF5.
inline constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";
/// Returns where HDF5 begins in a file: at 0, 512, 1024, 2048, ... (HDF5 file format, III.A).
[[nodiscard]] std::optional<std::uint64_t> find_hdf5(const ByteFile& file);

/// Throws a failure "PATH: truncated: expected EXPECTED bytes, have HAVE" if HAVE is less than
/// EXPECTED.
void check_not_truncated(const std::string& path, std::uint64_t expected, std::uint64_t have);

/// Returns an unsigned little-endian number of `count` <= 8 bytes.
[[nodiscard]] std::uint64_t little_endian(const void* bytes, int count);

// The failure of data that are not known to be damaged but are not read: an unknown type or filter,
// a lock of another program, storage outside the file.

class Unread : public Error {
 public:
  explicit Unread(const std::string& message) : Error(ErrorKind::failure, message) {}
};

/// Throws Unread with a formatted message.
template <class... Args>
[[noreturn]] void fail_unread(fmt::format_string<Args...> format, Args&&... args) {
  throw Unread(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace conelab
