#include "core/files/packed_chunks.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include "core/base/parallel.h"
#include "core/files/hdf5_write.h"

namespace conelab::hdf5 {
namespace {

/// First bytes of all elements, then second bytes, ...
std::string shuffled(std::string_view plain, std::size_t element_bytes) {
  const std::size_t count = plain.size() / element_bytes;
  std::string bytes(plain.size(), '\0');
  for (std::size_t b = 0; b < element_bytes; ++b) {
    char* out = bytes.data() + b * count;
    for (std::size_t i = 0; i < count; ++i) out[i] = plain[i * element_bytes + b];
  }
  return bytes;
}

/// HDF5's sum: big-endian words of two bytes, a last odd byte as the upper one.
std::uint32_t fletcher32(std::string_view bytes) {
  constexpr std::size_t words_before_overflow = 360;
  std::uint32_t sum = 0, sum_of_sums = 0;
  const auto fold = [](std::uint32_t x) { return (x & 0xffff) + (x >> 16); };
  std::size_t words = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    const auto upper = static_cast<unsigned char>(bytes[at]);
    const auto lower = static_cast<unsigned char>(at + 1 < bytes.size() ? bytes[at + 1] : 0);
    sum += static_cast<std::uint32_t>(upper << 8 | lower);
    sum_of_sums += sum;
    if (++words % words_before_overflow == 0) sum = fold(sum), sum_of_sums = fold(sum_of_sums);
  }
  sum = fold(fold(sum));
  sum_of_sums = fold(fold(sum_of_sums));
  return sum_of_sums << 16 | sum;
}

/// One chunk out of the rows, filled up with zeros beyond the data set's end.
std::string chunk_of(const char* numbers, const RowsOfHead& rows, hsize_t row, hsize_t column,
                     hsize_t chunk_rows, hsize_t chunk_columns, std::size_t element_bytes) {
  std::string plain(chunk_rows * chunk_columns * element_bytes, '\0');
  const hsize_t width = std::min(chunk_columns, rows.columns - column) * element_bytes;
  for (hsize_t r = 0; r < std::min(chunk_rows, rows.count - row); ++r) {
    std::memcpy(plain.data() + r * chunk_columns * element_bytes,
                numbers + ((row + r) * rows.columns + column) * element_bytes, width);
  }
  return plain;
}

}  // namespace

std::string packed_chunk(std::string_view plain, std::size_t element_bytes) {
  const std::string bytes = shuffled(plain, element_bytes);
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  // It can only run out of memory: the room suffices whatever the bytes are.
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()),
                deflate_level) != Z_OK) {
    throw std::bad_alloc();
  }
  packed.resize(size);
  const std::uint32_t sum = fletcher32(packed);
  for (int shift = 0; shift < 32; shift += 8) packed.push_back(static_cast<char>(sum >> shift));
  return packed;
}

void write_packed_rows(const Dataset& dataset, hsize_t chunk_rows, hsize_t chunk_columns,
                       std::size_t element_bytes, const RowsOfHead& rows, const void* numbers,
                       const Execution& execution, const Where& where) {
  if (rows.count == 0 || rows.columns == 0) return;
  const hsize_t across = (rows.columns + chunk_columns - 1) / chunk_columns;
  const hsize_t down = (rows.count + chunk_rows - 1) / chunk_rows;
  std::vector<std::string> packed(across * down);
  run_tickets(
      static_cast<std::int64_t>(packed.size()), execution, [&](std::int64_t ticket, const auto&) {
        const auto index = static_cast<hsize_t>(ticket);
        packed[index] = packed_chunk(
            chunk_of(static_cast<const char*>(numbers), rows, index / across * chunk_rows,
                     index % across * chunk_columns, chunk_rows, chunk_columns, element_bytes),
            element_bytes);
      });
  for (hsize_t index = 0; index < packed.size(); ++index) {
    const hsize_t offset[4] = {rows.batch, rows.head, rows.first + index / across * chunk_rows,
                               index % across * chunk_columns};
    CONELAB_HDF5(where, "be written",
                 H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, 0, offset, packed[index].size(),
                                packed[index].data()));
  }
}

}  // namespace conelab::hdf5
