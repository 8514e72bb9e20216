// LZF, the compression that h5py offers beside deflate: read, never written.
//
// M. Lehmann, liblzf (BSD): the bytes are a sequence of runs. A first byte c < 32 announces c + 1
// literal bytes; otherwise c >> 5 = length - 2 (7: another byte is added to it) and the lower five
// bits with the next byte are a distance - 1 backwards in what was unpacked, from where length
// bytes are copied, possibly over themselves.
#pragma once

#include <cstddef>
#include <string_view>

namespace conelab::hdf5 {

/// HDF5's number of the filter, and the most that three bytes can become.
inline constexpr int lzf_filter = 32000;
inline constexpr std::size_t best_lzf = 264 / 3;

/// Unpacks into `room` bytes at `out`; returns how many were written, or 0 where `packed` is
/// damaged or does not fit. Neither is read or written beyond its end, whatever the bytes are.
[[nodiscard]] std::size_t unpack_lzf(std::string_view packed, char* out, std::size_t room);

/// Makes the filter known to the library. Needs a Lock held.
void register_lzf();

}  // namespace conelab::hdf5
