// The pixels of a map: every pixel shows the cell under it, crisp at every zoom.
#pragma once

#include <cstdint>
#include <vector>

#include "widgets/maps/map_camera.h"
#include "widgets/maps/map_colours.h"
#include "widgets/maps/map_pyramid.h"

namespace conelab::desktop {

/// Fills `pixels` [height × width] of 0xffRRGGBB; 0 (clear) outside the matrix. `density` pixels of
/// the screen stand for one of the camera's.
void draw_map(const MapPyramid& pyramid, const MapColours& colours, const MapCamera& camera,
              int width, int height, double density, std::uint32_t* pixels);

/// Tiles that this picture would like to have and that are not there, the middle ones first.
[[nodiscard]] std::vector<TileKey> missing_tiles(const MapPyramid& pyramid, const MapCamera& camera,
                                                 double width, double height);

}  // namespace conelab::desktop
