// Reads HDF5 of unknown origin. Nothing outside the file is followed, and nothing is allocated
// before the declared size has been compared with the stored bytes. The caller of each function
// must hold a Lock.
//
// These are refused with one line each: truncated files, files that another program has locked,
// external links, external raw storage, virtual data sets of other files, cycles of links, filters
// other than shuffle, deflate, LZF and Fletcher32, repeated compression, chunks above 1 GiB, and
// declared sizes that compression (deflate: at most 1 : 1032) cannot have reduced to the stored
// bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/files/hdf5.h"
#include "core/files/labelled_array.h"
#include "core/files/tensor_source.h"

namespace conelab::hdf5 {

/// Holds what the caller allows.
struct ReadRules {
  bool allow_external = false;  ///< Whether links and storage outside the file are followed.
  /// Receives the bytes of each large read before memory is allocated for it. It may throw.
  std::function<void(std::uint64_t)> before_allocation = {};
  /// Says whether chunks of numbers may be missing, which read as the fill value. Only for callers
  /// that read the stored chunks one by one, because such a file may declare any size.
  bool allow_unwritten = false;
};

/// Opens a file after comparing its superblock with its real size.
[[nodiscard]] File open_file(const std::string& path);

/// Returns the path without soft links. Throws a failure at the first component that is missing (it
/// names the nearest sibling), leads out of the file or closes a cycle.
[[nodiscard]] std::string resolve(const File& file, const std::string& path, const Where& where,
                                  const ReadRules& rules);

enum class LinkKind { missing, hard, soft, external, other };
/// Returns the kind of the link `path` itself. The path before it must be resolved.
[[nodiscard]] LinkKind link_kind(const File& file, const std::string& path);

enum class ObjectKind { group, dataset, type };
/// Returns the kind of the object at a resolved path.
[[nodiscard]] ObjectKind object_kind(const File& file, const Where& where);
/// The file that holds an object, and its address there. Both identify it.
using ObjectAddress = std::pair<unsigned long, std::uint64_t>;
[[nodiscard]] ObjectAddress object_address(const File& file, const Where& where);

/// Returns the names of the links in a group, in creation order if the file stores it, otherwise by
/// name.
[[nodiscard]] std::vector<std::string> children(const File& file, const Where& where);

/// Holds what a data set declares, and how it is stored.
struct Stored {
  Element element = Element::other;
  std::string type;  ///< For messages: "f32", "compound", "uint16", ...
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> chunk;   ///< Empty: not chunked.
  std::vector<std::string> filters;  ///< "shuffle", "deflate", "fletcher32", "32001 (blosc)".
  std::string refused;               ///< Why its content must not be read; empty if it may be read.
  bool damaged = false;              ///< Whether it is refused because its numbers cannot be there.
  std::int64_t stored_bytes = 0;     ///< Bytes in the file, compressed.
  /// Says whether it consists of other data sets, mostly of other files.
  bool is_virtual = false;
  bool checksummed = false;         ///< Whether every chunk has a Fletcher32 checksum.
  std::int64_t written_chunks = 0;  ///< Number of stored chunks; set only if `allow_unwritten`.
};
/// Opens a data set at a resolved path, without checking its content.
[[nodiscard]] Dataset open_dataset(const File& file, const Where& where);
[[nodiscard]] Stored describe(const Dataset& dataset, const Where& where, const ReadRules& rules);

// Data sets whose numbers lie elsewhere: in raw files, or in other data sets (virtual ones). The
// library reads fill values or zeros in place of what is missing there; these functions say so.

/// Why numbers elsewhere are not read; empty if they are.
struct Refusal {
  std::string why;
  bool damaged = false;  ///< Whether they cannot be read because they are not there.
};

/// Examines the raw files that hold the `bytes` of a data set, given its creation properties. Files
/// are found as the library finds them: under HDF5_EXTFILE_PREFIX, otherwise in the working
/// directory.
[[nodiscard]] Refusal refuse_external(hid_t properties, std::uint64_t bytes,
                                      const ReadRules& rules);

/// Examines the sources of a virtual data set of `extents`. Without `rules.allow_external` they
/// must be data sets of the same file that are not virtual themselves.
[[nodiscard]] Refusal refuse_virtual(const Dataset& dataset, hid_t properties,
                                     const std::vector<std::int64_t>& extents, const Where& where,
                                     const ReadRules& rules);

/// Reads all numbers in their own type, in the machine's byte order. `numbers` must hold count ×
/// element_size bytes. With `rows` only these are read, of the last axis but one, one after the
/// other. Throws a failure if `stored.refused` is not empty.
void read_numbers(const Dataset& dataset, const Stored& stored, void* numbers, const Where& where,
                  const ReadRules& rules, const std::vector<Rows>& rows = {});

/// Returns all strings, of fixed or variable length, as bytes. Throws a failure if `stored.refused`
/// is not empty.
[[nodiscard]] std::vector<std::string> read_strings(const Dataset& dataset, const Stored& stored,
                                                    const Where& where, const ReadRules& rules);

/// Returns an attribute that is a string, a number or a list of either; nothing if it is missing or
/// of another kind.
[[nodiscard]] std::optional<AttributeValue> read_attribute(hid_t object, const std::string& name,
                                                           const Where& where);
/// Returns the kind of a result (result_kind.h); `path` is named in errors.
[[nodiscard]] std::string result_kind(const File& file, const std::string& path);
/// Returns the names of an object's attributes.
[[nodiscard]] std::vector<std::string> attribute_names(hid_t object, const Where& where);

/// Opens any object at a resolved path, for its attributes.
[[nodiscard]] Object open_object(const File& file, const Where& where);

/// Reads the data sets of a group as a labelled array. Members that are not numbers or strings are
/// left out.
[[nodiscard]] LabelledArray read_labelled_group(const File& file, const Where& where);

}  // namespace conelab::hdf5
