// The conversion of cells to colours, fast enough for every pixel of every frame.
//
// Scales, colour maps and special colours are those of figures (core/figure/heat_values.h). Ranks
// come from the sorted sample of the summary.
#pragma once

#include <array>
#include <cstdint>

#include "core/figure/colour_map.h"
#include "core/figure/heat_values.h"
#include "widgets/maps/map_summary.h"

namespace conelab::desktop {

struct ColourChoice {
  figure::HeatScale scale = figure::HeatScale::linear;
  figure::ColourMap map = figure::ColourMap::sequential;
  bool diverging = false;  ///< Values have signs: limits are symmetric about 0, and so is the map.
  bool zero_special = false;  ///< Whether exact zeros (of weights) have their own colour.
  /// The percentiles of the values at which the colours begin and end.
  double low_percentile = 0, high_percentile = 100;
  bool operator==(const ColourChoice&) const = default;
};

/// Returns the map that a choice draws with: of values with signs a diverging one, dark if the
/// chosen one is.
[[nodiscard]] figure::ColourMap drawn_map(const ColourChoice& choice);

/// The colours of cells without a value. Those of figures would be too bright between the colours
/// of a dark map.
struct SpecialColours {
  figure::Colour zero = figure::zero_colour, masked = figure::masked_colour,
                 nan = figure::nan_colour;
};
[[nodiscard]] SpecialColours special_colours(const ColourChoice& choice);

/// Returns the value below which a share of a sorted sample lies, interpolated between neighbours.
[[nodiscard]] double quantile(const std::vector<float>& sorted, double share);

/// Returns the sorted values that a scale shows, for histograms and percentiles; empty for ranks.
[[nodiscard]] const std::vector<float>& shown_sample(const MapSummary& summary,
                                                     figure::HeatScale scale);

/// Returns the range of a map's colours, for its colour bar and for sharing between maps.
[[nodiscard]] figure::Limits colour_limits(const MapSummary& summary, const ColourChoice& choice);

class MapColours {
 public:
  /// Stores a reference to `summary`, which must outlive this object.
  MapColours(const ColourChoice& choice, const figure::Limits& limits, const MapSummary& summary);

  /// Returns the colour 0xffRRGGBB of a cell in this row of the matrix.
  [[nodiscard]] std::uint32_t operator()(float value, std::int64_t row) const;
  /// Returns the position of the value between the limits, in [0, 1].
  [[nodiscard]] float place(float value, std::int64_t row) const;

 private:
  static constexpr int steps = 1024;
  ColourChoice choice_;
  const MapSummary& summary_;
  float low_ = 0, factor_ = 0;
  std::array<std::uint32_t, steps> table_;
  std::uint32_t masked_, nan_, zero_;
};

}  // namespace conelab::desktop
