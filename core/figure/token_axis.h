// Token labels along a matrix: as many as fit without overlapping.
//
// If every label fits its cell, all are next to the matrix. If cells are narrower than a line of
// text, labels alternate between two tiers, and those of the outer tier have leaders. If that is
// too tight, only every k-th token is labelled.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// The side of the matrix. Labels at the top and at the bottom read from bottom to top.
enum class Side { left, bottom, top };

/// The plan for one side of a matrix.
struct TokenAxis {
  Side side = Side::left;
  double size = 6;
  std::size_t stride = 1;  ///< Every stride-th token is labelled.
  bool two_tiers = false;
  double inner_width = 0, outer_width = 0;  ///< Widths of the longest labels of the two tiers.
  std::vector<std::string> labels;          ///< All tokens, cleaned and shortened.

  /// Returns the space that the labels need next to the matrix, in points.
  [[nodiscard]] double room() const;
};

/// Plans labels for `cells` cells of `pitch` points each. Without tokens, the numbers of the cells
/// are shown. No label is longer than `longest` points.
[[nodiscard]] TokenAxis plan_tokens(Side side, const std::vector<std::string>& tokens,
                                    std::size_t cells, double pitch, double longest);

/// Draws the labels next to `matrix`.
void draw_tokens(DisplayList& list, const TokenAxis& axis, const Box& matrix);

}  // namespace conelab::figure
