// Hopper's warpgroup product on the host, from the documents alone: it reads its operands through
// their descriptors out of a byte image of shared memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "gpu/hopper/layout.h"

namespace conelab::gpu::tests {

/// Shared memory; byte 0 is 1024-byte aligned.
using Image = std::vector<unsigned char>;

/// Which axis of an operand is contiguous in a line of shared memory.
enum class Major { depth, outer };

/// Element (outer, depth) of the operand behind a descriptor with 128-byte swizzle: PTX ISA's
/// canonical layouts, address bits 4-6 exchanged by exclusive or with bits 7-9.
inline std::uint16_t operand_element(const unsigned char* image, std::uint64_t descriptor,
                                     Major major, int outer, int depth) {
  const auto field = [&](int shift) {
    return static_cast<std::uint32_t>(descriptor >> shift & 0x3fff) << 4;
  };
  const std::uint32_t leading = field(16);
  const std::uint32_t stride = field(32);
  const auto o = static_cast<std::uint32_t>(outer);
  const auto d = static_cast<std::uint32_t>(depth);
  std::uint32_t address = field(0);
  if (major == Major::depth) {
    address += o / 8 * stride + o % 8 * 128 + d * 2;
  } else {
    address += o / 64 * leading + o % 64 * 2 + d / 8 * stride + d % 8 * 128;
  }
  address ^= (address >> 7 & 7u) << 4;
  std::uint16_t bits = 0;
  std::memcpy(&bits, image + address, 2);
  return bits;
}
inline std::uint16_t operand_element(const Image& image, std::uint64_t descriptor, Major major,
                                     int outer, int depth) {
  return operand_element(image.data(), descriptor, major, outer, depth);
}

}  // namespace conelab::gpu::tests
