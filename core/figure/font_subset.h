// A small TrueType font with only the glyphs that a figure uses.
//
// Keeps the outlines (composites with their parts) and metrics, drops hinting, kerning and layout.
// Characters that the font lacks are mapped to its replacement box, so that every viewer draws the
// same. Equal input gives equal bytes. Source: OpenType 1.9, chapter "Font file".
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/figure/truetype.h"

namespace conelab::figure {

/// A whole font file named `family` with glyphs for `characters` (at most 65,000).
[[nodiscard]] std::vector<std::uint8_t> subset_font(const TrueType& font,
                                                    const std::set<char32_t>& characters,
                                                    const std::string& family);

/// The whole font under another family name, with its layout tables (for shaped scripts).
[[nodiscard]] std::vector<std::uint8_t> renamed_font(const TrueType& font,
                                                     const std::string& family);

}  // namespace conelab::figure
