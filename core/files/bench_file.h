// Files of labelled hyper-rectangles: results of `bench`, its sealed samples, and other tables.
//
// xarray (netcdf4 and h5netcdf engines), netCDF, h5py and silx can open each group alone: every
// axis is a dimension scale in the group of the variable. Equal content gives equal bytes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/tensor.h"
#include "core/files/labelled_array.h"

namespace conelab {

/// A tensor in the root of a file that is written, where readers of traces look for q, k and v.
struct RootTensor {
  std::string name;
  Dtype dtype = Dtype::f32;  ///< Its type in the file; numbers are rounded once.
  std::vector<std::int64_t> extents;
  std::vector<double> numbers;  ///< Row-major.
};

/// A file: its groups by path without a leading slash ("bench/runtime"), in the order in which they
/// are written.
struct LabelledFile {
  std::string creator;  ///< Program and version; attribute `creator` of the root.
  std::vector<std::pair<std::string, LabelledArray>> groups;
  Attributes attributes;                 ///< Further attributes of the root.
  std::vector<RootTensor> tensors = {};  ///< Written only; read_labelled_file leaves them out.
  /// For a file that was read: whether its bytes have changed since they were written (seal.h).
  bool changed = false;

  /// Returns the group with this path, or null.
  [[nodiscard]] const LabelledArray* group(const std::string& path) const;
};

/// Writes the file atomically: it is complete at `path`, or `path` is untouched. Throws a failure
/// `PATH: why` (unknown axis, wrong size, full disk, ...). Names consist of letters, digits and `_
/// - .`. In strings that are not UTF-8 the invalid bytes are escaped.
void write_labelled(const std::string& path, const LabelledFile& file);

/// Reads one group of a file that `write_labelled` (or `attend`) wrote. Throws a failure `PATH:
/// what is wrong`; for an unknown group it names the nearest one.
[[nodiscard]] LabelledArray read_labelled(const std::string& path, const std::string& group);

/// Does the same for a file that may be of another kind: returns nothing if it has no such group.
/// Throws a failure for any other error.
[[nodiscard]] std::optional<LabelledArray> find_labelled(const std::string& path,
                                                         const std::string& group);

/// Reads every group that contains variables.
[[nodiscard]] LabelledFile read_labelled_file(const std::string& path);

}  // namespace conelab
