// The seal of a file: the SHA-256 of all its bytes, stored in the file itself.
//
// Fletcher32 protects the chunks of large arrays, but not labels of axes, texts and single numbers.
// The coordinate /sha256 contains the 32 bytes of the digest, which is computed with zeros in their
// place. Any later change breaks the seal, whether damage or another program caused it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/files/hdf5.h"

namespace conelab::hdf5 {

/// The name of the data set in the root.
inline constexpr const char* seal_name = "sha256";

enum class Seal { none, whole, broken };

/// Closes a complete file at `path` (messages call it `where.file`) and seals it.
void close_sealed(File& file, const std::string& path, const Where& where);

/// Checks the seal of an open file. `cancelled` is that of ByteFile.
[[nodiscard]] Seal check_seal(const File& file, const std::string& path,
                              const std::function<bool()>& cancelled = {});

}  // namespace conelab::hdf5

namespace conelab {

/// Returns the digest of a file's content as 64 hexadecimal digits: that of its seal, otherwise
/// that of all its bytes. Throws a failure if the file cannot be read, or if its bytes are not
/// those that were sealed, and interrupted if `cancelled` returns true. HDF5 is read in a child
/// process.
[[nodiscard]] std::string content_digest(const std::string& path,
                                         const std::function<bool()>& cancelled = {});

}  // namespace conelab
