// `conelab tree`: ancestor order, dendrogram and segmentation of the tokens of every head.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/call_options.h"
#include "app/command.h"
#include "app/output.h"
#include "app/run_job.h"
#include "core/files/text.h"
#include "core/study/job_input.h"
#include "core/study/tree_job.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

struct TypedTree {
  TreeJob job;
  std::shared_ptr<CallOptions> call;
  std::string lengths;
  bool json = false;
};

/// Returns the number of a token, and its text if it has one: "13 '!'".
std::string token_text(const std::vector<std::string>& tokens, std::int64_t index) {
  const auto i = static_cast<std::size_t>(index);
  return i < tokens.size() ? fmt::format("{} '{}'", index, tokens[i]) : fmt::format("{}", index);
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
      line += fmt::format(
          ", least attention crosses after token {} ({:.2f} of uniform)",
          token_text(tokens_of_batch(labels.tokens, static_cast<std::int64_t>(head.size),
                                     static_cast<std::int64_t>(i) / labels.head),
                     at),
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

int run(const TypedTree& typed) {
  TreeJob job = typed.job;
  job.attend.call = typed.call->call();
  job.attend.key_lengths = parse_key_lengths(typed.lengths);
  const TreeResult result = run_with_bar(
      "tree", job.attend.output, [&](const JobContext& context) { return run_tree(job, context); });
  if (typed.json) {
    print_json({{"output", job.attend.output},
                {"spec", Json::parse(result.spec)},
                {"heads", trees_json(result.trees, result.labels)}});
  } else {
    say("{}: trees of {} under {}", job.attend.output, job.tokens == "key" ? "keys" : "queries",
        operator_name(job.attend.call));
    print_trees(result.trees, result.labels);
  }
  return 0;
}

}  // namespace

Action declare_tree(CLI::App& options) {
  const auto typed = std::make_shared<TypedTree>();
  AttendJob& job = typed->job.attend;
  options.add_option("INPUT", job.input, "q, k, v as for `attend`")->required();
  options.add_option("-o,--output", job.output, "the HDF5 file to write")->required();
  typed->call = declare_call(options);
  options.add_option("--lengths", typed->lengths,
                     "for --mask padding: keys that are not padding, one per batch element");
  options.add_option("--tokens", typed->job.tokens, "whose tokens become the tree: key or query")
      ->capture_default_str();
  options.add_option("--threads", job.threads, "threads; default: all cores")
      ->check(CLI::Range(1, 4096));
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run(*typed); };
}

}  // namespace conelab
