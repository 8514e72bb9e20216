// Where a small window over a viewport stands: in a corner, or further along the upright side.
#pragma once

#include <QRectF>

namespace conelab::desktop {

struct OverlaySpot {
  bool right = true, low = false;
  double away = 0;  ///< Pixels from the corner.

  /// Of a window of that size.
  [[nodiscard]] QRectF place(const QSizeF& size, const QSizeF& viewport) const;
};

}  // namespace conelab::desktop
