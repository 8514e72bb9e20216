// Members of a zip archive, read in memory and in order; nothing is extracted to disk.
//
// Stored and deflated members, zip64. Refused: encryption, other methods, absolute names, `..`,
// duplicates, members that overlap or lie outside the file. Real bytes are counted against what the
// caller expects, and the CRC-32 is checked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/files/byte_file.h"

namespace conelab {

struct ZipMember {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t declared_bytes = 0;
  std::uint64_t data_offset = 0;  ///< Of the stored bytes in the file.
};

/// The members, in the order of the archive's directory. Fails with `FILE: what is wrong`.
[[nodiscard]] std::vector<ZipMember> list_zip(const ByteFile& file);

/// The first `count` bytes of a member, or fewer where it is shorter.
[[nodiscard]] std::string peek_member(const ByteFile& file, const ZipMember& member,
                                      std::uint64_t count);

/// Skips `skip` bytes and reads exactly `count` into `bytes`, which must be all that is left. Fails
/// where the member holds fewer or more, or its CRC-32 differs.
void read_member(const ByteFile& file, const ZipMember& member, std::uint64_t skip, void* bytes,
                 std::uint64_t count);

}  // namespace conelab
