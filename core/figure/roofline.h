// Figure `roofline`: attained against attainable performance.
//
// S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model",
// CACM 52(4), 2009: attainable = min(peak, bandwidth · intensity). Ceilings of arithmetic
// (multiply-add, exponentials) are horizontal, those of memory have slope one; points are kernels.
//
// The intensity is arithmetic intensity over compulsory traffic: FLOP per byte, with inputs read
// and outputs written once. The ridge, where slope and peak meet, separates kernels bounded by
// memory from those bounded by arithmetic.
#pragma once

#include <string>
#include <vector>

#include "core/drawing/display_list.h"
#include "core/drawing/style.h"
#include "core/statistics/interval.h"

namespace conelab::figure {

/// A measured kernel. `low` and `high` bound its performance; 0 if unknown.
struct RooflinePoint {
  std::string name;
  double intensity = 0;    ///< FLOP per compulsory byte.
  double performance = 0;  ///< FLOP/s.
  double low = 0, high = 0;
};

/// A ceiling in FLOP/s, or in bytes/s for memory.
struct RooflineCeiling {
  std::string name;
  double value = 0;
  bool trusted = true;  ///< If false, it bounds nothing and is drawn dashed, like a lower ceiling.
};

struct RooflineFigure {
  /// Ceilings of arithmetic. The highest bounds the roof.
  std::vector<RooflineCeiling> peaks;
  std::vector<RooflineCeiling> bandwidths;  ///< Ceilings of memories. The fastest bounds the roof.
  std::vector<RooflinePoint> points;
  double coverage = usual_level;  ///< Coverage of the intervals of the points, for the caption.
  std::string caption;
  double width = single_column;
  Metadata metadata;
};

/// Draws the figure. The caption contains the numbers of ceilings that have no space next to their
/// line. The ridge is marked if both of its sides are trusted. Points and ceilings that are not
/// positive and finite are left out. Without a bandwidth, peaks are drawn as ceilings across the
/// figure, and the caption says that the slope is missing.
[[nodiscard]] DisplayList draw_roofline(const RooflineFigure& figure);

/// The position of a point on that page.
struct PlacedPoint {
  Point at;
  std::size_t point = 0;  ///< Index into RooflineFigure::points.
};
/// Returns the points that are drawn, in their order.
[[nodiscard]] std::vector<PlacedPoint> roofline_places(const RooflineFigure& figure);

}  // namespace conelab::figure
