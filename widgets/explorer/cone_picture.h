// A cone scene as fills and lines in pixels, in drawing order; the viewport paints it below its
// controls. All curves come from core/figure/cone_curves.h, so that the screen shows what a figure
// of the same scene exports.
#pragma once

#include <vector>

#include "widgets/explorer/cone_scene.h"
#include "widgets/explorer/curve_line.h"

namespace conelab::desktop {

/// The role of a fill or line. The theme assigns a colour to it.
enum class Ink {
  light,
  excluded,  ///< Finite umbral families: the part next to the light in which no object fits.
  outside,   ///< Outside the model.
  ancestors,
  u,
  v,
  shadow,
  level,
  depth,
  geodesic,
  boundary
};

struct Fill {
  Ink ink;
  double opacity;
  std::vector<Line> contours;  ///< Closed lines, filled by the even-odd rule.
  bool plain = false;          ///< True if contours are convex and do not overlap.
};

struct InkStroke {
  Ink ink;
  double opacity, width;  ///< The width is in pixels.
  bool dashed = false;
  std::vector<Line> pieces;
};

struct ConePicture {
  Line ground;  ///< The closed, convex border of the model; opaque fills cover all outside it.
  std::vector<Fill> fills;
  std::vector<InkStroke> strokes;
};

/// Returns the picture in a flat model.
[[nodiscard]] ConePicture cone_picture(const ConeChoice& choice, const ConeScene& scene,
                                       const PlaneFrame& frame);
/// Return only the fills of cones, common ancestors and objects, or only the lines, in any
/// projection.
[[nodiscard]] std::vector<Fill> cone_fills(const ConeChoice& choice, const ConeScene& scene,
                                           const Projection& project, const figure::Box& box);
[[nodiscard]] std::vector<InkStroke> cone_strokes(const ConeChoice& choice, const ConeScene& scene,
                                                  const Projection& project,
                                                  const figure::Box& box);

}  // namespace conelab::desktop
