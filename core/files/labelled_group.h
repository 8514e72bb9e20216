// One labelled hyper-rectangle as a group of an HDF5 file that is being written or read.
#pragma once

#include "core/files/hdf5_read.h"
#include "core/files/labelled_array.h"

namespace conelab::hdf5 {

/// Fails with `where`: what is wrong, for names, axes and sizes that do not fit together.
void check_labelled(const LabelledArray& array, const Where& where);

/// Writes scales, variables and attributes into a new, empty group.
void write_labelled_group(hid_t group, const LabelledArray& array, const Where& where);

/// Reads the data sets of a group; members that are no numbers or strings are left out.
[[nodiscard]] LabelledArray read_labelled_group(const File& file, const Where& where);

}  // namespace conelab::hdf5
