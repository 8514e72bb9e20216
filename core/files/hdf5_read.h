// Reading HDF5 of unknown origin: nothing is followed out of the file, nothing is allocated before
// the declared size has been compared with what is stored. All functions need a Lock held.
//
// Refused, each with one clear line: truncated files, external links, external raw storage, virtual
// data sets, cycles of links, filters other than shuffle, deflate, LZF and Fletcher32, repeated
// compression, chunks above 1 GiB, declared sizes that the compression (deflate at most 1 : 1032)
// could not hold in the bytes stored.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/files/element.h"
#include "core/files/hdf5.h"
#include "core/files/labelled_array.h"

namespace conelab::hdf5 {

/// What the caller permits.
struct ReadRules {
  bool allow_external = false;  ///< Follow links and storage out of the file.
  /// Told the bytes of each large read before memory is taken for it; may throw.
  std::function<void(std::uint64_t)> before_allocation = {};
  /// Chunks of numbers that were never written are sound: they read as the fill value. Only for
  /// callers who read what is written, chunk by chunk, as such a file may declare any size.
  bool allow_unwritten = false;
};

/// Opens a file after comparing its superblock with its real size.
[[nodiscard]] File open_file(const std::string& path);

/// The path without soft links; fails at the first component that is missing (naming the nearest
/// sibling), leads out of the file or closes a cycle.
[[nodiscard]] std::string resolve(const File& file, const std::string& path, const Where& where,
                                  const ReadRules& rules);

enum class LinkKind { missing, hard, soft, external, other };
/// What the link `path` itself is; the path before it must be resolved.
[[nodiscard]] LinkKind link_kind(const File& file, const std::string& path);

enum class ObjectKind { group, dataset, type };
/// The kind of object at a resolved path.
[[nodiscard]] ObjectKind object_kind(const File& file, const Where& where);
/// Its address, which names it uniquely within the file.
[[nodiscard]] std::uint64_t object_address(const File& file, const Where& where);

/// Names of the links in a group, in creation order where the file kept it, else by name.
[[nodiscard]] std::vector<std::string> children(const File& file, const Where& where);

/// What a data set declares and how it is stored.
struct Stored {
  Element element = Element::other;
  std::string type;  ///< For messages: "f32", "compound", "uint16", ...
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> chunk;   ///< Empty: not chunked.
  std::vector<std::string> filters;  ///< "shuffle", "deflate", "fletcher32", "32001 (blosc)".
  std::string refused;               ///< Why its content must not be read; empty: it may.
  std::int64_t stored_bytes = 0;     ///< In the file, compressed.
  bool is_virtual = false;           ///< Made of other data sets, mostly of other files.
  bool checksummed = false;          ///< Every chunk carries a Fletcher32.
  std::int64_t written_chunks = 0;   ///< Under `allow_unwritten`: how many there are.
};
/// Opens a data set at a resolved path, without judging it.
[[nodiscard]] Dataset open_dataset(const File& file, const Where& where);
[[nodiscard]] Stored describe(const Dataset& dataset, const Where& where, const ReadRules& rules);

/// Reads all numbers in their own type, in the machine's byte order: `numbers` has room for
/// count × element_size bytes. Fails where `stored.refused`.
void read_numbers(const Dataset& dataset, const Stored& stored, void* numbers, const Where& where,
                  const ReadRules& rules);

/// Reads all strings, of fixed or variable length, as bytes. Fails where `stored.refused`.
[[nodiscard]] std::vector<std::string> read_strings(const Dataset& dataset, const Stored& stored,
                                                    const Where& where, const ReadRules& rules);

/// An attribute that is a string, a number or a list of either; empty where it is absent or of
/// another kind.
[[nodiscard]] std::optional<AttributeValue> read_attribute(hid_t object, const std::string& name,
                                                           const Where& where);
/// The names of an object's attributes.
[[nodiscard]] std::vector<std::string> attribute_names(hid_t object, const Where& where);

/// Any object at a resolved path, for its attributes.
[[nodiscard]] Object open_object(const File& file, const Where& where);

/// Reads the data sets of a group as a labelled array; members that are no numbers or strings are
/// left out.
[[nodiscard]] LabelledArray read_labelled_group(const File& file, const Where& where);

}  // namespace conelab::hdf5
