// The colour scale of a map on the screen: its bar with ticks, a histogram of the values above it,
// two handles at the limits of the colours, and swatches of the special colours.
#pragma once

#include <QFontMetricsF>
#include <QPainter>
#include <QString>
#include <array>
#include <cstdint>
#include <vector>

#include "core/drawing/colour_map.h"
#include "core/figure/heat_values.h"
#include "widgets/maps/map_layout.h"
#include "widgets/maps/map_pyramid.h"

namespace conelab::desktop {

// The conversion of cells to colours, fast enough for every pixel of every frame.
//
// Scales, colour maps and special colours are those of figures (core/figure/heat_values.h). Ranks
// come from the sorted sample of the summary.

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

struct ColourScale {
  ColourChoice choice;
  figure::Limits range;   ///< The values at the ends of the bar.
  figure::Limits limits;  ///< The values at the ends of the colours; values beyond have the same.
  figure::Specials used;
  QString title;
  std::vector<double> histogram = {};  ///< Heights in [0, 1], over equal parts of the bar.
  bool handles = false;
};

/// The positions of the parts, in the box of the scale.
struct ScalePlace {
  double title = 0;    ///< Width of the title; 0: it is left out.
  Box bar, histogram;  ///< The histogram is empty if there is no space for it.
};
[[nodiscard]] ScalePlace place_scale(const QFontMetricsF& metrics, const Box& box,
                                     const ColourScale& scale);

/// Return the value at a position of the bar, and the position of a value.
[[nodiscard]] double value_at(const ScalePlace& place, const ColourScale& scale, double x);
[[nodiscard]] double place_of(const ScalePlace& place, const ColourScale& scale, double value);

/// Counts the values of sorted samples in `bins` equal parts of a range. Heights are logarithms of
/// the counts, because most weights of attention are small; the highest is 1.
[[nodiscard]] std::vector<double> histogram_of(const std::vector<const MapSummary*>& summaries,
                                               const ColourChoice& choice,
                                               const figure::Limits& range, int bins);

void draw_scale(QPainter& painter, const Box& box, const ColourScale& scale);

}  // namespace conelab::desktop
