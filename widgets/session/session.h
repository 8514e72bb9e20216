// The document of the desktop: everything that a user can change and undo, as plain data.
//
// Views show it and edit it through the Document (document.h). What follows from it (attention
// maps, figures, cones) is computed and not stored. The position of the pointer and the arrangement
// of windows do not belong to it.
#pragma once

#include <QJsonObject>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/bench/axes.h"
#include "core/call/call.h"
#include "core/figure/arcs.h"
#include "core/figure/heads.h"
#include "core/trace/array_choice.h"
#include "widgets/session/brought.h"

namespace conelab::desktop {

// The allowed values of a member, the default first. Views offer them; another value in a file is
// replaced by the default (session_json.cpp). Those of figures and scores stand in
// core/figure/arcs.h, heads.h and heat_values.h and core/tree/head_scores.h.
using figure::arc_arrangements, figure::head_joins, figure::map_quantities;
inline constexpr const char* trace_devices[] = {"cpu", "cuda"};
/// The percentiles of a map's values between which its colours lie; "all values" is from the least
/// to the largest.
inline constexpr const char* map_percentiles[] = {"all values", "0-99 %", "1-99 %", "5-95 %"};
inline constexpr const char* special_token_choices[] = {"shown", "marked", "excluded"};
inline constexpr const char* map_layouts[] = {"maps", "heads", "arcs", "tree", "hasse", "table"};
inline constexpr const char* tree_sides[] = {"key", "query"};
/// "space" is H³; the others are models of the plane.
inline constexpr const char* cone_models[] = {"halfspace", "ball",        "klein",
                                              "band",      "hyperboloid", "space"};
/// The similarity whose heat the explorer shows: that of the cone family, or another one.
inline constexpr const char* heat_similarities[] = {"cone", "dot", "laplacian", "hyperbolic"};
inline constexpr const char* cone_depths[] = {"height", "distance"};
inline constexpr const char* bench_pages[] = {"scaling", "ratio",     "roofline",
                                              "table",   "exponents", "comparison"};
inline constexpr const char* themes[] = {"system", "light", "dark"};

/// The part of a trace that is shown.
struct TraceChoice {
  std::string file;  ///< Empty: no trace is open.
  /// Group of an HDF5 file such as "/german/layer3", or the path of a stored map
  /// (core/trace/trace.h); otherwise empty.
  std::string group;
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::string device = trace_devices[0];  ///< The device of passes over all pairs.
  ArrayNames arrays = {};
  bool operator==(const TraceChoice&) const = default;
};

/// Returns a call of this similarity with all defaults.
[[nodiscard]] inline Call plain_call(const char* similarity) {
  Call call;
  call.similarity = similarity;
  return call;
}

/// The cells [query_begin, query_end) × [key_begin, key_end) of the maps, of words where word
/// pieces are merged.
struct MapRegion {
  std::int64_t query_begin = 0, query_end = 0, key_begin = 0, key_end = 0;
  bool operator==(const MapRegion&) const = default;
};

/// As the group of BesideChoice: every other array of the result of `attend` that is open.
inline constexpr const char* all_arrays = "*";

/// What maps are compared with: a layer of this or another file, and a head of it.
struct BesideChoice {
  std::string file, group;
  std::int64_t head = 0;
  std::string join = head_joins[0];
  ArrayNames arrays = {};  ///< Of another file than the open one.
  bool operator==(const BesideChoice&) const = default;
};

/// The part that is seen of maps of this size: the cell in the middle, and the pixels per cell.
struct MapZoom {
  double row = 0, column = 0, scale = 1;
  std::int64_t rows = 0, columns = 0;
  bool operator==(const MapZoom&) const = default;
};

/// The display of attention maps.
struct MapChoice {
  std::vector<Call> calls = {plain_call("dot"), plain_call("penumbral"), plain_call("umbral")};
  std::vector<Brought> brought;  ///< Which of the calls and their parameters are of a file.
  std::string quantity = map_quantities[0];
  std::string scale = figure::heat_scale_names[0];
  std::string colours = "theme";  ///< A name of figure::colour_maps, or that of the theme.
  bool shared_limits = true;
  std::string percentiles = map_percentiles[0];
  /// Colour limits that were set by hand, by what they apply to (MapsModel::limits_name).
  std::map<std::string, std::array<double, 2>> limits;
  int reference = -1;  ///< Index of the operator that is subtracted from the others; −1: none.
  std::string layout = map_layouts[0];
  int arc_top = 3;              ///< How many of the strongest arcs of a query are shown.
  double arc_threshold = 0.01;  ///< Arcs with a smaller weight are not shown.
  std::string arc_arrangement = arc_arrangements[0];
  std::string tree_tokens = tree_sides[0];  ///< The tokens that form the tree.
  bool numbers = false;                     ///< Shows heads, arcs, trees and orders as a table.
  std::string special_tokens = special_token_choices[0];  ///< Of maps, such as [CLS] and <s>.
  bool merge_words = false;          ///< Whether the pieces of a word are one row and one column.
  bool profiles = false;             ///< Shows the focused row and column as lines at the margins.
  std::int64_t range_begin = 0;      ///< The first token of arcs, trees and orders,
  std::int64_t range_end = 0;        ///< and the one after the last; 0: to the end.
  std::optional<MapRegion> region;   ///< The region whose mass is shown.
  std::optional<MapZoom> zoom;       ///< Absent while the maps fit the view.
  std::string join = head_joins[0];  ///< Of maps: which heads are shown.
  std::optional<BesideChoice> beside;  ///< Absent: maps are compared with nothing.
  std::string heads_rows = figure::head_row_choices[0];
  int heads_operator = 0;  ///< Index of the operator of the small maps, unless rows are operators.
  std::string head_score = tree::head_score_names[0];  ///< The score that small maps show.
  std::string heads_order = figure::head_orders[0];
  bool operator==(const MapChoice&) const = default;
};

/// The pair of tokens that all views show.
struct Focus {
  std::int64_t query = 0, key = 0;
  bool operator==(const Focus&) const = default;
};

/// The camera of the cone explorer: the isometry z ↦ (z − x0) e^−log_scale of its flat models, and
/// the direction and zoom of its views into space.
struct ConeCamera {
  double x0 = 0, log_scale = 0;
  double yaw = 0.5, pitch = 0.38, zoom = 1;
  bool operator==(const ConeCamera&) const = default;
};

/// The scene of the cone explorer, in half-plane coordinates.
struct ConeChoice {
  std::string family = "penumbral";
  std::vector<std::string> beside;  ///< Further families, shown next to it with the same u and v.
  /// Parameters that differ from the defaults, of any family; each family takes its own.
  std::map<std::string, double> parameters;
  std::string model = cone_models[0];
  std::string depth = cone_depths[0];             ///< Of infinite families: what K reads of an LCA.
  std::string similarity = heat_similarities[0];  ///< Whose heat and level lines are shown.
  std::array<double, 2> u = {-0.35, 0.35}, v = {0.45, 0.2}, source = {0, 1};
  bool heat = true, level_lines = true, ancestors = true, objects = false, geodesic = true;
  bool horospheres = true;    ///< Shows the levels of u, of v and of the depth that attention uses.
  bool snap = false;          ///< Dragged points snap to round numbers and to each other.
  bool follow_tokens = true;  ///< With a trace: u and v are the focused tokens in their plane.
  bool numbers = false;       ///< Shows the scene as a table.
  /// Absent while the view fits itself to the scene and to the window.
  std::optional<ConeCamera> camera;
  bool operator==(const ConeChoice&) const = default;
};

/// A figure as `conelab figure` takes it.
struct FigureChoice {
  std::string name = "heatmap";
  std::vector<std::string> inputs;
  std::map<std::string, std::string> parameters;
  std::string width;  ///< "86mm", "double", …; empty: the default of the figure.
  bool operator==(const FigureChoice&) const = default;
};

/// A sweep as it is typed, and the display of its result.
struct BenchChoice {
  /// What is typed, by the fields of the job `bench`; one that is absent has its default. The first
  /// sweep is short. It begins at a length at which fixed costs no longer lower the exponents.
  std::map<std::string, std::string> fields = {{"operators", "dot,penumbral"},
                                               {"passes", "forward"},
                                               {"heads", "1"},
                                               {"lengths", "1024..8192:x2"}};
  std::string shown;     ///< The result on display; empty: none.
  std::string compared;  ///< An older result for comparison; empty: none.
  std::string page = bench_pages[0];
  std::map<std::string, std::string> place;  ///< The cases that are drawn, by the keys of figures.
  std::vector<std::string> hidden;           ///< Operators that are not drawn.
  bool operator==(const BenchChoice&) const = default;
};

/// A study and the size in which it is run.
struct StudyChoice {
  std::string file;    ///< The study, or the index.json of its results; empty: none is open.
  bool quick = false;  ///< Whether the smaller values that the study names are used.
  bool operator==(const StudyChoice&) const = default;
};

struct Session {
  TraceChoice trace;
  MapChoice maps;
  std::optional<Focus> locked;  ///< The pair that was clicked.
  ConeChoice cones;
  FigureChoice figure;
  std::string figure_output;  ///< The file of an exported figure; empty: the program chooses.
  BenchChoice bench;
  StudyChoice study;
  std::string theme = themes[0];
  /// The state of further views by their names (widgets/window/view.h). Each view reads and writes
  /// its own.
  QJsonObject views;
  bool operator==(const Session&) const = default;
};

/// Must be called when a user sets a point of the explorer: if a trace is open, the scene does not
/// follow its tokens any more, also not where they get places later.
inline void keep_own_points(Session& s) {
  if (!s.trace.file.empty()) s.cones.follow_tokens = false;
}

}  // namespace conelab::desktop
