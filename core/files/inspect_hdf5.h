// The part of inspect that walks HDF5.
#pragma once

#include "core/files/inspect.h"

namespace conelab {

/// Adds the items and problems of an HDF5 file, in this process.
void inspect_hdf5(Inspection& inspection);

}  // namespace conelab
