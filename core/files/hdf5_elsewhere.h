// Data sets whose numbers lie elsewhere: in raw files, or in other data sets (virtual ones). The
// library reads fill values or zeros in place of what is missing there; these functions say so.
#pragma once

#include <string>

#include "core/files/hdf5_read.h"

namespace conelab::hdf5 {

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

}  // namespace conelab::hdf5
