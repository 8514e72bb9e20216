// Figure `arcs`: attention as arcs between the tokens of a line, one panel per operator.
//
//   sides   arcs to earlier tokens are above the line, arcs to later ones below it
//   above   all arcs are above the line; the colour shows the direction
//   rows    queries are above, keys below, with a curve for each pair; the only arrangement for
//           sequences of different lengths
// The width and the opacity of an arc grow with its weight. A disc on the line is the weight of a
// token for itself. Only the strongest arcs of each query are drawn, and none below a threshold.
// Sources: M. Wattenberg, "Arc Diagrams" (InfoVis 2002); for rows, BertViz (Vig 2019).
#pragma once

#include <string>
#include <vector>

#include "core/drawing/display_list.h"
#include "core/drawing/style.h"

namespace conelab::figure {

/// The weight of one pair.
struct Arc {
  std::size_t query = 0, key = 0;
  double weight = 0;
};

/// The selection of the arcs that are drawn.
struct ArcChoice {
  std::size_t top = 3;      ///< How many of the strongest arcs of each query are drawn.
  double threshold = 0.01;  ///< Weaker arcs are not drawn.
};

/// Appends the chosen arcs of one query to `arcs`, the strongest first; equal ones keep the order
/// of their keys. `row` [keys] holds the weights. NaN and weights that are not positive give no
/// arc.
void pick_arcs(const double* row, std::size_t keys, std::size_t query, const ArcChoice& choice,
               std::vector<Arc>& arcs);

enum class ArcArrangement { sides, above, rows };
/// The names of these arrangements, in their order.
inline constexpr const char* arc_arrangements[] = {"sides", "above", "rows"};
/// Returns the arrangement of a name. Throws misuse for another name.
[[nodiscard]] ArcArrangement arc_arrangement_from_name(const std::string& name);

struct ArcsPanel {
  std::string title;
  std::size_t queries = 0, keys = 0;
  std::vector<Arc> arcs;
  std::string note;         ///< Shown in place of arcs: the reason why there are none.
  std::size_t unknown = 0;  ///< Number of pairs whose weight is not finite, for the caption.
};

struct ArcsFigure {
  std::vector<ArcsPanel> panels;
  std::vector<std::string> query_tokens, key_tokens;  ///< Texts of the tokens; empty: numbers.
  ArcArrangement arrangement = ArcArrangement::sides;
  ArcChoice choice;  ///< The selection that was applied to the arcs, for the caption.
  /// Says whether the largest width is the strongest arc of all panels, or of each.
  bool shared_limits = true;
  std::string caption;
  double width = double_column;
  Metadata metadata;
};

/// An arc with its outline on the page.
struct PlacedArc {
  Arc arc;
  Path path = {};
  Stroke stroke = {};  ///< A width of 0 marks a disc, whose outline is `path`.
  /// Points along the curve, dense enough to find the arc nearest to a pointer.
  std::vector<Point> points = {};
};
/// The positions of one panel on the page.
struct ArcsPlace {
  Box box;                        ///< The panel with its labels.
  std::vector<Point> query, key;  ///< The points at which the arcs of each token begin and end.
  Box query_labels, key_labels;
  std::vector<PlacedArc> arcs;  ///< In drawing order, the weakest first.
};
struct DrawnArcs {
  DisplayList list;
  std::vector<ArcsPlace> panels;
};

/// Draws the figure and returns it with the positions of its parts. Throws misuse if panels, tokens
/// and arcs do not match, or if `sides` or `above` is given different numbers of queries and keys.
/// A figure without tokens is drawn as an empty one.
[[nodiscard]] DrawnArcs place_arcs(const ArcsFigure& figure);
[[nodiscard]] DisplayList draw_arcs(const ArcsFigure& figure);

}  // namespace conelab::figure
