#include "core/figure/raster.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace conelab::figure {
namespace {

/// Pixels for one cell along one side.
std::size_t repeats(double length, std::size_t cells, double pitch) {
  const double wanted = std::ceil(length / (static_cast<double>(cells) * pitch));
  const auto most = std::max<std::size_t>(1, 4096 / cells);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1.0, wanted)), 1, most);
}

}  // namespace

ImageItem enlarged(const ImageItem& image, double pitch) {
  const std::size_t across = repeats(image.box.width, image.columns, pitch);
  const std::size_t down = repeats(image.box.height, image.rows, pitch);
  ImageItem out{image.box, image.columns * across, image.rows * down, {}};
  out.rgba.resize(4 * out.columns * out.rows);
  for (std::size_t r = 0; r < out.rows; ++r) {
    const std::uint8_t* from = image.rgba.data() + 4 * image.columns * (r / down);
    std::uint8_t* to = out.rgba.data() + 4 * out.columns * r;
    for (std::size_t c = 0; c < out.columns; ++c)
      std::memcpy(to + 4 * c, from + 4 * (c / across), 4);
  }
  return out;
}

}  // namespace conelab::figure
