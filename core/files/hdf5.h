// The one checked wrapper of the HDF5 library.
//
// HDF5 as distributions ship it is not safe under threads: every public function of core/files
// holds `Lock` for as long as it has anything of HDF5 in its hands. The first Lock also sets the
// library up: no work at exit (a failed close would crash there), no plugins (a file could name
// one to load), no printing of errors.
//
// Every call goes through CONELAB_HDF5, which turns a negative result into one line:
//   FILE: /path: cannot read the numbers (H5Dread: inflate() failed)
// Where the environment has CONELAB_DEBUG, the line names the place in these sources as well:
//   FILE: /path: cannot read the numbers (H5Dread at hdf5_read.cpp:120: inflate() failed)
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace conelab::hdf5 {

/// Holds the process-wide lock of HDF5; recursive, so that public functions may call each other.
class Lock {
 public:
  Lock();

  /// In a forked child, whose lock still names a thread of the parent.
  static void renew_after_fork();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

/// What an error message is about: a file and a path inside it (empty: the file itself).
struct Where {
  std::string file;
  std::string path;

  /// "FILE: /path", or "FILE".
  [[nodiscard]] std::string text() const;
  /// The child `name` of this path.
  [[nodiscard]] Where child(const std::string& name) const;
};

/// The innermost message of the library's error stack, and clears it. Where the operating system
/// gave a reason ("No space left on device") that reason alone.
[[nodiscard]] std::string last_error();

[[noreturn]] void fail_call(const Where& where, const char* action, const char* expression,
                            const char* source, int line);

template <class Result>
Result checked(Result result, const Where& where, const char* action, const char* expression,
               const char* source, int line) {
  if (result < 0) fail_call(where, action, expression, source, line);
  return result;
}

/// Evaluates `call`; fails with "`where`: cannot `action` (...)" where its result is negative.
#define CONELAB_HDF5(where, action, call) \
  ::conelab::hdf5::checked((call), (where), (action), #call, __FILE__, __LINE__)

/// Owns an HDF5 identifier. A writer calls `close` and so sees the errors that only closing shows
/// (a full disk); the destructor closes what is left, silently.
template <herr_t (*close_call)(hid_t)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(hid_t id) : id_(id) {}
  Owned(Owned&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Owned() {
    if (id_ >= 0) close_call(id_);
  }

  [[nodiscard]] hid_t id() const { return id_; }
  void close(const Where& where) {
    if (id_ < 0) return;
    checked(close_call(std::exchange(id_, -1)), where, "finish", "closing", __FILE__, __LINE__);
  }

 private:
  hid_t id_ = -1;
};

using File = Owned<H5Fclose>;
using Group = Owned<H5Gclose>;
using Dataset = Owned<H5Dclose>;
using Attribute = Owned<H5Aclose>;
using Space = Owned<H5Sclose>;
using Type = Owned<H5Tclose>;
using Properties = Owned<H5Pclose>;
using Object = Owned<H5Oclose>;

/// IEEE binary16, little endian; HDF5 1.10 has no name for it.
[[nodiscard]] Type f16_type();
/// bfloat16 as a floating-point type; only read (files of ours use uint16 with an attribute).
[[nodiscard]] Type bf16_type();
/// Variable-length UTF-8 string.
[[nodiscard]] Type string_type();

}  // namespace conelab::hdf5
