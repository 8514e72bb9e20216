#include "widgets/maps/map_raster.h"

#include <algorithm>
#include <cmath>

namespace conelab::desktop {
namespace {

/// The cells [first, first + count) of a level that are visible, and the cell of each pixel (−1:
/// none).
struct RasterAxis {
  std::int64_t first = 0, count = 0;
  std::vector<std::int32_t> cell;  ///< [pixels], relative to `first`.
};

RasterAxis axis(double begin, double step, int pixels, std::int64_t size, int level) {
  RasterAxis axis;
  axis.cell.resize(static_cast<std::size_t>(pixels));
  std::vector<std::int64_t> cells(axis.cell.size(), -1);
  std::int64_t low = size, high = -1;
  for (int p = 0; p < pixels; ++p) {
    const double at = std::floor(begin + (p + 0.5) * step);
    if (at < 0 || at >= static_cast<double>(size)) continue;
    const std::int64_t cell = static_cast<std::int64_t>(at) >> level;
    cells[static_cast<std::size_t>(p)] = cell;
    low = std::min(low, cell), high = std::max(high, cell);
  }
  axis.first = low;
  axis.count = std::max<std::int64_t>(0, high - low + 1);
  for (std::size_t p = 0; p < cells.size(); ++p) {
    axis.cell[p] = cells[p] < 0 ? -1 : static_cast<std::int32_t>(cells[p] - low);
  }
  return axis;
}

}  // namespace

void draw_map(const MapPyramid& pyramid, const MapColours& colours, const MapCamera& camera,
              int width, int height, double density, std::uint32_t* pixels) {
  const int level = camera.level(pyramid.levels());
  const double step = 1 / (camera.scale * density);
  const RasterAxis rows =
      axis(camera.row_at(0, height / density), step, height, pyramid.rows(), level);
  const RasterAxis columns =
      axis(camera.column_at(0, width / density), step, width, pyramid.columns(), level);
  std::vector<float> values(static_cast<std::size_t>(columns.count));
  std::vector<std::uint32_t> packed(values.size());
  std::int32_t known = -1;
  for (int y = 0; y < height; ++y) {
    std::uint32_t* line = pixels + static_cast<std::ptrdiff_t>(y) * width;
    const std::int32_t row = rows.cell[static_cast<std::size_t>(y)];
    if (row < 0 || columns.count == 0) {
      std::fill_n(line, width, 0U);
      continue;
    }
    if (row == known) {  // The same cells as in the previous line.
      std::copy_n(line - width, width, line);
      continue;
    }
    pyramid.read_row(level, rows.first + row, columns.first, columns.count, values.data());
    const std::int64_t of_matrix = (rows.first + row) << level;
    std::transform(values.begin(), values.end(), packed.begin(),
                   [&](float v) { return colours(v, of_matrix); });
    for (int x = 0; x < width; ++x) {
      const std::int32_t column = columns.cell[static_cast<std::size_t>(x)];
      line[x] = column < 0 ? 0U : packed[static_cast<std::size_t>(column)];
    }
    known = row;
  }
}

std::vector<TileKey> missing_tiles(const MapPyramid& pyramid, const MapCamera& camera, double width,
                                   double height) {
  const int level = camera.level(pyramid.levels());
  std::vector<TileKey> missing;
  if (level >= pyramid.base_level()) return missing;
  const double side = static_cast<double>(tile_side << level);
  const auto tiles = [&](double begin, double end, std::int64_t size) {
    const auto last = static_cast<std::int64_t>(std::ceil(static_cast<double>(size) / side)) - 1;
    return std::pair(std::clamp(static_cast<std::int64_t>(begin / side), std::int64_t{0}, last),
                     std::clamp(static_cast<std::int64_t>(end / side), std::int64_t{0}, last));
  };
  const auto [top, bottom] =
      tiles(camera.row_at(0, height), camera.row_at(height, height), pyramid.rows());
  const auto [left, right] =
      tiles(camera.column_at(0, width), camera.column_at(width, width), pyramid.columns());
  for (std::int64_t r = top; r <= bottom; ++r) {
    for (std::int64_t c = left; c <= right; ++c) {
      if (!pyramid.has_tile({level, r, c})) missing.push_back({level, r, c});
    }
  }
  const auto away = [&](const TileKey& key) {
    const double r = (static_cast<double>(key.row) + 0.5) * side - camera.row;
    const double c = (static_cast<double>(key.column) + 0.5) * side - camera.column;
    return r * r + c * c;
  };
  std::ranges::sort(missing, [&](const TileKey& a, const TileKey& b) { return away(a) < away(b); });
  return missing;
}

const QImage& MapPicture::draw(const MapPyramid& pyramid, const MapSummary& summary,
                               const MapCamera& camera, const ColourChoice& choice,
                               const figure::Limits& limits, double width, double height,
                               double density) {
  const QSize size(static_cast<int>(std::lround(width * density)),
                   static_cast<int>(std::lround(height * density)));
  const std::uint64_t revision = pyramid.revision();
  if (image_.size() == size && pyramid_ == &pyramid && revision_ == revision &&
      summary_revision_ == summary.revision && camera_ == camera && choice_ == choice &&
      limits_ == limits) {
    return image_;
  }
  if (image_.size() != size) image_ = QImage(size, QImage::Format_ARGB32_Premultiplied);
  draw_map(pyramid, MapColours(choice, limits, summary), camera, size.width(), size.height(),
           density, reinterpret_cast<std::uint32_t*>(image_.bits()));
  image_.setDevicePixelRatio(density);
  pyramid_ = &pyramid, revision_ = revision, summary_revision_ = summary.revision;
  camera_ = camera, choice_ = choice, limits_ = limits;
  return image_;
}

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
