// `conelab tree`: ancestor order, dendrogram and segmentation of the tokens of every head.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/attend_input.h"
#include "app/call_options.h"
#include "app/command.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/progress.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/call_text.h"
#include "core/study/attention_input.h"
#include "core/tree/tree_file.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

struct TypedTree {
  AttendJob job;
  std::shared_ptr<CallOptions> call;
  std::string tokens = "key", lengths;
  bool json = false;
};

/// Returns the number of a token, and its text if it has one: "13 '!'".
std::string token_text(const tree::TreeLabels& labels, std::int64_t index) {
  const auto i = static_cast<std::size_t>(index);
  return i < labels.tokens.size() ? fmt::format("{} '{}'", index, labels.tokens[i])
                                  : fmt::format("{}", index);
}

/// Warns of numbers that are not finite. They are kept, as `attend` keeps them; tokens with such
/// numbers have no place in a tree.
void warn_non_finite(const AttendJob& job, const NonFinite& input,
                     const std::vector<tree::HeadTree>& trees, const std::string& tokens) {
  if (input.nan + input.infinite == 0) return;
  std::size_t unplaced = 0;
  for (const tree::HeadTree& head : trees) unplaced += head.undefined_count() - head.padding;
  warn(
      "{}: the input has {} NaN and {} infinite numbers in {}; they are kept; {} without a place "
      "in their tree: {}",
      job.input, input.nan, input.infinite, join(input.arrays),
      tokens == "key" ? "keys" : "queries", unplaced);
}

void print_trees(const std::vector<tree::HeadTree>& trees, const tree::TreeLabels& labels) {
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const tree::HeadTree& head = trees[i];
    std::string line = fmt::format("  batch {} head {}: {} token{}", i / labels.head,
                                   i % labels.head, head.size, head.size == 1 ? "" : "s");
    if (head.padding > 0) line += fmt::format(", {} of them padding", head.padding);
    if (const std::size_t unplaced = head.undefined_count() - head.padding; unplaced > 0) {
      line += fmt::format(", {} of them not finite", unplaced);
    }
    if (head.order) {
      std::size_t edges = 0;
      for (const std::uint8_t cover : head.order->cover) edges += cover;
      line += fmt::format(", {} edges in the Hasse diagram", edges);
    }
    if (head.segmentation && head.segmentation->strongest >= 0) {
      const std::int64_t at = head.segmentation->strongest;
      line += fmt::format(", least attention crosses after token {} ({:.2f} of uniform)",
                          token_text(labels, at),
                          head.segmentation->relative[static_cast<std::size_t>(at)]);
    } else if (head.segmentation && head.size > 1) {
      line += head.segmentation->unknown()
                  ? ", attention across boundaries unknown: its weights are not finite"
                  : ", no attention may cross a boundary";
    } else if (!head.segmentation) {
      line += ", attention across boundaries needs as many queries as keys";
    }
    say("{}", line);
  }
}

Json trees_json(const std::vector<tree::HeadTree>& trees, const tree::TreeLabels& labels) {
  Json list = Json::array();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const tree::HeadTree& head = trees[i];
    Json row{{"batch", i / labels.head}, {"head", i % labels.head}, {"tokens", head.size}};
    row["tokens_padding"] = head.padding;
    row["tokens_not_finite"] = head.undefined_count() - head.padding;
    row["merges"] = head.dendrogram.merges.size();
    if (head.segmentation && head.segmentation->strongest >= 0) {
      const std::int64_t at = head.segmentation->strongest;
      row["strongest_boundary"] = at;
      row["relative_crossing"] = head.segmentation->relative[static_cast<std::size_t>(at)];
    }
    list.push_back(row);
  }
  return list;
}

std::vector<tree::HeadTree> compute(const Plan& plan, const AttentionInput<double>& input,
                                    tree::Tokens tokens, int threads) {
  Progress bar("tree");
  Execution execution;
  execution.threads = threads;
  execution.cancelled = interrupted;
  execution.progress = [&bar](double done) { bar.update(done); };
  std::vector<tree::HeadTree> trees = head_trees(plan, input, tokens, execution);
  bar.clear();
  return trees;
}

/// Returns the attributes that say where the file came from, in addition to its spec.
Attributes origin_of(const Call& asked, const Input& file) {
  Attributes origin = {{"call", call_text(asked)}, {"input_sha256", file.sha256}};
  if (!file.model.empty()) origin.emplace_back("input_model", file.model);
  return origin;
}

void write_trees(const std::string& path, const std::vector<tree::HeadTree>& trees,
                 const tree::TreeLabels& labels, const Json& spec, const Attributes& origin) {
  LabelledFile result = tree_file(trees, labels);
  result.creator = program_version();
  result.attributes.emplace_back("spec", json_line(spec));
  result.attributes.insert(result.attributes.end(), origin.begin(), origin.end());
  write_labelled(path, result);
}

int run(const TypedTree& typed) {
  AttendJob job = typed.job;
  job.call = typed.call->call();
  job.key_lengths = parse_key_lengths(typed.lengths);
  check_key_lengths(job.call, job.key_lengths);
  const tree::Tokens tokens = tree::tokens_from_name(typed.tokens);
  if (!is_attention(job.call)) {
    misuse("tree takes a similarity, not the operator {}", job.call.operation);
  }
  claim_output(job, "tree", "tree");

  Input file = read_attend_input(job, interrupted);
  tree::TreeLabels labels;
  labels.tokens = tokens == tree::Tokens::key ? file.key_token : file.query_token;
  const Call call = call_for_input(job, file);
  const NonFinite non_finite = count_non_finite(file);
  const Attributes origin = origin_of(job.call, file);
  AttentionInput<double> input = attention_input<double>(std::move(file), Dtype::f64);
  input.key_lengths = job.key_lengths;
  const Extents extents = check_extents(input);
  labels.batch = extents.batch;
  labels.head = extents.head;
  const auto plan = draw_tensors(call, input);
  const PairCall<double> pairs = pair_call(plan, std::move(input));
  const auto trees = compute(*pairs.plan, pairs.input, tokens, job.threads);
  warn_non_finite(job, non_finite, trees, typed.tokens);

  job.call = plan->call;
  Json spec = attend_to_json(job);
  spec["command"] = "tree";
  spec["tokens"] = typed.tokens;
  write_trees(job.output, trees, labels, spec, origin);
  if (typed.json) {
    print_json({{"output", job.output}, {"spec", spec}, {"heads", trees_json(trees, labels)}});
  } else {
    say("{}: trees of {} under {}", job.output, typed.tokens == "key" ? "keys" : "queries",
        operator_name(job.call));
    print_trees(trees, labels);
  }
  return 0;
}

}  // namespace

Action declare_tree(CLI::App& options) {
  const auto typed = std::make_shared<TypedTree>();
  AttendJob& job = typed->job;
  options.add_option("INPUT", job.input, "q, k, v as for `attend`")->required();
  options.add_option("-o,--output", job.output, "the HDF5 file to write")->required();
  typed->call = declare_call(options);
  options.add_option("--lengths", typed->lengths,
                     "for --mask padding: keys that are not padding, one per batch element");
  options.add_option("--tokens", typed->tokens, "whose tokens become the tree: key or query")
      ->capture_default_str();
  options.add_option("--threads", job.threads, "threads; default: all cores")
      ->check(CLI::Range(1, 4096));
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run(*typed); };
}

}  // namespace conelab
