// Files of labelled hyper-rectangles: results of `bench`, its sealed cases, and other tables.
//
// Each group opens by itself with xarray (netcdf4 and h5netcdf engines), netCDF, h5py and silx:
// every axis is a dimension scale in the variable's own group. Equal content gives equal bytes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/files/labelled_array.h"

namespace conelab {

/// A file: groups by path without a leading slash ("bench/runtime"), in the order written.
struct LabelledFile {
  std::string creator;  ///< Program and version, as the root's attribute `creator`.
  std::vector<std::pair<std::string, LabelledArray>> groups;
  Attributes attributes;  ///< Further attributes of the root.
  /// Of a file that was read: whether its bytes are not those that were written (seal.h).
  bool changed = false;

  /// By path; null where there is none.
  [[nodiscard]] const LabelledArray* group(const std::string& path) const;
};

/// Writes the file atomically: complete under `path`, or `path` untouched.
/// Fails with `PATH: why` (unknown axis, wrong size, full disk, ...). Names are letters, digits
/// and `_ - .`; strings that are not UTF-8 are written with their bad bytes escaped.
void write_labelled(const std::string& path, const LabelledFile& file);

/// Reads one group of a file that `write_labelled` (or `attend`) wrote.
/// Fails with `PATH: what is wrong`; an unknown group is answered with the nearest one.
[[nodiscard]] LabelledArray read_labelled(const std::string& path, const std::string& group);

/// The same for a file that may be of another kind: nothing where it has no such group. Whatever
/// else is wrong fails.
[[nodiscard]] std::optional<LabelledArray> find_labelled(const std::string& path,
                                                         const std::string& group);

/// Reads every group that holds variables.
[[nodiscard]] LabelledFile read_labelled_file(const std::string& path);

}  // namespace conelab
