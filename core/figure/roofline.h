// Figure `roofline`: attained against attainable performance.
//
// S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model",
// CACM 52(4), 2009: attainable = min(peak, bandwidth · intensity). Ceilings of arithmetic are
// horizontal (multiply-add, exponentials), those of memory slope by one; points are kernels.
//
// The intensity is arithmetic intensity over compulsory traffic: FLOP per byte of inputs read and
// outputs written, once each. The ridge, where slope and peak meet, divides what memory bounds from
// what arithmetic bounds.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"
#include "core/figure/style.h"
#include "core/statistics/interval.h"

namespace conelab::figure {

/// A measured kernel; `low` and `high` bound its performance, 0 where unknown.
struct RooflinePoint {
  std::string name;
  double intensity = 0;    ///< FLOP per compulsory byte.
  double performance = 0;  ///< FLOP/s.
  double low = 0, high = 0;
};

/// A ceiling: FLOP/s, or bytes/s for memory.
struct RooflineCeiling {
  std::string name;
  double value = 0;
  bool trusted = true;  ///< False: it bounds nothing, and is drawn dashed like a lower ceiling.
};

struct RooflineFigure {
  std::vector<RooflineCeiling> peaks;       ///< Arithmetic; the highest bounds the roof.
  std::vector<RooflineCeiling> bandwidths;  ///< Memories; the fastest bounds the roof.
  std::vector<RooflinePoint> points;
  double coverage = usual_level;  ///< Of the points' bars, for the caption.
  std::string caption;
  double width = single_column;
  Metadata metadata;
};

/// Numbers of ceilings that have no room beside their line stand in the caption.
/// The roof's ridge is marked where both of its sides are trusted.
/// Points and ceilings that are not positive and finite are left out. Peaks without a bandwidth are
/// drawn as ceilings across the figure, and the caption says that the slope is missing.
[[nodiscard]] DisplayList draw_roofline(const RooflineFigure& figure);

/// Where a point lies on that page.
struct PlacedPoint {
  Point at;
  std::size_t point = 0;  ///< Index into RooflineFigure::points.
};
/// Those that are drawn, in their order.
[[nodiscard]] std::vector<PlacedPoint> roofline_places(const RooflineFigure& figure);

}  // namespace conelab::figure
