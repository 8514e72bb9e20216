// The job `embed`: places the nodes of a hierarchy as tokens, and measures how well pairs of them
// find it.
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/key_values.h"
#include "core/base/names.h"
#include "core/base/random.h"
#include "core/embed/construction.h"
#include "core/embed/descent.h"
#include "core/embed/measures.h"
#include "core/files/bench_file.h"
#include "core/jobs/hierarchy_job.h"
#include "core/jobs/shared_fields.h"
#include "core/jobs/tune.h"
#include "core/operators/operator.h"

namespace conelab {
namespace {

constexpr Node most_ordered = 5000;  // ancestor_f1 looks at all pairs.
constexpr int held_out_negatives = 10;

const std::vector<KeyInfo>& embed_keys() {
  static const std::vector<KeyInfo> keys = {
      {"dim", "2", "coordinates of a point", Domain::whole, "", 64},
      {"epochs", "1000", "epochs of descent", Domain::count, "", 1e6},
      {"rate", ".05", "first rate of Adam", Domain::positive, "", 10},
      {"negatives", "50", "others that are drawn for each node or pair; 0: all nodes, exactly",
       Domain::count, "", 1e5},
      {"held_out", "0",
       "share of the pairs of a node and an ancestor beyond its parents to hold back",
       Domain::non_negative, "", 0.99},
      {"closure", "none", "share of further pairs beside the edges, in percent, for the protocol",
       Domain::choice, "none|0|10|25|50"},
      {"scale", "0", "length of an edge of the construction; 0: chosen from the precision",
       Domain::non_negative, "", 30},
      {"seed", "1", "of the random numbers", Domain::count}};
  return keys;
}

/// Returns the keys of -p: those of the job, and the parameters of the spec's similarity.
std::vector<std::string> known_keys(const JobSpec& spec) {
  return keys_with_parameters(embed_keys(), {spec.text("similarity")});
}

/// Throws misuse for a key of -p that is unknown, and for a wrong value of one of the job's own.
KeyValues values_of(const JobSpec& spec) {
  return {"embed", embed_keys(), own_texts(spec, embed_keys(), known_keys(spec))};
}

PairModel model_of(const JobSpec& spec, int dim) {
  const std::string similarity = spec.text("similarity");
  return {similarity, dim, similarity_parameters(spec, embed_keys(), similarity)};
}

/// What the job computes.
struct Embedding {
  std::vector<double> point, placed;  ///< [n × ...] row-major
  std::string model;                  ///< Of `placed`.
  PairScore score;
  std::map<std::string, double> attributes;  ///< Measures and parameters.
  HeldOut held_out;
};

Embedding construct(const Hierarchy& hierarchy, const KeyValues& values) {
  const auto dim = static_cast<int>(values.whole("dim"));
  if (dim < 2) misuse("embed: the construction needs dim of at least 2");
  const Construction made = constructed(hierarchy, dim, values.number("scale"),
                                        static_cast<std::uint64_t>(values.whole("seed")));
  const auto model = std::make_shared<PairModel>("hyperbolic", dim + 1);
  const auto tokens = std::make_shared<PlacedTokens>();
  tokens->count = hierarchy.size();
  tokens->point = made.points;
  model->place(*tokens);
  Embedding result{made.points, {}, "ball", {}, {{"scale", made.scale}}, {}};
  for (Node i = 0; i < tokens->count; ++i) {
    const double* row = &made.points[static_cast<std::size_t>(i * (dim + 1))];
    for (int c = 0; c < dim; ++c) result.placed.push_back(row[c] * std::tanh(row[dim] / 2));
  }
  result.score = [=](Node i, Node j) { return model->score(*tokens, i, *tokens, j); };
  return result;
}

/// Returns F1 of the pairs kept from training against ten pairs for each in which one node was
/// drawn anew, by the cones' own order.
double f1_held_out(const PairModel& model, const PlacedTokens& tokens, const ConeOrder& order,
                   const NodePairs& held_out, const NodeLists& closure, std::uint64_t seed) {
  Random random(seed);
  double right = 0, wrong = 0, missed = 0;
  for (const auto& [u, v] : held_out) {
    (order.energy(model, tokens, u, v) <= 0 ? right : missed) += 1;
    for (int c = 0; c < held_out_negatives; ++c) {
      const auto other = static_cast<Node>(random.below(static_cast<std::uint64_t>(tokens.count)));
      const Node below = c % 2 == 0 ? other : u, above = c % 2 == 0 ? v : other;
      const auto& known = closure[static_cast<std::size_t>(below)];
      if (below == above || std::binary_search(known.begin(), known.end(), above)) continue;
      wrong += order.energy(model, tokens, below, above) <= 0;
    }
  }
  return f1_of_counts(right, wrong, missed);
}

/// Returns F1 of all pairs by the cones' order against the closure.
double f1_of_order(const PairModel& model, const PlacedTokens& tokens, const ConeOrder& order,
                   const NodeLists& closure) {
  double right = 0, wrong = 0, missed = 0;
  for (Node u = 0; u < tokens.count; ++u) {
    const auto& above = closure[static_cast<std::size_t>(u)];
    for (Node v = 0; v < tokens.count; ++v) {
      if (u == v) continue;
      const bool found = order.energy(model, tokens, u, v) <= 0;
      const bool is = std::binary_search(above.begin(), above.end(), v);
      right += found && is;
      wrong += found && !is;
      missed += !found && is;
    }
  }
  return f1_of_counts(right, wrong, missed);
}

Embedding descend(const Hierarchy& hierarchy, const JobSpec& spec, const KeyValues& values,
                  const JobContext& context) {
  const auto seed = static_cast<std::uint64_t>(values.whole("seed"));
  const auto dim = static_cast<int>(values.whole("dim"));
  const auto model = std::make_shared<PairModel>(model_of(spec, dim));
  const auto tokens = std::make_shared<PlacedTokens>(drawn_points(hierarchy.size(), dim, seed));
  const NodeLists closure = ancestors_of(hierarchy);
  DescentOptions options{values.whole("epochs"), values.number("rate"), values.whole("negatives"),
                         seed};
  options.progress = [&](double done) {
    stop_if(context.cancelled);
    if (context.progress) context.progress("descent", done);
  };
  Embedding result;
  auto order = ConeOrder::of(*model);
  if (const std::string& share = values.text("closure"); share != "none") {
    result.held_out = hold_out(hierarchy, closure, 1 - std::stod(share) / 100, 0, seed);
    result.attributes["loss"] =
        train_order(*model, *tokens, *order, result.held_out.trained_pairs, closure, options);
    result.attributes["held_out_f1"] =
        f1_held_out(*model, *tokens, *order, result.held_out.pairs, closure, seed);
  } else {
    result.held_out = hold_out(hierarchy, closure, values.number("held_out"), 0, seed);
    result.attributes["loss"] = train_attention(*model, *tokens, result.held_out.trained, options);
  }
  if (order && hierarchy.size() <= most_ordered) {
    order->follow(*model);
    result.attributes["ancestor_f1"] = f1_of_order(*model, *tokens, *order, closure);
  }
  for (const auto& [key, value] : model->parameters()) result.attributes[key] = value;
  result.point = tokens->point;
  result.placed = model->placed(*tokens);
  result.model = model->placed_model();
  result.score = [=](Node i, Node j) { return model->score(*tokens, i, *tokens, j); };
  if (!result.held_out.pairs.empty()) {
    const auto found =
        measure_held_out(result.held_out.held, result.held_out.trained, result.score);
    result.attributes["held_out_map"] = found.map;
    result.attributes["held_out_rank"] = found.rank;
  }
  return result;
}

void add_points(LabelledArray& group, const std::string& name, const std::string& axis,
                const std::vector<double>& points, Attributes attributes) {
  group.axes.push_back(
      counted_axis(axis, points.size() / std::max<std::size_t>(1, group.axes[0].size())));
  group.variables.push_back({name, {"node", axis}, points, "", std::move(attributes)});
}

void write_embedding(const std::string& path, const Hierarchy& hierarchy, const Embedding& made,
                     const Json& spec, const JobContext& context, JobReport& report) {
  LabelledArray group;
  group.axes = {counted_axis("node", hierarchy.names.size())};
  add_points(group, "point", "coordinate", made.point, {});
  add_points(group, "placed", "placed_coordinate", made.placed, {{"model", made.model}});
  if (spec.contains("similarity")) {  // Points that a similarity compares are a trace, too.
    group.add("q", {"node", "coordinate"}, made.point);
    group.add("token", {"node"}, hierarchy.names);
  }
  for (const auto& [key, value] : made.attributes) group.attributes.emplace_back(key, value);
  LabelledFile file = result_of(spec);
  file.groups = {{"embedding", group},
                 {"hierarchy", group_with_held_out(hierarchy, made.held_out)}};
  add_choice(context, file, report);
  for (const char* key : {"similarity", "method"}) {
    if (spec.contains(key)) file.attributes.emplace_back(key, spec[key].get<std::string>());
  }
  write_labelled(path, file);
}

JobReport run_embed(const JobSpec& spec, const JobContext& context) {
  const KeyValues values = values_of(spec);
  const Hierarchy hierarchy = read_edges(spec, context);
  Embedding made = spec.text("method") == "construction"
                       ? construct(hierarchy, values)
                       : descend(hierarchy, spec, values, context);
  const EmbeddingMeasures found =
      measure_embedding(hierarchy, made.score, static_cast<std::uint64_t>(values.whole("seed")));
  made.attributes["map"] = found.map;
  made.attributes["map_half_width"] = found.map_half_width;
  made.attributes["map_neighbours"] = found.map_neighbours;
  made.attributes["mean_rank"] = found.mean_rank;
  made.attributes["depth_correlation"] = found.depth_correlation;
  const Json json = spec_with_defaults(spec, values.texts());
  const std::string output = spec.text("output");
  JobReport report{.summary = {{"output", output}, {"spec", json}, {"nodes", hierarchy.size()}},
                   .lines = {fmt::format("{}: {} nodes as tokens", output, hierarchy.size())},
                   .files = {output}};
  write_embedding(output, hierarchy, made, json, context, report);
  for (const auto& [name, value] : made.attributes) {
    report.summary[name] = value;
    report.lines.push_back(fmt::format("  {:<18} {:.4g}", name, value));
  }
  constexpr Node comparable = 1000;  // The sizes of the hierarchies that others have embedded.
  if (hierarchy.size() >= comparable) {
    report.lines.emplace_back(
        "Printed elsewhere: map .927 (Poincaré embeddings, mammals, d = 5), map_neighbours .989 "
        "(construction, all nouns, plane, high precision), held_out_f1 .944 (Ganea et al., all "
        "nouns, d = 10, closure=50).");
  }
  return report;
}

void check_embed(const JobSpec& spec) {
  const KeyValues values = values_of(spec);
  if (spec.text("method") == "construction") {
    if (spec.given("similarity")) misuse("embed: the construction takes no --similarity");
    if (values.number("held_out") > 0) misuse("embed: the construction holds no pairs back");
    return;
  }
  if (!spec.given("similarity")) misuse("embed: give --similarity, or --method construction");
  const PairModel model = model_of(spec, static_cast<int>(values.whole("dim")));
  if (values.text("closure") == "none") return;
  if (values.whole("negatives") == 0) misuse("embed: closure needs negatives of at least 1");
  if (!ConeOrder::of(model)) {
    misuse("embed: closure needs cones, and {} has none", spec.text("similarity"));
  }
  if (values.number("held_out") > 0) misuse("embed: closure and held_out both hold pairs back");
}

std::vector<std::string> embed_measures() {
  std::vector<std::string> names = {"nodes",          "map",         "map_half_width",
                                    "map_neighbours", "mean_rank",   "depth_correlation",
                                    "ancestor_f1",    "held_out_f1", "held_out_map",
                                    "held_out_rank",  "loss",        "scale"};
  for (const ParameterInfo& info : all_parameters()) names.emplace_back(info.key);
  return names;
}

}  // namespace

JobKind embed_job() {
  return with_tune_fields(
      {.name = "embed",
       .about = "place the nodes of a hierarchy as tokens, and measure how well pairs find it",
       .example = "  conelab embed mammals.h5 -o points.h5 --similarity penumbral -p dim=5\n"
                  "  conelab embed mammals.h5 -o exact.h5 --method construction\n",
       .version = 4,
       .fields =
           {hierarchy_field(),
            output_field(),
            {"similarity", "-s,--similarity", "similarity of pairs (`conelab list similarities`)"},
            {.name = "method",
             .option = "--method",
             .about = "descent by gradients, or the combinatorial construction",
             .initial = "descent",
             .choices = {"descent", "construction"}},
            parameters_field("dim, epochs, rate, negatives, held_out, closure, scale, seed, and "
                             "parameters of the similarity: a number, or train (the default); "
                             "-p again for the next")},
       .run = run_embed,
       .check = check_embed,
       .sources = token_sources,
       .keys = known_keys,
       .measures = embed_measures(),
       .result = true,
       .tokens = true});
}

}  // namespace conelab
