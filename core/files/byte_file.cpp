#include "core/files/byte_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/files/tensor_source.h"

namespace conelab {
namespace {

/// Number of bytes between two checks of whether a read was cancelled.
constexpr std::uint64_t most_at_once = std::uint64_t{1} << 26;

}  // namespace

std::string file_stamp(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return "";
  return fmt::format("{} {}.{:09} {}.{:09} {}", s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec,
                     s.st_ctim.tv_sec, s.st_ctim.tv_nsec, s.st_ino);
}

ByteFile::ByteFile(const std::string& path, std::function<bool()> cancelled)
    : path_(path), cancelled_(std::move(cancelled)) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    fail("{}: cannot be opened: {}", path, std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) fail("{}: is a directory (expected a file)", path);
  if (!S_ISREG(status.st_mode)) fail("{}: is not a regular file", path);
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail("{}: cannot be opened: {}", path, std::strerror(errno));
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (size_ == 0) {
    ::close(descriptor_);
    fail("{}: is empty (0 bytes)", path);
  }
}

ByteFile::~ByteFile() { ::close(descriptor_); }

void ByteFile::require(std::uint64_t offset, std::uint64_t count) const {
  if (offset <= size_ && count <= size_ - offset) return;
  const bool overflows = count > std::numeric_limits<std::uint64_t>::max() - offset;
  if (!overflows) check_not_truncated(path_, offset + count, size_);
  fail("{}: truncated or damaged: {} bytes at {} lie outside its {} bytes", path_, count, offset,
       size_);
}

void ByteFile::read(std::uint64_t offset, void* bytes, std::uint64_t count) const {
  require(offset, count);
  auto* next = static_cast<char*>(bytes);
  while (count > 0) {
    stop_if(cancelled_);
    const auto piece = static_cast<std::size_t>(std::min(count, most_at_once));
    const ssize_t got = ::pread(descriptor_, next, piece, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot be read: {}", path_, std::strerror(errno));
    if (got == 0) fail("{}: became shorter while it was read", path_);
    next += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::uint64_t>(got);
  }
}

std::string ByteFile::read(std::uint64_t offset, std::uint64_t count) const {
  require(offset, count);
  std::string bytes(count, '\0');
  read(offset, bytes.data(), count);
  return bytes;
}

void ByteFile::read_rows(std::uint64_t offset, const DeclaredArray& array, void* numbers) const {
  const std::size_t item = element_size(array.element);
  for_each_run(array, [&](std::int64_t first, std::int64_t count, std::int64_t at) {
    read(offset + static_cast<std::uint64_t>(first) * item,
         static_cast<char*>(numbers) + static_cast<std::size_t>(at) * item,
         static_cast<std::uint64_t>(count) * item);
  });
}

std::string ByteFile::peek(std::uint64_t offset, std::uint64_t count) const {
  if (offset >= size_) return {};
  return read(offset, std::min(count, size_ - offset));
}

std::optional<std::uint64_t> find_hdf5(const ByteFile& file) {
  for (std::uint64_t at = 0; at < file.size(); at = at == 0 ? 512 : 2 * at) {
    if (file.peek(at, hdf5_signature.size()) == hdf5_signature) return at;
  }
  return std::nullopt;
}

void check_not_truncated(const std::string& path, std::uint64_t expected, std::uint64_t have) {
  if (have < expected) fail("{}: truncated: expected {} bytes, have {}", path, expected, have);
}

std::uint64_t little_endian(const void* bytes, int count) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes, static_cast<std::size_t>(count));
  return number;
}

}  // namespace conelab
