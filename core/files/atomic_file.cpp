#include "core/files/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/base/error.h"

namespace conelab {
namespace {

/// A file descriptor; closing is checked by `close`, silent in the destructor.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags, mode_t mode = 0)
      : id_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() {
    if (id_ >= 0) ::close(id_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] bool close() { return ::close(std::exchange(id_, -1)) == 0; }

 private:
  int id_;
};

/// A file beyond RLIMIT_FSIZE is an error to report, not a reason to die.
void report_size_limit_as_error() {
  struct sigaction current {};
  if (sigaction(SIGXFSZ, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) {
    current.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &current, nullptr);
  }
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The path behind symbolic links; the path itself where nothing exists yet.
std::string resolve_links(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::string(real.get()) : path;
}

std::string temporary_name(const std::string& path) {
  static std::atomic<int> counter{0};
  const std::size_t slash = path.rfind('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return fmt::format("{}.{}.{}-{}.tmp", path.substr(0, begin), path.substr(begin, 200), ::getpid(),
                     counter++);
}

bool exists_and_is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/// Fails where `path` may not be replaced; returns the permissions the new file should have.
mode_t check_destination(const std::string& shown, const std::string& path) {
  if (shown.empty() || shown.back() == '/') fail("'{}': not a file name", shown);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail("{}: cannot be written: {}", shown, std::strerror(errno));
    return 0666;
  }
  if (S_ISDIR(status.st_mode)) fail("{}: cannot be written: is a directory", shown);
  if (!S_ISREG(status.st_mode)) fail("{}: cannot be written: is not a regular file", shown);
  if (::access(path.c_str(), W_OK) != 0) {
    fail("{}: cannot be overwritten: {}", shown, std::strerror(errno));
  }
  return status.st_mode & 07777;
}

void write_all(int descriptor, std::string_view content, const std::string& shown) {
  while (!content.empty()) {
    const ssize_t count = ::write(descriptor, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("{}: cannot be written: {}", shown, std::strerror(errno));
    content.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// Writes through an opened path and checks the close, which may be the first to report an error.
void write_file(const std::string& path, int flags, std::string_view content,
                const std::string& shown) {
  Descriptor file(path, O_WRONLY | flags, 0666);
  if (file.id() < 0) fail("{}: cannot be written: {}", shown, std::strerror(errno));
  write_all(file.id(), content, shown);
  if (!file.close()) fail("{}: cannot be written: {}", shown, std::strerror(errno));
}

void synchronise(const std::string& path, const std::string& shown) {
  Descriptor file(path, O_RDONLY);
  if (file.id() < 0 || ::fsync(file.id()) != 0) {
    fail("{}: cannot be written: {}", shown, std::strerror(errno));
  }
}

}  // namespace

AtomicFile::AtomicFile(const std::string& destination)
    : destination_(destination), resolved_(resolve_links(destination)) {
  report_size_limit_as_error();
  const mode_t mode = check_destination(destination_, resolved_);
  const std::string name = temporary_name(resolved_);
  Descriptor file(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file.id() < 0) {
    fail("{}: cannot be written: {} (directory {})", destination_, std::strerror(errno),
         directory_of(resolved_));
  }
  temporary_ = name;
  if (mode != 0666) ::fchmod(file.id(), mode);  // best effort: the content matters more
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::commit() {
  synchronise(temporary_, destination_);
  if (::rename(temporary_.c_str(), resolved_.c_str()) != 0) {
    fail("{}: cannot be written: {}", destination_, std::strerror(errno));
  }
  temporary_.clear();
  synchronise(directory_of(resolved_), destination_);
}

void probe_writable(const std::string& path) { const AtomicFile probe(path); }

void write_text_atomically(const std::string& path, std::string_view content) {
  if (exists_and_is_special(path)) return write_file(path, 0, content, path);
  AtomicFile file(path);
  write_file(file.temporary(), O_TRUNC, content, path);
  file.commit();
}

}  // namespace conelab
