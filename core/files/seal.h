// The seal of a file: the SHA-256 of all of its bytes, kept in the file itself.
//
// Fletcher32 guards the chunks of large arrays; labels of axes, texts and single numbers lie
// outside of them. The coordinate /sha256 holds the 32 bytes of the digest; where they lie, zeros
// are hashed. Any change afterwards breaks the seal: damage, and what another program wrote there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/files/hdf5.h"

namespace conelab::hdf5 {

/// Name of the data set in the root.
inline constexpr const char* seal_name = "sha256";

enum class Seal { none, whole, broken };

/// Closes a file that is complete, at `path` (messages call it `where.file`), and seals it.
void close_sealed(File& file, const std::string& path, const Where& where);

/// Looks at an open file's seal; `cancelled` as of ByteFile.
[[nodiscard]] Seal check_seal(const File& file, const std::string& path,
                              const std::function<bool()>& cancelled = {});

}  // namespace conelab::hdf5
