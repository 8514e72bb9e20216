// The pixels of a map, and a map as an image. Every pixel shows the cell under it, so that edges
// are sharp at every zoom.
#pragma once

#include <QImage>
#include <cstdint>
#include <vector>

#include "widgets/maps/map_camera.h"
#include "widgets/maps/map_colours.h"
#include "widgets/maps/map_pyramid.h"

namespace conelab::desktop {

/// Fills `pixels` [height × width] with 0xffRRGGBB, or 0 (transparent) outside the matrix. One
/// pixel of the camera has `density` pixels of the screen.
void draw_map(const MapPyramid& pyramid, const MapColours& colours, const MapCamera& camera,
              int width, int height, double density, std::uint32_t* pixels);

/// Returns the tiles that this picture lacks, those in the middle first.
[[nodiscard]] std::vector<TileKey> missing_tiles(const MapPyramid& pyramid, const MapCamera& camera,
                                                 double width, double height);

/// The cells of a map as an image, which is drawn again only if something about it has changed.
class MapPicture {
 public:
  /// Draws `width` × `height` pixels of the camera, with `density` pixels of the screen for each.
  /// `summary` must be the summary of the pyramid that the limits were computed from.
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
