// The checked wrapper of the HDF5 library, through which all calls go.
//
// HDF5 as distributions ship it is not thread-safe: every public function of core/files holds
// `Lock` while it uses HDF5. The first Lock also configures the library: no cleanup at exit (a
// failed close would crash there), no plugins (a file could name one to load), and no printing of
// errors.
//
// Every call goes through CONELAB_HDF5, which turns a negative result into a failure with one line:
//   FILE: /path: cannot read the numbers (H5Dread: inflate() failed)
// With CONELAB_DEBUG in the environment, the line also names the place in the sources:
//   FILE: /path: cannot read the numbers (H5Dread at hdf5_read.cpp:120: inflate() failed)
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/rows.h"

namespace conelab::hdf5 {

/// Holds the lock of HDF5, which is shared by the process and recursive, so that public functions
/// can call each other.
class Lock {
 public:
  Lock();

  /// Renews the lock in a forked child, in which it still belongs to a thread of the parent.
  static void renew_after_fork();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

/// Holds what an error message is about: a file and a path inside it (empty: the file itself).
struct Where {
  std::string file;
  std::string path;

  /// Returns "FILE: /path" or "FILE".
  [[nodiscard]] std::string text() const;
  /// Returns the child `name` of this path.
  [[nodiscard]] Where child(const std::string& name) const;
};

/// Returns the paths of a group and of those above it: "/bench" and "/bench/runtime" for
/// "bench/runtime".
[[nodiscard]] std::vector<std::string> prefixes(const std::string& path);

/// Returns the innermost message of the library's error stack and clears the stack. If the
/// operating system gave a reason ("No space left on device"), returns only that.
[[nodiscard]] std::string last_error();

[[noreturn]] void fail_call(const Where& where, const char* action, const char* expression,
                            const char* source, int line);

template <class Result>
Result checked(Result result, const Where& where, const char* action, const char* expression,
               const char* source, int line) {
  if (result < 0) fail_call(where, action, expression, source, line);
  return result;
}

/// Evaluates `call`. Throws a failure "`where`: cannot `action` (...)" if its result is negative.
#define CONELAB_HDF5(where, action, call) \
  ::conelab::hdf5::checked((call), (where), (action), #call, __FILE__, __LINE__)

/// Owns an HDF5 identifier. A writer calls `close`, which reports errors that occur only then (a
/// full disk). The destructor closes without reporting errors.
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

/// Returns the type of Number in files, which is also that in memory: both are little endian. The
/// 16-bit floats of half.h count as their bits.
template <class Number>
[[nodiscard]] hid_t number_type() {
  constexpr bool whole = std::is_integral_v<Number>, has_sign = std::is_signed_v<Number>;
  switch (sizeof(Number)) {
    case 8:
      return !whole ? H5T_IEEE_F64LE : has_sign ? H5T_STD_I64LE : H5T_STD_U64LE;
    case 4:
      return !whole ? H5T_IEEE_F32LE : has_sign ? H5T_STD_I32LE : H5T_STD_U32LE;
    case 2:
      return has_sign ? H5T_STD_I16LE : H5T_STD_U16LE;
    default:
      return has_sign ? H5T_STD_I8LE : H5T_STD_U8LE;
  }
}
/// Returns IEEE binary16, little endian, for which HDF5 1.10 has no name.
[[nodiscard]] Type f16_type();
/// Returns bfloat16 as a floating-point type. It is only read; files of this program use uint16
/// with an attribute.
[[nodiscard]] Type bf16_type();
/// Returns the type of UTF-8 strings of variable length.
[[nodiscard]] Type string_type();

/// Returns a space with these extents; of one number without any.
[[nodiscard]] Space simple_space(const std::vector<hsize_t>& extents, const Where& where);
/// Returns the extents of a space.
[[nodiscard]] std::vector<hsize_t> extents_of(const Space& space, const Where& where);
/// Selects rows of one axis of a space, and all of its other axes.
void select_rows(const Space& space, std::size_t axis, Rows rows, const Where& where);

// LZF, the compression that h5py offers besides deflate, by liblzf. It is read, never written.

/// The number of the filter in HDF5, and the largest ratio of unpacked to packed bytes.
inline constexpr int lzf_filter = 32000;
inline constexpr std::size_t best_lzf = 264 / 3;

/// Unpacks into at most `room` bytes at `out`. Returns how many were written, or 0 if `packed` is
/// damaged or its content does not fit. Never reads or writes beyond either end.
[[nodiscard]] std::size_t unpack_lzf(std::string_view packed, char* out, std::size_t room);

}  // namespace conelab::hdf5
