// The header of a .npy array, format versions 1 to 3 (numpy.lib.format).
//
//   \x93NUMPY  major  minor  length (2 or 4 bytes)  {'descr': '<f4', 'fortran_order': False, ...}
//
// The dictionary is parsed by a grammar for literals. Nothing is evaluated or unpickled.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/tensor_source.h"

namespace conelab {

struct NpyHeader {
  std::string descr;  ///< "<f4"
  Element element = Element::other;
  std::size_t item_bytes = 0;  ///< Bytes of one element, also of a string.
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> extents;
  std::uint64_t data_offset = 0;  ///< Where the numbers begin, in bytes.

  /// Returns the bytes of all numbers; 0 for impossible extents, which parsing refuses.
  [[nodiscard]] std::uint64_t data_bytes() const;
  /// Returns the type for messages: `descr`, with a word on types that are known but not read.
  [[nodiscard]] std::string type() const;
};

/// The maximum length of a header, which is numpy's.
constexpr std::uint64_t longest_npy_header = 10000;
/// At most this many bytes are needed to parse a header.
constexpr std::uint64_t most_npy_prefix = longest_npy_header + 12;

/// Parses the first bytes of an array of `total` bytes. Throws a failure `PLACE: what is wrong` if
/// it is not .npy, has an unknown version, a header that is too long or malformed, elements of no
/// bytes or of object dtype (pickle), or is truncated.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view prefix, std::uint64_t total,
                                         const std::string& place);

/// Converts the bytes of an array to the machine's byte order and to row-major order, in place.
void normalise_npy(const NpyHeader& header, void* numbers);

/// The maximum number of strings. A string of one byte takes 32 bytes in memory, so that a file
/// could require far more memory than its size.
constexpr std::size_t most_npy_strings = std::size_t{1} << 24;

/// Returns the strings of an array of dtype S or U as UTF-8, given its stored bytes. Throws a
/// failure `PLACE: ...` if there are more than most_npy_strings.
[[nodiscard]] std::vector<std::string> npy_strings(const NpyHeader& header,
                                                   const std::string& bytes,
                                                   const std::string& place);

}  // namespace conelab
