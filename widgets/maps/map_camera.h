// Which part of a matrix is seen: pan and zoom in cells, shared by all panels.
#pragma once

#include <cstdint>

namespace conelab::desktop {

struct MapCamera {
  double row = 0, column = 0;  ///< The cell coordinates at the middle of the panel.
  double scale = 1;            ///< Pixels a cell.

  /// So that four tokens fill a screen.
  static constexpr double largest_scale = 400;
  bool operator==(const MapCamera&) const = default;

  /// All of a matrix in a panel of that many pixels.
  void fit(std::int64_t rows, std::int64_t columns, double width, double height);
  /// The cell coordinate at a pixel, counted from the panel's top left.
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
  /// Zooms by a factor with the cell under the pixel staying where it is.
  void zoom(double factor, double x, double y, double width, double height, double least);
  /// Keeps the middle of the panel over the matrix.
  void clamp(std::int64_t rows, std::int64_t columns);
  /// The pyramid's level whose cells are at least one pixel wide.
  [[nodiscard]] int level(int levels) const;
};

}  // namespace conelab::desktop
