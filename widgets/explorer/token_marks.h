// Tokens as points of the explorer's plane: plain numbers in, a pointed-at token out.
#pragma once

#include <optional>
#include <vector>

#include "widgets/explorer/plane_frame.h"

namespace conelab::desktop {

struct TokenMarks {
  std::vector<PlanePoint> places;      ///< Half-plane coordinates, one a key of the head.
  std::optional<std::size_t> focused;  ///< The one that stands out.
};

/// The token nearest to a pixel of the frame, at most `reach` pixels away.
[[nodiscard]] std::optional<std::size_t> token_at(const TokenMarks& marks, const PlaneFrame& frame,
                                                  double x, double y, double reach = 9);

}  // namespace conelab::desktop
