// Exact curves as lines of pixels: as fine as the eye needs, only where they are seen.
//
// A curve is split until each piece stays within 0.1 pixel of its chord, and what lies outside the
// visible box is not split further, so that a circle of a million pixels costs no more than a small
// one. Fills are clipped to the box in double; the graphics card gets small numbers only.
#pragma once

#include <functional>
#include <vector>

#include "core/figure/display_list.h"
#include "core/figure/hyperbolic_curve.h"

namespace conelab::desktop {

using Line = std::vector<figure::Point>;
/// From the closed hyperbolic plane to pixels.
using Projection = std::function<figure::Point(const figure::HemispherePoint&)>;

/// The whole curve; what is outside `visible` (with a margin) may be coarse, but never crosses it.
[[nodiscard]] Line flattened(const figure::Curve& curve, const Projection& project,
                             const figure::Box& visible);
/// The part of a closed line's inside that is in the box, as a closed line; even-odd inside.
[[nodiscard]] Line clipped_area(const Line& closed, const figure::Box& box);
/// The pieces of an open line that are in the box.
[[nodiscard]] std::vector<Line> clipped_line(const Line& line, const figure::Box& box);
/// The dashes of a line: `on` pixels drawn, `off` left out.
[[nodiscard]] std::vector<Line> dashed(const Line& line, double on, double off);

}  // namespace conelab::desktop
