// Rasters whose cells stay crisp in viewers that smooth images.
#pragma once

#include "core/figure/display_list.h"

namespace conelab::figure {

/// The image with every cell repeated in squares of whole pixels until a pixel is at most `pitch`
/// points wide and high, so that smoothing blurs no more than that. At most 4096 pixels a side.
[[nodiscard]] ImageItem enlarged(const ImageItem& image, double pitch = 0.25);

}  // namespace conelab::figure
