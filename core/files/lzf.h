// LZF, the compression that h5py offers besides deflate. It is read, never written.
//
// M. Lehmann, liblzf (BSD). The bytes are a sequence of runs. A first byte c < 32 is followed by c
// + 1 literal bytes. Otherwise c >> 5 is length - 2 (if it is 7, the next byte is added), and the
// lower five bits of c with the next byte are distance - 1. `length` bytes are then copied from
// `distance` bytes back in the output, which may overlap their destination.
#pragma once

#include <cstddef>
#include <string_view>

namespace conelab::hdf5 {

/// The number of the filter in HDF5, and the largest ratio of unpacked to packed bytes.
inline constexpr int lzf_filter = 32000;
inline constexpr std::size_t best_lzf = 264 / 3;

/// Unpacks into at most `room` bytes at `out`. Returns how many were written, or 0 if `packed` is
/// damaged or its content does not fit. Never reads or writes beyond either end.
[[nodiscard]] std::size_t unpack_lzf(std::string_view packed, char* out, std::size_t room);

/// Registers the filter with the library. The caller must hold a Lock.
void register_lzf();

}  // namespace conelab::hdf5
