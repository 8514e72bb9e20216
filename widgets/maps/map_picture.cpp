#include "widgets/maps/map_picture.h"

#include <cmath>

#include "widgets/maps/map_raster.h"

namespace conelab::desktop {

const QImage& MapPicture::draw(const MapPyramid& pyramid, const MapSummary& summary,
                               const MapCamera& camera, const ColourChoice& choice,
                               const figure::Limits& limits, double width, double height,
                               double density) {
  const QSize size(static_cast<int>(std::lround(width * density)),
                   static_cast<int>(std::lround(height * density)));
  const std::uint64_t revision = pyramid.revision();
  if (image_.size() == size && pyramid_ == &pyramid && revision_ == revision && camera_ == camera &&
      choice_ == choice && limits_ == limits) {
    return image_;
  }
  if (image_.size() != size) image_ = QImage(size, QImage::Format_ARGB32_Premultiplied);
  draw_map(pyramid, MapColours(choice, limits, summary), camera, size.width(), size.height(),
           density, reinterpret_cast<std::uint32_t*>(image_.bits()));
  image_.setDevicePixelRatio(density);
  pyramid_ = &pyramid, revision_ = revision;
  camera_ = camera, choice_ = choice, limits_ = limits;
  return image_;
}

}  // namespace conelab::desktop
