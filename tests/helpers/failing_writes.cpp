// Loaded into a program before its libraries (LD_PRELOAD), this makes one of its calls fail that
// change regular files: CONELAB_FAULT=N:MODE. The N-th call, from 1, and with MODE
//   once    only that call fails, as of a full disk (ENOSPC),
//   ever    all later calls fail too,
//   before  the process ends before that call, as by kill -9,
//   inside  a write writes half of its bytes first.
// CONELAB_FAULT_COUNT names a file to which each process that makes such calls adds their number.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> calls{0};

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool is_regular(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 0;
}

enum class Fault { none, fail, before, inside };

/// Counts a call and says what happens to it.
Fault next_fault() {
  const long call = ++calls;
  const char* plan = std::getenv("CONELAB_FAULT");
  if (plan == nullptr) return Fault::none;
  char* mode = nullptr;
  const long chosen = std::strtol(plan, &mode, 10);
  const bool is_once = std::strcmp(mode, ":once") == 0, is_ever = std::strcmp(mode, ":ever") == 0;
  if ((is_once && call == chosen) || (is_ever && call >= chosen)) return Fault::fail;
  if (call != chosen || is_once || is_ever) return Fault::none;
  return std::strcmp(mode, ":inside") == 0 ? Fault::inside : Fault::before;
}

/// Returns whether the call goes on. `half` writes half of the bytes of a write.
template <class Half>
bool goes_on(const Half& half) {
  switch (next_fault()) {
    case Fault::none:
      return true;
    case Fault::fail:
      errno = ENOSPC;
      return false;
    case Fault::inside:
      half();
      [[fallthrough]];
    case Fault::before:
      break;
  }
  _exit(137);
}

struct Report {
  ~Report() {
    const char* path = std::getenv("CONELAB_FAULT_COUNT");
    if (path == nullptr || calls == 0) return;
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    dprintf(file, "%ld\n", calls.load());
    close(file);
  }
} report;

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t count) {
  static const auto next = real<ssize_t (*)(int, const void*, size_t)>("write");
  const bool on = !is_regular(descriptor) || goes_on([&] { next(descriptor, bytes, count / 2); });
  return on ? next(descriptor, bytes, count) : -1;
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  static const auto next = real<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  const bool on =
      !is_regular(descriptor) || goes_on([&] { next(descriptor, bytes, count / 2, offset); });
  return on ? next(descriptor, bytes, count, offset) : -1;
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

int fsync(int descriptor) {
  static const auto next = real<int (*)(int)>("fsync");
  return goes_on([] {}) ? next(descriptor) : -1;
}

int ftruncate(int descriptor, off_t length) {
  static const auto next = real<int (*)(int, off_t)>("ftruncate");
  return !is_regular(descriptor) || goes_on([] {}) ? next(descriptor, length) : -1;
}

int ftruncate64(int descriptor, off64_t length) { return ftruncate(descriptor, length); }

int rename(const char* from, const char* to) {
  static const auto next = real<int (*)(const char*, const char*)>("rename");
  return goes_on([] {}) ? next(from, to) : -1;
}

}  // extern "C"
