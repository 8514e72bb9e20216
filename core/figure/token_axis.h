// Token labels along a matrix: as many as fit, never overlapping.
//
// Where every label fits its cell, all stand next to the matrix. Where cells are narrower than a
// line of text, labels alternate between two tiers, the outer ones with leaders; where even that is
// too tight, every k-th token is labelled.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// Labels on top read upwards from the matrix, those below it towards it.
enum class Side { left, bottom, top };

/// The plan for one side of a matrix.
struct TokenAxis {
  Side side = Side::left;
  double size = 6;
  std::size_t stride = 1;  ///< Every stride-th token is labelled.
  bool two_tiers = false;
  double inner_width = 0, outer_width = 0;  ///< Of the widest labels of each tier.
  std::vector<std::string> labels;          ///< All tokens, cleaned and elided.

  /// Room the labels need beside the matrix, in points.
  [[nodiscard]] double room() const;
};

/// Plans labels for `cells` of `pitch` points. Without tokens the cells' numbers are shown. No
/// label is longer than `longest` points.
[[nodiscard]] TokenAxis plan_tokens(Side side, const std::vector<std::string>& tokens,
                                    std::size_t cells, double pitch, double longest);

/// Draws them beside `matrix`.
void draw_tokens(DisplayList& list, const TokenAxis& axis, const Box& matrix);

}  // namespace conelab::figure
