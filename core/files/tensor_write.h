// Tensors in the number types of files, written whole or in blocks of rows. Needs a Lock held.
#pragma once

#include "core/base/tensor.h"
#include "core/files/hdf5.h"

namespace conelab::hdf5 {

/// Creates a data set of `dtype`; bf16 as uint16 with the attribute dtype="bfloat16".
[[nodiscard]] Dataset create_tensor(hid_t parent, const std::string& name, Dtype dtype,
                                    const std::vector<hsize_t>& extents,
                                    const std::vector<hsize_t>& chunk, const Where& where);

/// Writes the block that begins at `start` and has `count` numbers along each axis. Float16 and
/// Bfloat16 are written as they are: `dtype` must be theirs.
template <class T>
void write_block(const Dataset& dataset, Dtype dtype, const std::vector<hsize_t>& start,
                 const std::vector<hsize_t>& count, const T* numbers, const Where& where);

}  // namespace conelab::hdf5
