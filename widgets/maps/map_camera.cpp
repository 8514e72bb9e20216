#include "widgets/maps/map_camera.h"

#include <algorithm>
#include <cmath>

namespace conelab::desktop {

void MapCamera::fit(std::int64_t rows, std::int64_t columns, double width, double height) {
  row = static_cast<double>(rows) / 2;
  column = static_cast<double>(columns) / 2;
  const double across = width / std::max<double>(1, static_cast<double>(columns));
  const double down = height / std::max<double>(1, static_cast<double>(rows));
  scale = std::min({across, down, largest_scale});
}

void MapCamera::zoom(double factor, double x, double y, double width, double height, double least) {
  const double r = row_at(y, height), c = column_at(x, width);
  scale = std::clamp(scale * factor, std::min(least, largest_scale), largest_scale);
  row = r - (y - height / 2) / scale;
  column = c - (x - width / 2) / scale;
}

void MapCamera::clamp(std::int64_t rows, std::int64_t columns) {
  row = std::clamp(row, 0.0, static_cast<double>(rows));
  column = std::clamp(column, 0.0, static_cast<double>(columns));
}

int MapCamera::level(int levels) const {
  const double cells = 1 / scale;
  const int level = cells > 1 ? static_cast<int>(std::ceil(std::log2(cells) - 1e-9)) : 0;
  return std::clamp(level, 0, levels - 1);
}

}  // namespace conelab::desktop
