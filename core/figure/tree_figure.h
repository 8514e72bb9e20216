// Figures `tree` and `hasse`: the tokens of a head by their lowest common ancestors.
//
//   tree   dendrogram by LCA depth, light above; each token's stem ends at its own depth. Below it,
//          how much attention crosses each boundary between adjacent tokens, 1 where attention is
//          uniform (core/tree/segmentation.h)
//   hasse  every token at its own depth, lines from each to those directly below it in the order
// Tokens stand in the dendrogram's order, so that related ones are neighbours; the boundaries of
// the segmentation keep the text's order. Depths grow downwards. Tokens without a place stand as
// question marks, joined to nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/figure/display_list.h"
#include "core/figure/style.h"
#include "core/tree/head_tree.h"

namespace conelab::figure {

struct TreeFigure {
  std::shared_ptr<const tree::HeadTree> tree = std::make_shared<tree::HeadTree>();
  std::vector<std::string> tokens;  ///< Texts; empty: numbers.
  bool segmentation = true;         ///< `tree` only; where the tree has one.
  std::string cone;                 ///< The family that orders the tokens; empty: not known.
  std::string title;                ///< Above the figure; empty: none.
  std::string caption;
  double width = double_column;
  Metadata metadata;
};

/// Where things stand on the page, for pointing at them.
struct TreePlaces {
  Box box;                       ///< The dendrogram or the order, without labels.
  Box labels;                    ///< Below it, in the dendrogram's order.
  std::vector<Point> token;      ///< [n] Each token's own place.
  std::vector<Point> merge;      ///< [n − 1] Where two clusters join; `tree` only.
  Box segmentation;              ///< Empty where it is not drawn.
  std::vector<double> boundary;  ///< [n − 1] x of each boundary in it.
};
struct DrawnTree {
  DisplayList list;
  TreePlaces places;
};

/// Throws misuse for texts that do not fit the tokens, and `hasse` for a similarity without order.
/// No or one token is drawn as such.
[[nodiscard]] DrawnTree place_tree(const TreeFigure& figure);
[[nodiscard]] DrawnTree place_hasse(const TreeFigure& figure);
[[nodiscard]] DisplayList draw_tree(const TreeFigure& figure);
[[nodiscard]] DisplayList draw_hasse(const TreeFigure& figure);

}  // namespace conelab::figure
