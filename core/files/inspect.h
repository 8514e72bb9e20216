// What a file holds, whether it is sound, and which program wrote it: for `conelab inspect`.
//
// Every array is read once, chunk by chunk, so that checksums (Fletcher32 of HDF5, CRC-32 of zip)
// and the seals of our own files are verified; memory stays at one chunk for HDF5 and one array for
// the other formats.
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

/// A group, an array or a link that is not followed.
struct InspectedItem {
  std::string path;  ///< "/layer3/q"; the array's name for formats without groups.
  int depth = 0;     ///< 0: the root, or any array of a format without groups.
  ItemKind kind = ItemKind::group;
  Attributes attributes;
  std::string type;  ///< Arrays: "f32", "text", ...; links: "soft link", ...
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> chunk;  ///< Empty: not chunked.
  std::vector<std::string> filters;
  std::int64_t stored_bytes = 0;        ///< In the file, compressed.
  bool checksummed = false;             ///< Damage of its numbers would be noticed.
  std::optional<AttributeValue> value;  ///< Of an array without axes: its number or short text.
  std::int64_t nan_count = 0;
  std::int64_t infinite_count = 0;
  std::string problem;  ///< Empty: read without complaint.
};

/// Longer texts are no value of an item, in bytes.
inline constexpr std::size_t longest_value = 65536;

/// A file's content, items depth first.
struct Inspection {
  std::string path;
  FileFormat format = FileFormat::hdf5;
  std::uint64_t file_bytes = 0;
  std::string sha256;
  std::string creator;  ///< Attribute of the root, or empty.
  bool sealed = false;  ///< It says what its bytes were (seal.h); others are a problem.
  std::vector<InspectedItem> items;
  /// One line each: the problems of items, and what kept the whole from being read.
  std::vector<std::string> problems;

  [[nodiscard]] bool sound() const { return problems.empty(); }
  /// Arrays in which damage could go unseen.
  [[nodiscard]] std::int64_t unguarded() const;
};

/// Inspects a file; HDF5 in a child process. Damage is told in the result; only what cannot be
/// opened at all (missing, a directory, empty, unknown format) fails. Throws interrupted where
/// `limits.cancelled`, polled throughout, says so.
[[nodiscard]] Inspection inspect(const std::string& path, const SandboxLimits& limits = {});

/// The part of `inspect` that walks HDF5: adds items and problems, in this process.
void inspect_hdf5(Inspection& inspection);

}  // namespace conelab
