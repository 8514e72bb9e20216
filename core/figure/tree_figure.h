// Figures `tree` and `hasse`: the tokens of a head by their lowest common ancestors.
//
//   tree   the dendrogram by LCA depth, with the light at the top; the stem of each token ends at
//          its own depth. Below it, how much attention crosses each boundary between adjacent
//          tokens, relative to uniform attention (core/tree/segmentation.h)
//   hasse  every token at its own depth, with lines to the tokens directly below it in the order
// Tokens have the order of the dendrogram, so that related ones are neighbours; the boundaries of
// the segmentation have the order of the text. Depths grow downwards. Undefined tokens
// (core/tree/head_tree.h) are question marks without lines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/drawing/display_list.h"
#include "core/drawing/style.h"
#include "core/tree/head_tree.h"

namespace conelab::figure {

struct TreeFigure {
  std::shared_ptr<const tree::HeadTree> tree = std::make_shared<tree::HeadTree>();
  std::vector<std::string> tokens;  ///< Texts of the tokens; empty: numbers.
  std::int64_t first_token = 0;     ///< The number of the first token, of a part of a text.
  bool segmentation = true;         ///< Whether `tree` shows the segmentation, if there is one.
  std::string cone;                 ///< The family that orders the tokens; empty: unknown.
  std::string title;                ///< Text above the figure; empty: none.
  std::string caption;
  double width = double_column;
  Metadata metadata;
};

/// Positions of the parts on the page, for pointing at them.
struct TreePlaces {
  Box box;                       ///< The dendrogram or the order, without labels.
  Box labels;                    ///< The labels below it, in the order of the dendrogram.
  std::vector<Point> token;      ///< [n] The position of each token.
  std::vector<Point> merge;      ///< [n − 1] The position of each merge; `tree` only.
  Box segmentation;              ///< Empty if it is not drawn.
  std::vector<double> boundary;  ///< [n − 1] x of each boundary in the segmentation.
};
struct DrawnTree {
  DisplayList list;
  TreePlaces places;
};

/// Both throw misuse if the texts do not match the tokens; `place_hasse` also for a similarity
/// without an order. A tree with no token or one token is drawn too.
[[nodiscard]] DrawnTree place_tree(const TreeFigure& figure);
[[nodiscard]] DrawnTree place_hasse(const TreeFigure& figure);
[[nodiscard]] DisplayList draw_tree(const TreeFigure& figure);
[[nodiscard]] DisplayList draw_hasse(const TreeFigure& figure);

}  // namespace conelab::figure
