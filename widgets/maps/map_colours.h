// Cells to colours, fast enough for every pixel of every frame.
//
// The same scales, maps and special colours as in figures (core/figure/heat_values.h); ranks come
// from the sorted sample of the summary.
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
  bool diverging = false;     ///< A difference: limits symmetric about 0, diverging map.
  bool zero_special = false;  ///< Exact zeros have their own colour (weights).
  bool operator==(const ColourChoice&) const = default;
};

/// The range that a map's colours span, for the bar beside it and for sharing between maps.
[[nodiscard]] figure::Limits colour_limits(const MapSummary& summary, const ColourChoice& choice);

class MapColours {
 public:
  /// `summary` is kept by reference and must outlive this.
  MapColours(const ColourChoice& choice, const figure::Limits& limits, const MapSummary& summary);

  /// 0xffRRGGBB of a cell in this row of the matrix.
  [[nodiscard]] std::uint32_t operator()(float value, std::int64_t row) const;
  /// Where the value lies between the limits, in [0, 1].
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
