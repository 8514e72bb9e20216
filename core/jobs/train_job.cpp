// The job `train`: attention heads with a query and a key for each node of a hierarchy, trained so
// that each token attends to its ancestors and itself, and how well they do.
//
// If snapshots are kept, the job writes the file while it trains, so that it can be watched and
// nothing is lost if the job is stopped: the head so far of the start with the least loss, and of
// it the snapshots, each a group GROUP/stepNNN with its loss and its attention on ancestors.
//
// The file holds a trace: a group /SIMILARITY/seedN for each head, in the first dimension, and
// /SIMILARITY_dD/seedN in further ones. Its attributes similarity, gamma and so on are those of the
// operator that it was trained for, which commands and the desktop then take.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/key_values.h"
#include "core/base/names.h"
#include "core/base/parallel.h"
#include "core/bench/axes.h"
#include "core/embed/ancestor_loss.h"
#include "core/embed/held_out.h"
#include "core/embed/measures.h"
#include "core/embed/train_head.h"
#include "core/files/bench_file.h"
#include "core/files/read_tensors.h"
#include "core/job/call_json.h"
#include "core/jobs/hierarchy_job.h"
#include "core/jobs/shared_fields.h"
#include "core/jobs/training_record.h"
#include "core/jobs/tune.h"
#include "core/operators/operator.h"
#include "core/tree/merge.h"

namespace conelab {
namespace {

using tree::Cluster;

/// The largest number of nodes for a step or a dendrogram that looks at all pairs.
constexpr Node most_in_pairs = 5000;
constexpr std::int64_t most_dim = 1024;

const std::vector<KeyInfo>& train_keys() {
  static const std::vector<KeyInfo> keys = {
      {"epochs", "1000", "steps of descent", Domain::whole, "", 1e6},
      {"rate", ".05", "first rate of Adam", Domain::positive, "", 10},
      {"starts", "4", "random starts, of which the one with the least loss is kept", Domain::whole,
       "", 1000},
      {"held_out", "0",
       "share of the pairs of a node and an ancestor beyond its parents to hold back",
       Domain::non_negative, "", 0.99},
      {"held_out_nodes", "0", "share of the nodes without children to hold back",
       Domain::non_negative, "", 0.99},
      {"tokens", "own", "points of their own, or one or two layers that map the nodes' features",
       Domain::choice, "own|linear|layers"},
      {"hidden", "32", "width between two layers", Domain::whole, "", 4096},
      {"snapshots", "0",
       "how many steps of each head are kept, as groups GROUP/stepNNN; the file is there while "
       "they "
       "are made",
       Domain::count, "", 1000}};
  return keys;
}

/// Returns the keys of -p: those of the job, and the parameters of the similarities.
std::vector<std::string> keys_of_training(const JobSpec& spec) {
  return keys_with_parameters(train_keys(), split_list(spec.text("similarity"), "--similarity"));
}

/// Throws misuse for a wrong similarity, dimension, seed or key.
Training training_of(const JobSpec& spec) {
  const KeyValues values("train", train_keys(),
                         own_texts(spec, train_keys(), keys_of_training(spec)));
  Training training{{},
                    {},
                    values.texts(),
                    values.whole("starts"),
                    values.number("held_out"),
                    values.number("held_out_nodes"),
                    values.whole("snapshots")};
  const std::string& word = values.text("tokens");
  const TokenKind tokens = word == "own"      ? TokenKind::own
                           : word == "linear" ? TokenKind::linear
                                              : TokenKind::layers;
  if (training.held_out_nodes > 0 && tokens == TokenKind::own) {
    misuse(
        "train: held_out_nodes needs tokens=linear or layers: points of their own are unknown "
        "for nodes that are not trained");
  }
  const std::vector<std::int64_t> dims = parse_each("--dim", spec.text("dim"));
  const std::vector<std::int64_t> seeds = parse_each("--seeds", spec.text("seeds"));
  if (dims.back() > most_dim)
    misuse("--dim: expected at most {} (found {})", most_dim, dims.back());
  const std::vector<std::string> names = split_list(spec.text("similarity"), "--similarity");
  for (const std::string& name : names) {
    if (std::ranges::count(names, name) > 1) misuse("--similarity: '{}' is given twice", name);
    for (const std::int64_t dim : dims) {
      for (const std::int64_t seed : seeds) {
        training.goals.push_back({name, static_cast<int>(dim), static_cast<std::uint64_t>(seed),
                                  similarity_parameters(spec, train_keys(), name),
                                  values.whole("epochs"), values.number("rate"), tokens,
                                  values.whole("hidden")});
        const std::string further = dim == dims.front() ? "" : fmt::format("_d{}", dim);
        training.groups.push_back(fmt::format("{}{}/seed{}", name, further, seed));
      }
      (void)PairModel(name, static_cast<int>(dim), training.goals.back().parameters);
    }
  }
  return training;
}

/// Throws a failure if the hierarchy has too many nodes for a similarity.
void check_size(const Training& training, const Hierarchy& hierarchy, const std::string& path) {
  if (hierarchy.size() <= most_in_pairs) return;
  for (const HeadGoal& goal : training.goals) {
    if (!sums_all_pairs(PairModel(goal.similarity, goal.dim, goal.parameters))) continue;
    fail(
        "{}: the hierarchy has {} nodes, but at most {} are trained for {} with --dim {}, whose "
        "steps look at all pairs (those of umbral with --dim 2 do not)",
        path, hierarchy.size(), most_in_pairs, goal.similarity, goal.dim);
  }
}

/// Returns the features of all nodes, scaled. Throws a failure if there are none.
Features features_of(const Hierarchy& hierarchy, std::span<const Node> seen,
                     const std::string& path) {
  if (hierarchy.features.empty()) {
    fail("{}: its nodes have no features (expected an array feature [{} x f] in /hierarchy)", path,
         hierarchy.size());
  }
  const auto columns = static_cast<std::int64_t>(hierarchy.features.size()) / hierarchy.size();
  return scaled_features({hierarchy.features, columns}, seen);
}

/// Holds back what is asked for, by the first seed. Throws a failure if the hierarchy has too few
/// pairs or nodes for that.
TrainingData data_of(const Training& training, const Hierarchy& hierarchy,
                     const std::string& path) {
  TrainingData data{hierarchy, ancestors_of(hierarchy), {}, {}, {}};
  data.held = hold_out(hierarchy, data.closure, training.held_out, training.held_out_nodes,
                       training.goals.front().seed);
  if (training.held_out > 0 && data.held.pairs.empty()) {
    fail(
        "{}: held_out={} holds no pair back: it is less than one of the pairs of a node and an "
        "ancestor that is not its parent",
        path, training.texts.at("held_out"));
  }
  if (training.held_out_nodes > 0 && data.held.unseen.empty()) {
    fail("{}: held_out_nodes={} holds no node back: too few have no children", path,
         training.texts.at("held_out_nodes"));
  }
  if (training.goals.front().tokens != TokenKind::own) {
    data.features = features_of(hierarchy, data.held.seen, path);
    data.problem.features = rows_of(data.features, data.held.seen);
  }
  const std::vector<Node>& seen = data.held.seen;
  for (const Node i : seen) {
    std::vector<Node>& targets = data.problem.targets.emplace_back();
    for (const Node above : data.held.trained[static_cast<std::size_t>(i)]) {
      targets.push_back(std::ranges::lower_bound(seen, above) - seen.begin());
    }
  }
  return data;
}

/// The clusters of tokens that the hierarchy knows.
struct KnownClusters {
  std::set<Cluster> nodes;   ///< Of each node: itself and its descendants, of all tokens.
  std::set<Cluster> leaves;  ///< Of each node: its leaves, numbered as in `leaf`.
  std::vector<Node> leaf;
};

KnownClusters known_clusters(const Hierarchy& hierarchy, const NodeLists& closure) {
  KnownClusters known;
  const NodeLists children = children_of(hierarchy);
  std::vector<Cluster> below(closure.size()), leaves(closure.size());
  for (Node i = 0; i < hierarchy.size(); ++i) {
    const auto n = static_cast<std::size_t>(i);
    std::vector<Node> above = closure[n];
    above.push_back(i);
    for (const Node a : above) below[static_cast<std::size_t>(a)].push_back(i);
    if (!children[n].empty()) continue;
    const auto number = static_cast<std::int64_t>(known.leaf.size());
    for (const Node a : above) leaves[static_cast<std::size_t>(a)].push_back(number);
    known.leaf.push_back(i);
  }
  known.nodes.insert(below.begin(), below.end());
  known.leaves.insert(leaves.begin(), leaves.end());
  return known;
}

/// Returns the dendrogram of some of a head's queries, as `conelab tree --tokens query` makes it.
tree::Dendrogram dendrogram_of(const TrainedHead& head, const std::vector<Node>& nodes) {
  std::vector<double> depth;
  for (const Node i : nodes) {
    for (const Node j : nodes) depth.push_back(head.model.score(head.query, i, head.query, j));
  }
  return tree::merge_by_depth(depth, nodes.size());
}

PairScore score_of(const TrainedHead& head) {
  return [&head](Node i, Node j) { return head.model.score(head.query, i, head.key, j); };
}

/// Adds the measures of what was held back.
void measure_held_back(const TrainingData& data, MeasuredHead& made) {
  const TrainedHead& head = made.head;
  const PairScore score = score_of(head);
  if (!data.held.pairs.empty()) {
    const auto found = measure_held_out(data.held.held, data.held.trained, score);
    made.measures.emplace_back("held_out_map", found.map);
    made.measures.emplace_back("held_out_rank", found.rank);
  }
  if (data.held.unseen.empty()) return;
  NodeLists unseen(data.closure.size());
  for (const Node i : data.held.unseen) {
    unseen[static_cast<std::size_t>(i)] = data.closure[static_cast<std::size_t>(i)];
  }
  const auto found = measure_held_out(unseen, NodeLists(unseen.size()), score);
  made.measures.emplace_back("unseen_map", found.map);
  made.measures.emplace_back("unseen_rank", found.rank);
  made.measures.emplace_back("unseen_mass", mass_on_ancestors(head.model, head.query, head.key,
                                                              data.closure, data.held.unseen));
}

MeasuredHead measured_head(std::vector<TrainedHead>& starts, const TrainingData& data,
                           std::uint64_t seed, const std::string& name) {
  std::vector<double> losses;
  std::size_t best = 0;
  for (const TrainedHead& start : starts) {
    losses.push_back(start.loss);
    if (start.loss < losses[best] || std::isnan(losses[best])) best = losses.size() - 1;
  }
  if (std::isnan(losses[best])) fail("{}: the logits of every start overflow at once", name);
  MeasuredHead made{std::move(starts[best]), losses, best, {}};
  place_all(made.head, data.features);
  const TrainedHead& head = made.head;
  const std::vector<Node> all = all_nodes(data);
  const EmbeddingMeasures found = measure_embedding(data.hierarchy, score_of(head), seed);
  made.measures = {{"loss", head.loss},
                   {"mass", mass_on_ancestors(head.model, head.query, head.key, data.closure, all)},
                   {"map", found.map},
                   {"map_half_width", found.map_half_width}};
  if (data.hierarchy.size() <= most_in_pairs) {
    const KnownClusters known = known_clusters(data.hierarchy, data.closure);
    const auto nodes = tree::match_clusters(known.nodes, dendrogram_of(head, all));
    const auto leaves = tree::match_clusters(known.leaves, dendrogram_of(head, known.leaf));
    made.measures.insert(made.measures.end(), {{"robinson_foulds", 1 - nodes.f1},
                                               {"robinson_foulds_least", 1 - nodes.most_f1},
                                               {"constituent_f1", leaves.f1},
                                               {"constituent_f1_most", leaves.most_f1}});
  }
  measure_held_back(data, made);
  return made;
}

/// Trains all starts of all heads, each as a task of its own.
std::vector<MeasuredHead> train_all(const Training& training, const TrainingData& data,
                                    TrainingRecord& record, const Execution& run,
                                    const JobContext& context) {
  const auto starts = static_cast<std::size_t>(training.starts);
  const std::size_t tasks = training.goals.size() * starts;
  std::vector<std::optional<TrainedHead>> trained(tasks);
  std::atomic<std::int64_t> steps = 0;
  const double all_steps =
      static_cast<double>(tasks) * static_cast<double>(training.goals.front().epochs);
  Execution one = tasks > 1 ? one_thread() : quiet(run);
  run_tasks(static_cast<std::int64_t>(tasks), run, [&](std::int64_t task, const auto& stopped) {
    const auto t = static_cast<std::size_t>(task);
    const auto stepped = [&](std::int64_t step, const TrainedHead& head) {
      record.stepped(t, step, head);
      record.show(t, step, head, context);
      record.wait_while_paused(t, context, stopped);
      if (stopped()) {
        record.keep(t, step, head);
        throw Error(ErrorKind::interrupted, "interrupted");
      }
      const auto done = static_cast<double>(++steps);
      if (context.progress) context.progress("training", done / all_steps);
    };
    trained[t] = train_head(training.goals[t / starts], t % starts, data.problem, one, stepped,
                            record.state(t));
  });
  std::vector<MeasuredHead> heads;
  for (std::size_t g = 0; g < training.goals.size(); ++g) {
    std::vector<TrainedHead> own;
    for (std::size_t s = 0; s < starts; ++s) own.push_back(std::move(*trained[g * starts + s]));
    heads.push_back(measured_head(own, data, training.goals[g].seed, training.groups[g]));
  }
  return heads;
}

Json head_json(const MeasuredHead& made, const Training& training, std::size_t g) {
  Json json{{"group", "/" + training.groups[g]},
            {"similarity", training.goals[g].similarity},
            {"dim", training.goals[g].dim},
            {"seed", training.goals[g].seed}};
  for (const auto& [key, value] : made.head.model.parameters()) json[key] = value;
  for (const auto& [key, value] : made.measures) json[key] = value;
  json["start_loss"] = made.losses;
  return json;
}

/// Returns the line of a head for people: its group, its measures and its parameters.
std::string head_line(const MeasuredHead& made, const std::string& group) {
  std::string line = fmt::format("  {:<22}", group);
  const auto add = [&](const auto& numbers) {
    for (const auto& [key, value] : numbers) line += fmt::format(" {} {:.4g}", key, value);
  };
  add(made.measures);
  add(made.head.model.parameters());
  return line;
}

/// Adds the measures and parameters of the only head, for the tables of a study.
void add_measures(const MeasuredHead& made, LabelledFile& file, JobReport& report) {
  const auto add = [&](const auto& numbers) {
    for (const auto& [key, value] : numbers) {
      file.attributes.emplace_back(key, value);
      report.summary[key] = value;
    }
  };
  add(made.measures);
  add(made.head.model.parameters());
}

JobReport run_train(const JobSpec& spec, const JobContext& context) {
  const Training training = training_of(spec);
  const Hierarchy hierarchy = read_edges(spec, context);
  check_size(training, hierarchy, parse_input_spec(spec.text("input")).path);
  const TrainingData data = data_of(training, hierarchy, parse_input_spec(spec.text("input")).path);
  const Json json = spec_with_defaults(spec, training.texts);
  LabelledFile file = result_of(json);
  const std::string output = spec.text("output");
  TrainingRecord record(training, data, output, file);
  JobReport report{.summary = {{"output", output}, {"spec", json}, {"nodes", hierarchy.size()}},
                   .files = {output}};
  if (spec.flag("resume") && !record.resume()) {
    report.lines = {output + ": was finished before"};
    return report;
  }
  std::vector<MeasuredHead> heads;
  try {
    heads = train_all(training, data, record, context.execution(spec.integer("threads")), context);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted || !record.write()) throw;
    throw Error(error.kind(), output + ": interrupted; its snapshots so far are kept");
  }
  report.lines = {
      fmt::format("{}: {} of {} tokens", output, counted(heads.size(), "head"), hierarchy.size())};
  for (std::size_t g = 0; g < heads.size(); ++g) {
    file.groups.emplace_back(training.groups[g],
                             head_group(heads[g], training.goals[g], hierarchy.names));
    record.add_to(file, g, heads[g].start);
    report.summary["heads"].push_back(head_json(heads[g], training, g));
    report.lines.push_back(head_line(heads[g], training.groups[g]));
  }
  if (hierarchy.size() > most_measured) {
    report.lines.push_back(
        fmt::format("  map is that of {} nodes that were drawn, with half the width of its "
                    "95 % interval",
                    most_measured));
  }
  if (heads.size() == 1) add_measures(heads.front(), file, report);
  add_choice(context, file, report);
  file.groups.emplace_back("hierarchy", group_with_held_out(hierarchy, data.held));
  write_labelled(output, file);
  return report;
}

void check_train(const JobSpec& spec) { (void)training_of(spec); }

std::vector<std::string> groups_of_train(const JobSpec& spec) {
  std::vector<std::string> groups = training_of(spec).groups;
  for (std::string& group : groups) group.insert(0, "/");
  return groups;
}

std::vector<std::string> train_measures() {
  std::vector<std::string> names = {"nodes",
                                    "loss",
                                    "mass",
                                    "map",
                                    "map_half_width",
                                    "robinson_foulds",
                                    "robinson_foulds_least",
                                    "constituent_f1",
                                    "constituent_f1_most",
                                    "held_out_map",
                                    "held_out_rank",
                                    "unseen_map",
                                    "unseen_rank",
                                    "unseen_mass"};
  for (const ParameterInfo& info : all_parameters()) names.emplace_back(info.key);
  return names;
}

}  // namespace

JobKind train_job() {
  return with_tune_fields(
      {.name = "train",
       .about = "train heads so that the tokens of a hierarchy attend to their ancestors",
       .example = "  conelab train mammals.h5 -o trace.h5 --similarity dot,penumbral --seeds 1..5\n"
                  "  conelab figure heatmap -o map.svg --input trace.h5:/penumbral/seed1\n",
       .version = 3,
       .fields = {hierarchy_field(),
                  output_field(),
                  {"similarity", "-s,--similarity",
                   "similarities, with commas (`conelab list similarities`)", FieldKind::text,
                   "dot,penumbral,umbral"},
                  {"dim", "--dim", "dimensions of a token: 2, or 2,3 or 2..8", FieldKind::text,
                   "2"},
                  {"seeds", "--seeds", "seeds of the starts: 1, or 1..5", FieldKind::text, "1"},
                  parameters_field(
                      "epochs, rate, starts, held_out, held_out_nodes, tokens, hidden, snapshots, "
                      "and parameters of the similarities: a number, or train (the "
                      "default); -p again for the next"),
                  {.name = "resume",
                   .option = "--resume",
                   .about = "go on with the unfinished training in the output, if there is one",
                   .kind = FieldKind::flag,
                   .changes_result = false},
                  threads_field()},
       .run = run_train,
       .check = check_train,
       .sources = token_sources,
       .keys = keys_of_training,
       .measures = train_measures(),
       .result = true,
       .tokens = true,
       .groups = groups_of_train});
}

}  // namespace conelab
