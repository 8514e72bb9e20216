// Colour maps that are perceptually uniform and safe for colour blindness. They are computed.
//
// Each map is a curve in OKLCh (B. Ottosson, "A perceptual color space for image processing",
// 2020). Along it the lightness is monotonic, the hue varies between yellow and blue (an axis that
// red-green blindness keeps), and the chroma stays inside sRGB. The curve is parametrised by its
// length in OKLab, so that equal steps of the value look equal.
#pragma once

#include <string>
#include <vector>

#include "core/drawing/display_list.h"

namespace conelab::figure {

enum class ColourMap {
  sequential,  ///< From pale yellow (low) over green and blue to dark violet (high); white pages.
  dark,        ///< The same reversed, from dark (low) to pale (high).
  diverging,   ///< From blue (negative) over near white (zero, at 0.5) to orange-brown (positive).
  dark_diverging  ///< From pale blue (negative) over near black (zero) to pale orange (positive).
};

struct ColourMapInfo {
  ColourMap map;
  const char* name;
  const char* about;
};
[[nodiscard]] const std::vector<ColourMapInfo>& colour_maps();
/// Returns the map of this name. Throws misuse for an unknown one; the message lists the names.
[[nodiscard]] ColourMap colour_map_from_name(const std::string& name);

/// Returns the colour at t, which is clamped to [0, 1]. NaN gives `nan_colour`.
[[nodiscard]] Colour colour_at(ColourMap map, double t);

// Special colours, which occur in no map, for cells without a value on the map.
inline constexpr Colour zero_colour{255, 255, 255, 255};    ///< Exactly zero.
inline constexpr Colour masked_colour{196, 196, 196, 255};  ///< Not computed, outside the mask.
inline constexpr Colour nan_colour{230, 0, 115, 255};       ///< Computed, but not a number.

}  // namespace conelab::figure
