// Tensors in the number types of files, written whole or in blocks of rows. Needs a Lock held.
#pragma once

#include "core/base/tensor.h"
#include "core/files/hdf5.h"
#include "core/files/packed_chunks.h"

namespace conelab::hdf5 {

/// Creates a data set of `dtype`; bf16 as uint16 with the attribute dtype="bfloat16".
[[nodiscard]] Dataset create_tensor(hid_t parent, const std::string& name, Dtype dtype,
                                    const std::vector<hsize_t>& extents,
                                    const std::vector<hsize_t>& chunk, const Where& where);

/// Writes rows of one head of a [batch × head × row × column] data set whose chunks are
/// `chunk_rows` × `chunk_columns` of one head; packed by the threads of `execution`.
template <class T>
void write_rows(const Dataset& dataset, Dtype dtype, hsize_t chunk_rows, hsize_t chunk_columns,
                const RowsOfHead& rows, const T* numbers, const Execution& execution,
                const Where& where);

/// Writes the block that begins at `start` and has `count` numbers along each axis. Float16 and
/// Bfloat16 are written as they are: `dtype` must be theirs.
template <class T>
void write_block(const Dataset& dataset, Dtype dtype, const std::vector<hsize_t>& start,
                 const std::vector<hsize_t>& count, const T* numbers, const Where& where);

}  // namespace conelab::hdf5
