// The visible part of a matrix, in cells. All panels share it.
#pragma once

#include <cstdint>

namespace conelab::desktop {

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

}  // namespace conelab::desktop
