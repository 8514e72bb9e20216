// The one document of the desktop: everything a user can change and take back, as plain data.
//
// Views show it and edit it through the Document (document.h); what follows from it (attention
// maps, figures, cones) is computed and not kept here. What the pointer is over and how windows lie
// is no part of it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bench/axes.h"
#include "core/call/call.h"

namespace conelab::desktop {

// The words that a member may have, its default first: views offer them, and a file's other words
// become the default (session_json.cpp).
inline constexpr const char* trace_devices[] = {"cpu", "cuda"};
inline constexpr const char* map_quantities[] = {"weights", "logits"};
inline constexpr const char* map_scales[] = {"linear", "log", "row", "rank"};
inline constexpr const char* map_layouts[] = {"maps", "heads", "arcs", "tree", "hasse", "table"};
inline constexpr const char* arc_arrangements[] = {"sides", "above", "rows"};
inline constexpr const char* tree_sides[] = {"key", "query"};
/// "space" is H³; the others are of the plane.
inline constexpr const char* cone_models[] = {"halfspace", "ball",        "klein",
                                              "band",      "hyperboloid", "space"};
inline constexpr const char* bench_pages[] = {"scaling", "ratio",     "roofline",
                                              "table",   "exponents", "comparison"};
inline constexpr const char* themes[] = {"system", "light", "dark"};

/// Which numbers of a trace are looked at.
struct TraceChoice {
  std::string file;   ///< Empty: none is open.
  std::string group;  ///< HDF5: "/german/layer3"; else empty.
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::string device = trace_devices[0];  ///< Where passes over the whole of it run.
  bool operator==(const TraceChoice&) const = default;
};

/// A similarity with every default.
[[nodiscard]] inline Call plain_call(const char* similarity) {
  Call call;
  call.similarity = similarity;
  return call;
}

/// How attention maps are shown.
struct MapChoice {
  std::vector<Call> calls = {plain_call("dot"), plain_call("penumbral"), plain_call("umbral")};
  std::string quantity = map_quantities[0];
  std::string scale = map_scales[0];
  std::string colours = "sequential";  ///< A name of figure::colour_maps.
  bool shared_limits = true;
  int reference = -1;  ///< The operator whose values the others are subtracted from; -1: none.
  std::string layout = map_layouts[0];
  int arc_top = 3;              ///< Arcs of a query, its strongest.
  double arc_threshold = 0.01;  ///< The weakest weight that is an arc.
  std::string arc_arrangement = arc_arrangements[0];
  std::string tree_tokens = tree_sides[0];  ///< Whose tokens become the tree.
  bool numbers = false;                     ///< Heads, arcs, trees and orders as a table.
  bool operator==(const MapChoice&) const = default;
};

/// The pair of tokens that all views look at.
struct Focus {
  std::int64_t query = 0, key = 0;
  bool operator==(const Focus&) const = default;
};

/// From where the cone explorer looks: the isometry of its flat models, z ↦ (z − x0) e^−log_scale,
/// and how its views into space are turned.
struct ConeCamera {
  double x0 = 0, log_scale = 0;
  double yaw = 0.5, pitch = 0.38, zoom = 1;
  bool operator==(const ConeCamera&) const = default;
};

/// The scene of the cone explorer, in half-plane coordinates.
struct ConeChoice {
  std::string family = "penumbral";
  std::vector<std::string> beside;  ///< Further families, side by side with the same u and v.
  /// Those that differ from the defaults, of any family: each takes its own.
  std::map<std::string, double> parameters;
  std::string model = cone_models[0];
  std::array<double, 2> u = {-0.35, 0.35}, v = {0.45, 0.2}, source = {0, 1};
  bool heat = true, level_lines = true, ancestors = true, objects = false, geodesic = true;
  bool horospheres = true;     ///< The levels of u, v and the depth that attention reads.
  bool snap = false;           ///< Dragged points keep to round numbers and to each other.
  bool follow_tokens = false;  ///< u and v are the focused tokens in their plane.
  bool numbers = false;        ///< The scene as a table.
  /// None: the view fits itself to the scene and to the window.
  std::optional<ConeCamera> camera;
  bool operator==(const ConeChoice&) const = default;
};

/// A figure as it is asked for: what `conelab figure` takes.
struct FigureChoice {
  std::string name = "heatmap";
  std::vector<std::string> inputs;
  std::map<std::string, std::string> parameters;
  std::string width;  ///< "86mm", "double", …; empty: the figure's preset.
  bool operator==(const FigureChoice&) const = default;
};

/// A sweep as it is typed, which is what `conelab bench` takes, and how its result is shown.
struct BenchChoice {
  /// Every axis with its initial labels, but a sweep that is over soon.
  BenchChoice();
  /// [axis] (core/bench/axes.h) The names that are chosen; on a numeric axis one text of numbers,
  /// "256..2048:x2".
  std::vector<Labels> labels;
  std::string batch = "1", rounds = "9", controls = "4", seed = "1", time_limit = "600";
  bool cold = true;      ///< Also time runs with flushed caches.
  std::string output;    ///< Where the sweep's result goes; empty: the program chooses.
  std::string shown;     ///< The result on display; empty: none.
  std::string compared;  ///< An older result that it is compared with; empty: none.
  std::string page = bench_pages[0];
  std::map<std::string, std::string> place;  ///< Which cases are drawn, by the figures' keys.
  std::vector<std::string> hidden;           ///< Operators that are not drawn.
  [[nodiscard]] Labels& names(std::string_view axis) { return labels[index_of(axis_named(axis))]; }
  [[nodiscard]] const Labels& names(std::string_view axis) const {
    return labels[index_of(axis_named(axis))];
  }
  [[nodiscard]] std::string& numbers(std::string_view axis) { return names(axis).front(); }
  [[nodiscard]] const std::string& numbers(std::string_view axis) const {
    return names(axis).front();
  }
  bool operator==(const BenchChoice&) const = default;
};

inline BenchChoice::BenchChoice() {
  for (const Axis& axis : axes()) {
    labels.push_back(axis.numeric ? Labels{axis.initial}
                                  : parse_labels(axis, axis.option, axis.initial));
  }
  names("operator") = {"dot", "penumbral"};
  names("pass") = {"forward"};
  numbers("head") = std::string("1");  // A literal draws a false warning from GCC 12.
  numbers("seq_len") = std::string("256..2048:x2");
}

struct Session {
  TraceChoice trace;
  MapChoice maps;
  std::optional<Focus> locked;  ///< The pair that was clicked.
  ConeChoice cones;
  FigureChoice figure;
  std::string figure_output;  ///< The file it is exported to; empty: the program chooses.
  BenchChoice bench;
  std::string theme = themes[0];
  bool operator==(const Session&) const = default;
};

}  // namespace conelab::desktop
