// The choice of the arrays of a file that are q, k and v, if none of them has these names.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/files/tensor_source.h"

namespace conelab {

struct Inspection;

/// The names of the arrays of a file that are q, k and v; empty: "q", "k" and "v". As with `conelab
/// attend --q NAME --k NAME --v NAME`.
struct ArrayNames {
  std::string query, key, value;
  Reading reading = {};  ///< How these arrays are read.
  bool operator==(const ArrayNames&) const = default;
};

/// An array that may be q, k or v: floating-point numbers of rank 2, 3 or 4.
struct NamedArray {
  std::string name;  ///< In HDF5 its path: "/layer0/query".
  std::vector<std::int64_t> extents;
  std::string type;  ///< "f32".
  /// Returns "/layer0/query   12 × 512 × 64, f32".
  [[nodiscard]] std::string text() const;
};

/// Returns such arrays of an HDF5 file, in the order of the file.
[[nodiscard]] std::vector<NamedArray> arrays_of(const Inspection& inspection);
/// Returns those of an .npz or .safetensors file; only its directory is read. Throws a failure if
/// it cannot be read.
[[nodiscard]] std::vector<NamedArray> arrays_of(const std::string& file, FileFormat format,
                                                const std::function<bool()>& cancelled);

/// Returns the names that most probably mean q, k and v: those with "q" or "query", and the names
/// that differ from it by "k" or "key" and "v" or "value", otherwise the only ones with these
/// words. A name is empty if there is no such array; q is the first other array if no name contains
/// "q" or "query".
[[nodiscard]] ArrayNames guess_arrays(const std::vector<NamedArray>& arrays);

/// Returns in one line why these arrays cannot be q, k and v together; empty if they can. Empty
/// names of k and v stand for q.
[[nodiscard]] std::string array_problem(const std::vector<NamedArray>& arrays,
                                        const ArrayNames& names);

/// Arrays of one group of a file are named within this group, so that the same names open its other
/// layers. In an archive, whose paths have no "/" in front, dots separate groups too: the array
/// "layers.0.q_proj" is q_proj of the group "/layers.0".
struct GroupedNames {
  std::string group;
  ArrayNames arrays;
};
[[nodiscard]] GroupedNames within_group(const ArrayNames& paths);

}  // namespace conelab
