// Raster images in files: PNG (ISO/IEC 15948) by libpng, base64 by OpenSSL, and enlarged images,
// whose cells keep sharp edges in viewers that smooth images.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/drawing/display_list.h"

namespace conelab::figure {

/// Text entries (keyword, UTF-8 value). Empty values are left out.
using PngText = std::vector<std::pair<std::string, std::string>>;

/// Encodes `rgba` [rows x columns x 4], 8 bits each, without loss. Opaque images are stored without
/// alpha, and with a palette if they have at most 256 colours. If `dots_per_inch` is 0, no density
/// is stored. Equal input gives equal bytes. Throws a failure if extents and bytes do not match or
/// are 0, or if libpng cannot write the image.
[[nodiscard]] std::vector<std::uint8_t> encode_png(std::size_t columns, std::size_t rows,
                                                   std::span<const std::uint8_t> rgba,
                                                   double dots_per_inch = 0,
                                                   const PngText& text = {});

/// Returns the bytes in base64 with padding (RFC 4648).
[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

/// Returns the image with every cell repeated, so that a pixel is at most 0.25 points wide and
/// high and smoothing blurs no more than that. A side has at most 4096 pixels, unless the image
/// itself has more.
[[nodiscard]] ImageItem enlarged(const ImageItem& image);

}  // namespace conelab::figure
