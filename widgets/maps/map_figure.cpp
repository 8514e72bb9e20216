#include "widgets/maps/map_figure.h"

#include <vector>

#include "core/base/names.h"
#include "core/call/call.h"
#include "core/source/figure_table.h"

namespace conelab::desktop {
namespace {

/// Lists stay whole: the figure takes from them what belongs to each head that it draws.
std::string text_of(const Call& call, const Trace& trace) {
  return call_text(with_drawn_tensors(call, trace));
}

/// Returns the operators as the figure takes them: all, or the one with this index.
std::string text_of(const std::vector<Call>& calls, const Trace& trace, int only = -1) {
  std::vector<std::string> texts;
  for (int i = 0; i < static_cast<int>(calls.size()); ++i) {
    if (only < 0 || i == only) texts.push_back(text_of(calls[static_cast<std::size_t>(i)], trace));
  }
  return join(texts, ",");
}

/// Adds a parameter unless it equals the default of the figure.
void set(FigureChoice& figure, const std::string& key, const std::string& value) {
  const std::string usual = figure::value_of(figure::figure_named(figure.name), {}, key);
  if (value != usual) figure.parameters[key] = value;
}

void set_maps(FigureChoice& figure, const MapChoice& maps, const Trace& trace) {
  if (maps.special_tokens == "excluded") figure.parameters["special"] = maps.special_tokens;
  set(figure, "quantity", maps.quantity);
  const auto reference = static_cast<std::size_t>(maps.reference);
  const bool differs = maps.reference >= 0 && reference < maps.calls.size();
  if (differs) figure.parameters["difference"] = text_of(maps.calls[reference], trace);
  // Logits and differences have signs, which a logarithmic scale cannot show.
  const bool no_log = maps.quantity != "weights" || differs;
  set(figure, "scale", maps.scale == "log" && no_log ? "linear" : maps.scale);
  if (maps.colours != MapChoice().colours) set(figure, "colours", maps.colours);
  // By hand for all maps; those of one map have no key of the figure.
  const auto limits = maps.limits.find(maps.quantity);
  if (maps.scale != "linear" || differs || !maps.shared_limits || limits == maps.limits.end()) {
    return;
  }
  figure.parameters["low"] = fmt::format("{:.6g}", limits->second[0]);
  figure.parameters["high"] = fmt::format("{:.6g}", limits->second[1]);
}

/// Returns the names of q, k and v, separated by commas.
std::string listed(const ArrayNames& arrays) {
  const std::string query = arrays.query.empty() ? "q" : arrays.query;
  if (arrays == ArrayNames()) return "q,k,v";
  const auto name = [&](const std::string& own) { return own.empty() ? query : own; };
  return query + "," + name(arrays.key) + "," + name(arrays.value);
}

void set_arrays(FigureChoice& figure, const ArrayNames& arrays) {
  if (!arrays.weights.empty()) {
    figure.parameters["weights_array"] = arrays.weights;
  } else if (arrays != ArrayNames())
    figure.parameters["arrays"] = listed(arrays);
}

/// Sets which heads are joined, and what the maps are compared with.
void set_subjects(FigureChoice& figure, const MapChoice& maps, const Trace& open) {
  set(figure, "join", maps.join);
  if (!maps.beside) return;
  const BesideChoice& beside = *maps.beside;
  figure.parameters["beside"] =
      beside.group.empty() ? beside.file : beside.file + ":" + beside.group;
  set(figure, "beside_head", std::to_string(beside.head));
  set(figure, "beside_join", beside.join);
  const bool other_names = beside.file != open.file && beside.arrays != open.arrays;
  if (other_names) figure.parameters["beside_arrays"] = listed(beside.arrays);
}

void set_arcs(FigureChoice& figure, const MapChoice& maps, const Extents& extents) {
  set(figure, "top", std::to_string(maps.arc_top));
  set(figure, "threshold", fmt::format("{}", maps.arc_threshold));
  const bool square = extents.query == extents.key;
  set(figure, "arrangement", square ? maps.arc_arrangement : "rows");
}

/// Returns the figure of stored weights or logits; other stored maps have none.
std::optional<FigureChoice> stored_figure(const Session& session, const Trace& trace) {
  const MapChoice maps = shown_maps(session.maps, &trace);
  const bool arcs = maps.layout == "arcs";
  if (!trace.stored->of_pairs() || figure_of_one(maps.layout)) return std::nullopt;
  if (arcs && maps.quantity != "weights") return std::nullopt;
  FigureChoice figure;
  figure.name = arcs ? "arcs" : "heatmap";
  figure.inputs = {is_stored_map(trace.group) ? trace.file : trace.spec()};
  set_arrays(figure, trace.arrays);
  figure.parameters["head"] = std::to_string(session.trace.head);
  set(figure, "batch", std::to_string(session.trace.batch));
  set(figure, "limits", maps.shared_limits ? "shared" : "own");
  arcs ? set_arcs(figure, maps, trace.extents()) : set_maps(figure, maps, trace);
  figure.parameters.erase("special");  // Stored maps are drawn with all tokens.
  return figure;
}

/// Returns the figure of all heads.
FigureChoice heads_figure(const Session& session, const Trace& trace) {
  const MapChoice& maps = session.maps;
  FigureChoice figure;
  figure.name = "heads";
  figure.inputs = {trace.spec()};
  const int chosen = std::min(maps.heads_operator, static_cast<int>(maps.calls.size()) - 1);
  if (!trace.stored) {
    set(figure, "similarities",
        text_of(maps.calls, trace, maps.heads_rows == "operators" ? -1 : chosen));
  }
  if (!trace.stored || maps.heads_rows != "operators") set(figure, "rows", maps.heads_rows);
  set(figure, "score", maps.head_score);
  set(figure, "order", maps.heads_order);
  set(figure, "batch", std::to_string(session.trace.batch));
  set(figure, "limits", maps.shared_limits ? "shared" : "own");
  set_arrays(figure, trace.arrays);
  MapChoice without_limits = maps;  // Small maps do not have those that were set by hand.
  without_limits.limits.clear();
  set_maps(figure, without_limits, trace);
  return figure;
}

}  // namespace

std::string not_in_figure(const MapChoice& maps) {
  const bool cells = maps.layout == "maps";
  const std::pair<bool, const char*> rows[] = {
      {cells && maps.merge_words, "merged words"},
      {maps.layout != "heads" && maps.special_tokens == "marked", "marks of special tokens"},
      {cells && maps.profiles, "profiles"},
      {cells && maps.region.has_value(), "the region"},
      {!cells && maps.layout != "heads" && (maps.range_begin > 0 || maps.range_end > 0),
       "the range of tokens"}};
  std::vector<std::string> missing;
  for (const auto& [shown, name] : rows) {
    if (shown) missing.emplace_back(name);
  }
  return join(missing);
}

bool figure_of_one(const std::string& layout) { return layout == "tree" || layout == "hasse"; }

std::optional<FigureChoice> map_figure(const Session& session, const Trace& trace,
                                       std::size_t operation) {
  const MapChoice& maps = session.maps;
  if (maps.layout == "heads") {
    return is_stored_map(trace.group) ? std::nullopt : std::optional(heads_figure(session, trace));
  }
  if (trace.stored) return operation == 0 ? stored_figure(session, trace) : std::nullopt;
  if (operation >= maps.calls.size()) return std::nullopt;
  FigureChoice figure;
  if (maps.layout == "arcs" || figure_of_one(maps.layout)) figure.name = maps.layout;
  figure.inputs = {trace.spec()};
  figure.parameters["head"] = std::to_string(session.trace.head);
  set(figure, "batch", std::to_string(session.trace.batch));
  set_arrays(figure, trace.arrays);
  if (figure_of_one(maps.layout)) {
    set(figure, "similarity", text_of(maps.calls[operation], trace));
    set(figure, "tokens", maps.tree_tokens);
    return figure;
  }
  set(figure, "similarities", text_of(maps.calls, trace));
  set(figure, "limits", maps.shared_limits ? "shared" : "own");
  if (figure.name == "arcs") {
    set_arcs(figure, maps, trace.extents());
  } else {
    set_maps(figure, maps, trace);
    set_subjects(figure, maps, trace);
  }
  return figure;
}

}  // namespace conelab::desktop
