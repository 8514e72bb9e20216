#include "core/files/lzf.h"

#include <lzf.h>

#include <limits>

#include "core/files/hdf5.h"

namespace conelab::hdf5 {
namespace {

/// Index of the parameter of h5py's filter that gives the size of an unpacked chunk.
constexpr std::size_t size_value = 2;

/// Unpacks a chunk for HDF5, which calls it. Returns 0 if it fails.
std::size_t filter(unsigned flags, std::size_t value_count, const unsigned values[],
                   std::size_t bytes, std::size_t* buffer_size, void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) == 0 || value_count <= size_value) return 0;
  const std::size_t room = values[size_value];
  if (room == 0 || room / best_lzf > bytes) return 0;
  void* unpacked = H5allocate_memory(room, false);
  if (unpacked == nullptr) return 0;
  const std::size_t written =
      unpack_lzf({static_cast<const char*>(*buffer), bytes}, static_cast<char*>(unpacked), room);
  if (written != room) {
    H5free_memory(unpacked);
    return 0;
  }
  H5free_memory(*buffer);
  *buffer = unpacked;
  *buffer_size = room;
  return written;
}

}  // namespace

std::size_t unpack_lzf(std::string_view packed, char* out, std::size_t room) {
  constexpr std::size_t most = std::numeric_limits<unsigned>::max();
  // The library reads a first byte in any case.
  if (packed.empty() || packed.size() > most || room > most) return 0;
  return lzf_decompress(packed.data(), static_cast<unsigned>(packed.size()), out,
                        static_cast<unsigned>(room));
}

void register_lzf() {
  const H5Z_class2_t lzf{H5Z_CLASS_T_VERS, lzf_filter, 0, 1, "lzf", nullptr, nullptr, filter};
  CONELAB_HDF5((Where{"HDF5 library", ""}), "take the filter lzf", H5Zregister(&lzf));
}

}  // namespace conelab::hdf5
