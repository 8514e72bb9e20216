// Chunks packed by many threads. HDF5 packs one at a time, which for a map takes longer than to
// compute it; here the same bytes are made side by side and handed to H5Dwrite_chunk.
//
// A chunk as create_dataset (hdf5_write.h) stores it: bytes of equal significance together
// (shuffle), deflate, and at the end the Fletcher-32 sum of what deflate made, as HDF5 computes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/parallel.h"
#include "core/files/hdf5.h"

namespace conelab::hdf5 {

/// What HDF5 stores of a chunk of elements of `element_bytes` bytes.
[[nodiscard]] std::string packed_chunk(std::string_view plain, std::size_t element_bytes);

/// Rows [first, first + count) of one head of a [batch × head × row × column] data set.
struct RowsOfHead {
  hsize_t batch = 0, head = 0;
  hsize_t first = 0;  ///< A multiple of the chunk's rows.
  hsize_t count = 0;  ///< A multiple of them as well, but at the data set's end.
  hsize_t columns = 0;
};

/// Writes `numbers` [count × columns], little-endian elements of `element_bytes` bytes as in the
/// file, on the threads of `execution`; chunks are `chunk_rows` × `chunk_columns` of one head.
/// Throws interrupted where `execution.cancelled` says so. Needs a Lock held.
void write_packed_rows(const Dataset& dataset, hsize_t chunk_rows, hsize_t chunk_columns,
                       std::size_t element_bytes, const RowsOfHead& rows, const void* numbers,
                       const Execution& execution, const Where& where);

}  // namespace conelab::hdf5
