// Figure `heads`: the attention of all heads of several layers as small maps with a score.
//
// There is one row for each layer or operator, or all heads stand in the order of their score.
// Below each map are the number of the score and a bar, whose length is the place of the score
// between the smallest and the largest one. Maps are pooled to dots that print can show, as in
// `heatmap`.
#pragma once

#include <string>
#include <vector>

#include "core/drawing/colour_map.h"
#include "core/drawing/display_list.h"
#include "core/drawing/style.h"
#include "core/figure/heat_values.h"
#include "core/tree/head_scores.h"

namespace conelab::figure {

/// One head. Its map is the result of `small_map`.
struct HeadPanel {
  std::size_t row = 0, head = 0;
  HeatmapPanel map;
  tree::HeadScores scores;
};

/// The rows are one of these: the layers of the same text as the one that is read, all layers of
/// its file, or operators.
inline constexpr const char* head_row_choices[] = {"layers", "file", "operators"};
/// The orders of heads: in rows, or all by their score. Heads without the score are last.
inline constexpr const char* head_orders[] = {"rows", "highest first", "lowest first"};

struct HeadsFigure : HeatLook {
  std::vector<std::string> rows;  ///< Titles: "layer3", or "penumbral − dot".
  std::vector<HeadPanel> heads;   ///< In rows.
  std::string score = tree::head_score_names[0];
  std::string order = head_orders[0];
  std::string caption;
  double width = double_column;
  Metadata metadata;
};

/// Returns a map for HeadPanel, of at most 60 cells a side: a block of cells is represented by its
/// value of largest magnitude if the map is diverging, otherwise by its largest. Rows are
/// normalised before, where the scale says so.
[[nodiscard]] HeatmapPanel small_map(const HeatmapPanel& panel, HeatScale scale);

/// Throws misuse for an unknown score or order, and for negative values on a log scale.
[[nodiscard]] DisplayList draw_heads(const HeadsFigure& figure);

}  // namespace conelab::figure
