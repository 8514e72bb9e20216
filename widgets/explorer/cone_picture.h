// A cone scene as fills and lines of pixels, in drawing order: what the viewport paints below its
// controls. Every curve is one of core/figure/cone_curves.h, so the screen shows what a figure of
// the same scene exports.
#pragma once

#include <vector>

#include "widgets/explorer/cone_scene.h"
#include "widgets/explorer/curve_line.h"

namespace conelab::desktop {

/// What a fill or line stands for; the theme gives it a colour.
enum class Ink {
  light,
  excluded,  ///< Umbral, finite: where no object fits beside the light.
  outside,   ///< Beyond the model.
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
  std::vector<Line> contours;  ///< Closed lines; even-odd inside.
  bool plain = false;          ///< Contours are convex and do not overlap.
};

struct Stroke {
  Ink ink;
  double opacity, width;  ///< Width in pixels.
  bool dashed = false;
  std::vector<Line> pieces;
};

struct ConePicture {
  Line ground;  ///< Closed, convex: outside of it everything is under opaque fills.
  std::vector<Fill> fills;
  std::vector<Stroke> strokes;
};

/// The picture in a flat model.
[[nodiscard]] ConePicture cone_picture(const ConeChoice& choice, const ConeScene& scene,
                                       const PlaneFrame& frame);
/// Only cones, common ancestors and objects, or only the lines, under any projection.
[[nodiscard]] std::vector<Fill> cone_fills(const ConeChoice& choice, const ConeScene& scene,
                                           const Projection& project, const figure::Box& box);
[[nodiscard]] std::vector<Stroke> cone_strokes(const ConeChoice& choice, const ConeScene& scene,
                                               const Projection& project, const figure::Box& box);

}  // namespace conelab::desktop
