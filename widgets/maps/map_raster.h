// The pixels of a map, and a map as an image. Every pixel shows the cell under it, so that edges
// are sharp at every zoom.
#pragma once

#include <QImage>
#include <cstdint>
#include <vector>

#include "widgets/maps/colour_scale.h"
#include "widgets/maps/map_pyramid.h"

namespace conelab::desktop {

// The visible part of a matrix, in cells. All panels share it.

struct MapCamera {
  double row = 0, column = 0;  ///< The cell coordinates at the middle of the panel.
  double scale = 1;            ///< Pixels per cell.

  /// At this scale four tokens fill a screen.
  static constexpr double largest_scale = 400;
  bool operator==(const MapCamera&) const = default;

  /// Shows the complete matrix in a panel of this size in pixels.
  void fit(std::int64_t rows, std::int64_t columns, double width, double height);
  /// The following convert between cell coordinates and pixels, relative to the top left of the
  /// panel.
  [[nodiscard]] double row_at(double y, double height) const {
    return row + (y - height / 2) / scale;
  }
  [[nodiscard]] double column_at(double x, double width) const {
    return column + (x - width / 2) / scale;
  }
  [[nodiscard]] double y_of(double r, double height) const {
    return (r - row) * scale + height / 2;
  }
  [[nodiscard]] double x_of(double c, double width) const {
    return (c - column) * scale + width / 2;
  }
  void pan(double dx, double dy) { column -= dx / scale, row -= dy / scale; }
  /// Zooms by a factor. The cell at the pixel (x, y) does not move. `least` is the smallest scale.
  void zoom(double factor, double x, double y, double width, double height, double least);
  /// Moves the camera so that the middle of the panel is inside the matrix.
  void clamp(std::int64_t rows, std::int64_t columns);
  /// Returns the level of the pyramid whose cells are at least one pixel wide.
  [[nodiscard]] int level(int levels) const;
};

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
  std::uint64_t revision_ = 0, summary_revision_ = 0;
  MapCamera camera_;
  ColourChoice choice_;
  figure::Limits limits_;
};

}  // namespace conelab::desktop
