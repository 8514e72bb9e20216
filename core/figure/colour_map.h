// Colour maps that are perceptually uniform and safe for colour blindness, computed, not tabulated.
//
// Each map is a curve in OKLCh (B. Ottosson, "A perceptual color space for image processing",
// 2020): the lightness falls or rises along it without turning, the hue runs between yellow and
// blue (an axis that red-green blindness keeps), and chroma stays inside what sRGB can show. The
// curve is then walked at constant speed in OKLab, so equal steps of the value look equal.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

enum class ColourMap {
  sequential,  ///< Pale yellow (low) over green and blue to dark violet (high), for white pages.
  dark,        ///< The same reversed: dark (low) to pale (high).
  diverging    ///< Blue (negative) over near white to orange-brown (positive); 0.5 is zero.
};

struct ColourMapInfo {
  ColourMap map;
  const char* name;
  const char* about;
};
[[nodiscard]] const std::vector<ColourMapInfo>& colour_maps();
/// By name; misuse for an unknown one, naming the known.
[[nodiscard]] ColourMap colour_map_from_name(const std::string& name);

/// The colour at t in [0, 1], clamped; NaN gives `nan_colour`.
[[nodiscard]] Colour colour_at(ColourMap map, double t);

// What is no value on the map has a colour that is on no map.
inline constexpr Colour zero_colour{255, 255, 255, 255};    ///< Exactly zero.
inline constexpr Colour masked_colour{196, 196, 196, 255};  ///< Not computed: outside the mask.
inline constexpr Colour nan_colour{230, 0, 115, 255};       ///< Computed and not a number.

/// OKLab lightness and opponents of a colour: L in [0, 1].
struct OkLab {
  double L, a, b;
};
[[nodiscard]] OkLab to_oklab(Colour colour);

}  // namespace conelab::figure
