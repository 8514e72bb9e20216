// LZF, the compression that h5py offers besides deflate, by liblzf. It is read, never written.
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
