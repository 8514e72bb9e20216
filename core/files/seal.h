// The seal of a file: the SHA-256 of all its bytes, stored in the file itself; and what else a
// result file states of itself.
//
// Fletcher32 protects the chunks of large arrays, but not labels of axes, texts and single numbers.
// The coordinate /sha256 contains the 32 bytes of the digest, which is computed with zeros in their
// place. Any later change breaks the seal, whether damage or another program caused it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/files/hdf5.h"
#include "core/files/sandbox.h"

namespace conelab::hdf5 {

/// The name of the data set in the root.
inline constexpr const char* seal_name = "sha256";

enum class Seal { none, whole, broken };

/// The root of a result states these facts besides its kind (result_kind.h).
struct RootFacts {
  std::string shown;  ///< The group that viewers open first; may be empty.
  std::string creator;
  Attributes more = {};
};
/// Writes a result and seals it: `fill` adds what is below the root. It is complete at `path`, or
/// `path` is untouched. Throws a failure `PATH: why`.
void write_sealed(const std::string& path, const RootFacts& root,
                  const std::function<void(const File&)>& fill);

/// Returns the digest that the seal of an open file states, as 64 hexadecimal digits; empty without
/// a seal.
[[nodiscard]] std::string stated_digest(const File& file, const std::string& path);
/// Checks the seal of an open file. `cancelled` is that of ByteFile.
[[nodiscard]] Seal check_seal(const File& file, const std::string& path,
                              const std::function<bool()>& cancelled = {});

}  // namespace conelab::hdf5

namespace conelab {

/// Returns the digest of a file's content as 64 hexadecimal digits: that of its seal, otherwise
/// that of all its bytes. Throws a failure if the file cannot be read, or if its bytes are not
/// those that were sealed, and interrupted if `cancelled` returns true. HDF5 is read in a child
/// process. The content of a folder is the names and sizes of all files below it; links are not
/// followed.
[[nodiscard]] std::string content_digest(const std::string& path,
                                         const std::function<bool()>& cancelled = {});

/// FileNumbers holds what a result file states of itself: its digest and its numbers.
struct FileNumbers {
  hdf5::Seal seal = hdf5::Seal::none;
  std::string digest;  ///< As the seal states it, in hexadecimal digits; empty without a seal.
  /// The attributes of the root and of its groups that are numbers. Of equal names the first
  /// counts.
  std::vector<std::pair<std::string, double>> numbers;
};

/// Reads a file of HDF5 in a child process and compares its bytes with its seal. Throws a failure
/// `FILE: why` if it cannot be read.
[[nodiscard]] FileNumbers read_file_numbers(const std::string& path,
                                            const SandboxLimits& limits = {});

}  // namespace conelab
