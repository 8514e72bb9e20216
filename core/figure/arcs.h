// Figure `arcs`: who attends to whom, as arcs over a line of tokens, one panel an operator.
//
//   sides   arcs to earlier tokens above the line, to later ones below it
//   above   all arcs above the line; the colour tells the direction
//   rows    queries above, keys below, a curve for each pair; the one arrangement for sequences of
//           different lengths
// An arc's width and opacity grow with its weight; a disc on the line is the weight of a token for
// itself. Only each query's strongest arcs are drawn, and none below a threshold. For the
// arrangement see M. Wattenberg, "Arc Diagrams" (InfoVis 2002); for rows, BertViz (Vig 2019).
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"
#include "core/figure/style.h"

namespace conelab::figure {

struct Arc {
  std::size_t query = 0, key = 0;
  double weight = 0;
};

/// Which arcs are drawn.
struct ArcChoice {
  std::size_t top = 3;      ///< Of each query, the strongest.
  double threshold = 0.01;  ///< None weaker than this.
};

/// Adds the arcs of one query's row of weights [keys], strongest first; equal ones in the order of
/// keys. NaN and what is not above 0 draws nothing.
void pick_arcs(const double* row, std::size_t keys, std::size_t query, const ArcChoice& choice,
               std::vector<Arc>& arcs);

enum class ArcArrangement { sides, above, rows };
/// "sides", "above", "rows"; misuse for another name.
[[nodiscard]] ArcArrangement arc_arrangement_from_name(const std::string& name);

struct ArcsPanel {
  std::string title;
  std::size_t queries = 0, keys = 0;
  std::vector<Arc> arcs;
  std::string note;         ///< Stands instead of arcs: why there are none (yet).
  std::size_t unknown = 0;  ///< Pairs whose weight is not finite: the caption says how many.
};

struct ArcsFigure {
  std::vector<ArcsPanel> panels;
  std::vector<std::string> query_tokens, key_tokens;  ///< Empty: numbers.
  ArcArrangement arrangement = ArcArrangement::sides;
  ArcChoice choice;           ///< What the arcs were picked by, for the caption.
  bool shared_limits = true;  ///< The strongest arc of all panels, or of each, is the widest.
  std::string caption;
  double width = double_column;
  Metadata metadata;
};

/// An arc as it is drawn.
struct PlacedArc {
  Arc arc;
  Path path = {};
  Stroke stroke = {};  ///< Width 0: a disc, `path` is its outline.
  /// The curve in steps fine enough to see which one a pointer is near.
  std::vector<Point> points = {};
};
struct ArcsPlace {
  Box box;                        ///< The panel with its labels.
  std::vector<Point> query, key;  ///< Where each token's arcs begin and end.
  Box query_labels, key_labels;
  std::vector<PlacedArc> arcs;  ///< Weakest first, as they are drawn.
};
struct DrawnArcs {
  DisplayList list;
  std::vector<ArcsPlace> panels;
};

/// Throws misuse where panels, tokens and arcs do not fit each other, and for `sides` and `above`
/// where queries and keys differ in number. No tokens are drawn as such.
[[nodiscard]] DrawnArcs place_arcs(const ArcsFigure& figure);
[[nodiscard]] DisplayList draw_arcs(const ArcsFigure& figure);

}  // namespace conelab::figure
