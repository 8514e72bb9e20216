// A file of unknown origin as bytes at offsets; no read goes beyond its end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace conelab {

/// A regular file opened for reading.
class ByteFile {
 public:
  /// Fails with `PATH: why` for what is missing, a directory, no regular file, unreadable or empty.
  /// Reads poll `cancelled` and throw interrupted where it says so.
  explicit ByteFile(const std::string& path, std::function<bool()> cancelled = {});
  ~ByteFile();
  ByteFile(const ByteFile&) = delete;
  ByteFile& operator=(const ByteFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Reads exactly `count` bytes at `offset`; fails with "truncated: expected ..., have ...".
  void read(std::uint64_t offset, void* bytes, std::uint64_t count) const;
  /// The same as a string.
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t count) const;
  /// At most `count` bytes: fewer at the end of the file.
  [[nodiscard]] std::string peek(std::uint64_t offset, std::uint64_t count) const;

 private:
  void require(std::uint64_t offset, std::uint64_t count) const;

  std::string path_;
  std::function<bool()> cancelled_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// Fails with "PATH: truncated: expected EXPECTED bytes, have HAVE" where HAVE is less.
void check_not_truncated(const std::string& path, std::uint64_t expected, std::uint64_t have);

/// An unsigned little-endian number of `count` <= 8 bytes.
[[nodiscard]] std::uint64_t little_endian(const void* bytes, int count);

}  // namespace conelab
