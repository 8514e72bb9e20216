// Writing of PNG images (ISO/IEC 15948): 8-bit RGBA or RGB, lossless, the same bytes every time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace conelab::figure {

/// Text entries (keyword, UTF-8 value); empty values are left out.
using PngText = std::vector<std::pair<std::string, std::string>>;

/// `rgba` [rows x columns x 4]. Opaque images are stored without alpha, and
/// with a palette where they have at most 256 colours. `dots_per_inch` 0 leaves
/// the density out. Throws a failure when extents and bytes disagree or are 0.
[[nodiscard]] std::vector<std::uint8_t> encode_png(std::size_t columns, std::size_t rows,
                                                   std::span<const std::uint8_t> rgba,
                                                   double dots_per_inch = 0,
                                                   const PngText& text = {});

/// RFC 4648 base64 with padding.
[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace conelab::figure
