// Raster images in files: PNG (ISO/IEC 15948) by libpng, base64 by OpenSSL, and cells that stay
// crisp in viewers that smooth images.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// Text entries (keyword, UTF-8 value); empty values are left out.
using PngText = std::vector<std::pair<std::string, std::string>>;

/// Encodes `rgba` [rows x columns x 4], 8 bits each, without loss. Opaque images are stored without
/// alpha, and with a palette where they have at most 256 colours. `dots_per_inch` 0 leaves the
/// density out. Equal input gives equal bytes. Throws a failure when extents and bytes disagree or
/// are 0, or where libpng cannot write the image.
[[nodiscard]] std::vector<std::uint8_t> encode_png(std::size_t columns, std::size_t rows,
                                                   std::span<const std::uint8_t> rgba,
                                                   double dots_per_inch = 0,
                                                   const PngText& text = {});

/// RFC 4648 base64 with padding.
[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

/// The image with every cell repeated in squares of whole pixels until a pixel is at most `pitch`
/// points wide and high, so that smoothing blurs no more than that. At most 4096 pixels a side.
[[nodiscard]] ImageItem enlarged(const ImageItem& image, double pitch = 0.25);

}  // namespace conelab::figure
