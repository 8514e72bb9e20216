// A map's cells as an image that is drawn anew only when something about it has changed.
#pragma once

#include <QImage>

#include "widgets/maps/map_camera.h"
#include "widgets/maps/map_colours.h"
#include "widgets/maps/map_pyramid.h"

namespace conelab::desktop {

class MapPicture {
 public:
  /// `width` × `height` of the camera's pixels, `density` of the screen's for each. `summary` is
  /// that of the pyramid, as the limits were made from it.
  const QImage& draw(const MapPyramid& pyramid, const MapSummary& summary, const MapCamera& camera,
                     const ColourChoice& choice, const figure::Limits& limits, double width,
                     double height, double density);

 private:
  QImage image_;
  const MapPyramid* pyramid_ = nullptr;
  std::uint64_t revision_ = 0;
  MapCamera camera_;
  ColourChoice choice_;
  figure::Limits limits_;
};

}  // namespace conelab::desktop
