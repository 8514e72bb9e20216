// Exact curves as lines in pixels, as fine as the eye can see, and only where they are visible.
//
// A curve is split until each piece deviates by less than 0.1 pixel from its chord. What lies
// outside the visible box is not split further, so that a circle of a million pixels costs no more
// than a small one. Fills are clipped to the box in double, so that the graphics card gets small
// numbers only.
#pragma once

#include <functional>
#include <vector>

#include "core/drawing/display_list.h"
#include "core/figure/hyperbolic_curve.h"

namespace conelab::desktop {

using Line = std::vector<figure::Point>;
/// A map from the closed hyperbolic plane to pixels.
using Projection = std::function<figure::Point(const figure::HemispherePoint&)>;

/// Returns the whole curve as a line. Outside `visible` (plus a margin) it may be coarse, but then
/// it does not cross the box.
[[nodiscard]] Line flattened(const figure::Curve& curve, const Projection& project,
                             const figure::Box& visible);
/// Returns the part of the interior of a closed line that is in the box, as a closed line (even-odd
/// rule).
[[nodiscard]] Line clipped_area(const Line& closed, const figure::Box& box);
/// Returns the pieces of an open line that are in the box.
[[nodiscard]] std::vector<Line> clipped_line(const Line& line, const figure::Box& box);
/// Returns the dashes of a line: `on` pixels are drawn, `off` pixels are left out.
[[nodiscard]] std::vector<Line> dashed(const Line& line, double on, double off);

/// Keeps lines at a distance that the eye can see. A grid of cells (3 pixels) stores the pixels of
/// the lines so far; of a further line only the parts outside these cells and their neighbours are
/// kept.
class LineSpacing {
 public:
  /// Handles lines inside `box`. Parts outside it are always kept.
  explicit LineSpacing(const figure::Box& box);

  /// Returns the parts of a line that are at least one cell away from all lines so far. Parts
  /// shorter than 60 pixels are dropped, so that no line looks dashed, and so are lines shorter
  /// than 15 pixels.
  [[nodiscard]] std::vector<Line> kept(const Line& line) const;
  void add(const std::vector<Line>& lines);

 private:
  [[nodiscard]] bool taken(const figure::Point& p) const;

  figure::Box box_;
  int columns_, rows_;
  std::vector<char> cells_;
};

}  // namespace conelab::desktop
