// The header of a .npy array, format versions 1 to 3 (numpy.lib.format).
//
//   \x93NUMPY  major  minor  length (2 or 4 bytes)  {'descr': '<f4', 'fortran_order': False, ...}
//
// The dictionary is read by a literal grammar of its own: nothing is ever evaluated or unpickled.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/element.h"

namespace conelab {

struct NpyHeader {
  std::string descr;  ///< "<f4"
  Element element = Element::other;
  std::size_t item_bytes = 0;  ///< Of one element, also of strings.
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> extents;
  std::uint64_t data_offset = 0;  ///< Where the numbers begin.

  /// Bytes of all numbers; 0 where the extents are impossible (which parsing refuses).
  [[nodiscard]] std::uint64_t data_bytes() const;
};

/// The longest header that is read; numpy's own limit.
constexpr std::uint64_t longest_npy_header = 10000;
/// At most this many bytes are needed to parse a header.
constexpr std::uint64_t most_npy_prefix = longest_npy_header + 12;

/// Parses the first bytes of an array of `total` bytes. Fails with `PLACE: what is wrong`: no .npy,
/// unknown version, header too long or malformed, elements of no bytes, object dtype (pickle),
/// truncated.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view prefix, std::uint64_t total,
                                         const std::string& place);

/// Brings the bytes of an array into the machine's byte order and row-major order, in place.
void normalise_npy(const NpyHeader& header, void* numbers);

/// In memory a string of one byte takes 32 times that: a file could ask for far more than its size.
constexpr std::size_t most_npy_strings = std::size_t{1} << 24;

/// The strings of an array of dtype S or U, as UTF-8; `bytes` as stored. Fails with `PLACE: ...`
/// where there are more than most_npy_strings.
[[nodiscard]] std::vector<std::string> npy_strings(const NpyHeader& header,
                                                   const std::string& bytes,
                                                   const std::string& place);

}  // namespace conelab
