// Finds out what a file contains, whether it is intact, and which program wrote it, for `conelab
// inspect`.
//
// Every array is read once, chunk by chunk, so that checksums (Fletcher32 of HDF5, CRC-32 of zip)
// and the seals of this program's files are verified. The CRC-32 of zip is verified also for
// members that are no arrays, or arrays of a type that is not read. It needs memory for one chunk
// of HDF5 and for one array of the other formats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/files/labelled_array.h"
#include "core/files/sandbox.h"
#include "core/files/tensor_source.h"

namespace conelab {

enum class ItemKind { group, array, link };

/// A group, an array, or a link that is not followed.
struct InspectedItem {
  std::string path;  ///< "/layer3/q"; for formats without groups the array's name.
  int depth = 0;     ///< 0 for the root, and for any array of a format without groups.
  ItemKind kind = ItemKind::group;
  Attributes attributes;
  std::string type;  ///< For arrays "f32", "text", ...; for links "soft link", ...
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> chunk;  ///< Empty: not chunked.
  std::vector<std::string> filters;
  std::int64_t stored_bytes = 0;  ///< Bytes in the file, compressed.
  bool checksummed = false;       ///< Whether a checksum that was verified protects its numbers.
  std::optional<AttributeValue> value;  ///< For an array without axes: its number or short text.
  std::int64_t nan_count = 0;
  std::int64_t infinite_count = 0;
  std::string problem;  ///< Empty: it was read without an error.
  /// Why its numbers are not read although nothing is known to be wrong with them: a type or filter
  /// that is not read, storage outside the file. Empty: they are read.
  std::string unread;
};

/// The maximum length in bytes of a text that is stored in InspectedItem::value.
inline constexpr std::size_t longest_value = 65536;

/// The content of a file. Items are in depth-first order.
struct Inspection {
  std::string path;
  FileFormat format = FileFormat::hdf5;
  std::uint64_t file_bytes = 0;
  std::string sha256;
  std::string creator;  ///< Attribute `creator` of the root, or empty.
  /// Says whether the file contains the digest of its bytes (seal.h). If the digest does not match,
  /// that is one of the problems.
  bool sealed = false;
  bool locked = false;  ///< Whether nothing could be read because another program holds the file.
  std::vector<InspectedItem> items;
  /// One line each: the problems of items, and why the rest of the file could not be read.
  std::vector<std::string> problems;

  /// Returns whether nothing is wrong with what was read.
  [[nodiscard]] bool sound() const { return problems.empty(); }
  /// Returns the number of arrays whose numbers are not read, see InspectedItem::unread.
  [[nodiscard]] std::int64_t unread() const;
  /// Returns the number of arrays in which damage could remain unnoticed.
  [[nodiscard]] std::int64_t unguarded() const;
};

/// Inspects a file; HDF5 is read in a child process. Damage is reported in the result. Throws a
/// failure only if the file cannot be opened at all (missing, a directory, empty, unknown format),
/// and interrupted if `limits.cancelled`, which is polled, returns true.
[[nodiscard]] Inspection inspect(const std::string& path, const SandboxLimits& limits = {},
                                 bool allow_external = false);
/// Returns what the file declares, without reading the numbers of its arrays, so that damage of
/// these is not found; `sha256` remains empty, and `sealed` false. It takes the time that the file
/// has items, whatever its size.
[[nodiscard]] Inspection outline(const std::string& path, const SandboxLimits& limits = {},
                                 bool allow_external = false);
/// Inspects a file that can be read in about a second; of a larger one it returns the outline.
[[nodiscard]] Inspection inspect_if_small(const std::string& path, const SandboxLimits& limits);

/// The part of `inspect` for HDF5: adds items and problems, in this process. Without `numbers` it
/// is that of `outline`.
void inspect_hdf5(Inspection& inspection, bool allow_external, bool numbers = true);
/// Receives the result of that part from a child process.
void receive_inspection(ArchiveReader& reader, Inspection& inspection);

}  // namespace conelab
