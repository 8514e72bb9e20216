#include "core/files/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/files/byte_file.h"
#include "core/files/result_kind.h"

namespace conelab {
namespace {

/// Linux follows as many.
constexpr int most_links = 40;

/// A file descriptor. `close` returns whether closing worked; the destructor ignores errors.
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

/// Makes writing beyond RLIMIT_FSIZE an error of the call. Without this, a signal would end the
/// program.
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

/// Returns the path that symbolic links lead to, even if nothing is there, or the path itself if it
/// is not a link.
std::string resolve_links(std::string path) {
  for (int links = 0; links < most_links; ++links) {
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
    if (real) return real.get();
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length < 0) return path;
    const std::string behind(target.data(), static_cast<std::size_t>(length));
    path = behind.starts_with('/') ? behind : directory_of(path) + "/" + behind;
  }
  return path;  // Opening it reports the cycle.
}

/// Returns a text that identifies the machine and the process namespace. Two machines may share a
/// folder, and two containers a machine; equal process numbers then mean different processes.
const std::string& machine_tag() {
  static const std::string tag = [] {
    std::array<char, 256> host{}, space{};
    (void)::gethostname(host.data(), host.size() - 1);
    (void)!::readlink("/proc/self/ns/pid", space.data(), space.size() - 1);
    std::string id;
    std::getline(std::ifstream("/etc/machine-id"), id);
    return sha256(fmt::format("{} {} {}", host.data(), space.data(), id)).substr(0, 8);
  }();
  return tag;
}

/// Returns the beginning of the names of temporary files for a destination, ".NAME.".
std::string temporary_prefix(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return "." + path.substr(slash == std::string::npos ? 0 : slash + 1, 200) + ".";
}

std::string temporary_name(const std::string& path) {
  static std::atomic<int> counter{0};
  return fmt::format("{}/{}{}-{}.tmp", directory_of(path), temporary_prefix(path), process_tag(),
                     counter++);
}

/// Returns whether a file name is that of a temporary file whose process has ended. `prefix` is
/// that of one destination, or empty for all of them.
bool is_left_behind(std::string_view name, const std::string& prefix) {
  const std::size_t at = name.rfind("." + machine_tag() + "-");
  if (at == std::string_view::npos || !name.starts_with('.') || !name.ends_with(".tmp"))
    return false;
  if (!prefix.empty() && name.substr(0, at + 1) != prefix) return false;
  return has_ended(name.substr(at + 1));
}

/// Errors are ignored: files that remain are hidden and do no harm.
void remove_left_behind(const std::string& folder, const std::string& prefix) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_left_behind(entry->path().filename().native(), prefix)) {
      ::unlink(entry->path().c_str());
    }
  }
}

bool exists_and_is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/// Throws a failure if `path` may not be replaced. Returns the permissions of the file that is
/// there.
std::optional<mode_t> check_destination(const std::string& shown, const std::string& path) {
  if (shown.empty() || shown.back() == '/') fail("'{}': not a file name", shown);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail("{}: cannot be written: {}", shown, std::strerror(errno));
    return std::nullopt;
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

/// Writes to a path and checks the result of closing it, which may be the first call to report an
/// error.
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
  const std::optional<mode_t> mode = check_destination(destination_, resolved_);
  const std::string name = temporary_name(resolved_);
  Descriptor file(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file.id() < 0) {
    fail("{}: cannot be written: {} (directory {})", destination_, std::strerror(errno),
         directory_of(resolved_));
  }
  temporary_ = name;
  if (mode) ::fchmod(file.id(), *mode);  // An error is ignored: the content matters more.
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::commit() {
  synchronise(temporary_, destination_);
  const Descriptor directory(directory_of(resolved_), O_RDONLY | O_DIRECTORY);
  if (::rename(temporary_.c_str(), resolved_.c_str()) != 0) {
    fail("{}: cannot be written: {}", destination_, std::strerror(errno));
  }
  temporary_.clear();
  // From here on the file has its final name. A directory that may be written but not read cannot
  // be synchronised, and some file systems do not support the call.
  if (directory.id() < 0 || ::fsync(directory.id()) == 0) return;
  if (errno == EINVAL || errno == ENOTSUP || errno == EROFS) return;
  fail(
      "{}: is written, but may not outlast a power failure: its directory cannot be synchronised: "
      "{}",
      destination_, std::strerror(errno));
}

void remove_temporary_files(const std::string& folder) { remove_left_behind(folder, ""); }

void probe_writable(const std::string& path) {
  const AtomicFile probe(path);
  const std::string resolved = resolve_links(path);
  remove_left_behind(directory_of(resolved), temporary_prefix(resolved));
}

std::string process_tag() { return fmt::format("{}-{}", machine_tag(), ::getpid()); }

bool has_ended(std::string_view tag) {
  if (!tag.starts_with(machine_tag() + "-")) return false;
  tag.remove_prefix(machine_tag().size() + 1);
  pid_t process = 0;
  const auto [rest, error] = std::from_chars(tag.data(), tag.data() + tag.size(), process);
  const bool whole = rest == tag.data() + tag.size() || *rest == '-';
  return error == std::errc() && whole && process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
}

FolderLock::FolderLock(const std::string& folder, const char* busy, bool shared) {
  const std::string path = folder + "/lock";
  file_ = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (file_ < 0) fail("{}: {}", path, std::strerror(errno));
  if (::flock(file_, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(file_);
  fail("{}: {}", folder, busy);
}

FolderLock::~FolderLock() { ::close(file_); }

void write_text_atomically(const std::string& path, std::string_view content) {
  if (exists_and_is_special(path)) return write_file(path, 0, content, path);
  AtomicFile file(path);
  write_file(file.temporary(), O_TRUNC, content, path);
  file.commit();
}

namespace {

struct Marks {
  std::string begin, origin;
};

Marks marks_of(const std::string& format) {
  if (format == "svg") return {"<?xml", "urn:conelab:figure"};
  if (format == "pdf") return {"%PDF", "urn:conelab:figure"};
  using namespace std::string_literals;
  return {"\x89PNG", "iTXtSoftware\0\0\0\0\0conelab "s};
}

/// Returns whether the file is a figure of this program. It is read block by block, because it may
/// be of any size.
bool is_own_figure(const std::string& path, const std::string& format) {
  constexpr std::size_t block = 1 << 20;
  const Marks marks = marks_of(format);
  if (ByteFile(path).peek(0, marks.begin.size()) != marks.begin) return false;
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  do {
    // The mark may begin at the end of what was searched.
    bytes.erase(0, bytes.size() - std::min(bytes.size(), marks.origin.size() - 1));
    const std::size_t kept = bytes.size();
    bytes.resize(kept + block);
    file.read(bytes.data() + kept, block);
    bytes.resize(kept + static_cast<std::size_t>(file.gcount()));
    if (bytes.find(marks.origin) != std::string::npos) return true;
  } while (file);
  return false;
}

/// Throws misuse if a file is neither empty nor `own`. `own` throws a failure if the file cannot be
/// read.
void check_replaceable(const std::string& path, const std::string& expected,
                       const std::function<bool()>& own) {
  namespace fs = std::filesystem;
  // If the file is not accessible, writing it will fail with a better message.
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) == 0 || error) return;
  try {
    if (own()) return;
  } catch (const Error& unread) {
    if (unread.kind() == ErrorKind::interrupted) throw;
    misuse(
        "{}; it may be something else than {}, and would be lost; remove it, or give another name",
        unread.what(), expected);
  }
  misuse("{}: is not {}, and would be lost; remove it, or give another name", path, expected);
}

/// Throws misuse for a path whose extension is that of another format, and for "-".
void check_hdf5_name(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (path == "-") misuse("results are HDF5 files, which are not written to standard output");
  for (const char* other : {".npz", ".npy", ".safetensors", ".pt", ".pth", ".txt", ".csv", ".json",
                            ".svg", ".pdf", ".png"}) {
    if (ending == other) misuse("{}: results are HDF5 files; give a name that ends in .h5", path);
  }
}

}  // namespace

void check_replaceable_result(const std::string& path, const std::string& kind,
                              const SandboxLimits& limits) {
  check_hdf5_name(path);
  check_replaceable(path, "a result of `" + kind + "`",
                    [&] { return result_kind(path, limits) == kind; });
}

void check_replaceable_trace(const std::string& path) {
  check_hdf5_name(path);
  check_replaceable(path, "an HDF5 file of tensors", [&] {
    return ByteFile(path).peek(0, 8) == hdf5_signature && result_kind(path).empty();
  });
}

void check_replaceable_script(const std::string& path, std::string_view mark,
                              const std::string& expected) {
  check_replaceable(path, expected, [&] {
    const ByteFile file(path);
    const std::string text = file.read(0, std::min<std::uint64_t>(file.size(), 4096));
    return text.find(mark) != std::string::npos;
  });
}

void check_replaceable_figure(const std::string& path, const std::string& format) {
  check_replaceable(path, "a figure of this program", [&] { return is_own_figure(path, format); });
}

}  // namespace conelab
