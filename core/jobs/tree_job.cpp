// The job `tree`: ancestor order, dendrogram and segmentation of the tokens of every head.

#include <optional>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/utf8.h"
#include "core/call/call.h"
#include "core/drawing/text.h"
#include "core/job/call_json.h"
#include "core/jobs/job_input.h"
#include "core/jobs/shared_fields.h"
#include "core/trace/trace.h"
#include "core/tree/tree_file.h"

namespace conelab {
namespace {

struct TreeResult {
  std::vector<tree::HeadTree> trees;  ///< [batch × head]
  tree::TreeLabels labels;
  std::string spec;  ///< The job as JSON, with every default of the call written out.
};

/// Returns "keys" or "queries", whose tokens become the tree.
const char* tokens_text(const JobSpec& spec) {
  return spec.text("tokens") == "key" ? "keys" : "queries";
}

/// Remarks on numbers that are not finite. They are kept, as `attend` keeps them; tokens with such
/// numbers have no place in a tree.
void remark_unplaced(const JobSpec& spec, const NonFinite& input,
                     const std::vector<tree::HeadTree>& trees, const JobContext& context) {
  if (input.nan + input.infinite == 0) return;
  std::size_t unplaced = 0;
  for (const tree::HeadTree& head : trees) unplaced += head.undefined_count() - head.padding;
  context.say(
      "{}: the input has {} NaN and {} infinite numbers in {}; they are kept; {} without a place "
      "in their tree: {}",
      spec.text("input"), input.nan, input.infinite, join(input.arrays), tokens_text(spec),
      unplaced);
}

/// Returns the attributes that say where the file came from, in addition to its spec.
Attributes origin_of(const Call& asked, const Input& file) {
  Attributes origin = {{"call", call_text(asked)}, {"input_sha256", file.sha256}};
  if (!file.model.empty()) origin.emplace_back("input_model", file.model);
  return origin;
}

std::string resolved_spec(JobSpec spec, const Plan& plan) {
  spec.values["call"] = plan.call;
  return json_line(spec_to_json(spec));
}

void write_trees(const std::string& path, const TreeResult& result, const Attributes& origin) {
  LabelledFile file = tree_file(result.trees, result.labels);
  file.creator = program_version();
  file.attributes.emplace_back("spec", result.spec);
  file.attributes.insert(file.attributes.end(), origin.begin(), origin.end());
  write_labelled(path, file);
}

TreeResult make_trees(const JobSpec& spec, const JobContext& context) {
  const AttendJob own = attend_of(spec);
  const tree::Tokens tokens = tree::tokens_from_name(spec.text("tokens"));
  Input file = read_attend_input(own, context);
  TreeResult result;
  result.labels.tokens = tokens == tree::Tokens::key ? file.key_token : file.query_token;
  const Call call = call_for_input(own, file);
  const NonFinite non_finite = count_non_finite(file);
  const Attributes origin = origin_of(own.call, file);
  AttentionInput<double> input = attention_input<double>(std::move(file), Dtype::f64);
  input.key_lengths = own.key_lengths;
  const auto plan = draw_tensors(call, input);
  result.labels.batch = plan->extents.batch;
  result.labels.head = plan->extents.head;
  result.spec = resolved_spec(spec, *plan);
  const HiddenPairs hidden = hidden_pairs(*plan, input);
  const PairCall<double> pairs = pair_call(plan, std::move(input));
  result.trees = head_trees(pairs, tokens, context.execution(own.threads, "tree"));
  remark_unplaced(spec, non_finite, result.trees, context);
  remark_hidden_pairs(hidden, context);
  write_trees(own.output, result, origin);
  return result;
}

/// Returns the number of a token, and its text if it has one: "13 '!'".
std::string token_text(const std::vector<std::string>& tokens, std::int64_t index) {
  const auto i = static_cast<std::size_t>(index);
  return i < tokens.size() ? fmt::format("{} '{}'", index, figure::token_text(tokens[i]))
                           : fmt::format("{}", index);
}

std::vector<std::string> tree_lines(const std::vector<tree::HeadTree>& trees,
                                    const tree::TreeLabels& labels) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const tree::HeadTree& head = trees[i];
    std::string line = fmt::format("  batch {} head {}: {}", i / labels.head, i % labels.head,
                                   counted(head.size, "token"));
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
    lines.push_back(std::move(line));
  }
  return lines;
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

/// Returns the mean over heads of the attention that crosses the strongest boundary, relative to
/// uniform; nothing if a head has none.
std::optional<double> mean_crossing(const std::vector<tree::HeadTree>& trees) {
  double sum = 0;
  for (const tree::HeadTree& head : trees) {
    if (!head.segmentation || head.segmentation->strongest < 0) return std::nullopt;
    sum += head.segmentation->relative[static_cast<std::size_t>(head.segmentation->strongest)];
  }
  return sum / static_cast<double>(trees.size());
}

JobReport run_tree(const JobSpec& spec, const JobContext& context) {
  const TreeResult result = make_trees(spec, context);
  JobReport report{.summary = {{"output", spec.text("output")},
                               {"spec", Json::parse(result.spec)},
                               {"heads", trees_json(result.trees, result.labels)}},
                   .lines = tree_lines(result.trees, result.labels),
                   .files = {spec.text("output")}};
  if (const auto crossing = mean_crossing(result.trees)) {
    report.measures["relative_crossing"] = *crossing;
  }
  report.lines.insert(report.lines.begin(),
                      fmt::format("{}: trees of {} under {}", spec.text("output"),
                                  tokens_text(spec), operator_name(spec.call())));
  return report;
}

void check_tree(const JobSpec& spec) {
  const AttendJob job = attend_of(spec);
  check_key_lengths(job.call, job.key_lengths);
  (void)tree::tokens_from_name(spec.text("tokens"));
  if (!is_attention(job.call)) {
    misuse("tree takes a similarity, not the operator {}", job.call.operation);
  }
}

}  // namespace

JobKind tree_job() {
  JobField input = input_field();
  input.about = "q, k, v as for `attend`";
  input.required = true;
  return with_reading_fields(
      {.name = "tree",
       .about = "ancestor order, dendrogram and segmentation of each head's tokens",
       .example = "  conelab tree datasets/minilm_trace.h5:/german/layer3 -o tree.h5 "
                  "--similarity umbral\n",
       .fields = {input,
                  output_field(),
                  call_field(),
                  lengths_field(),
                  {"tokens", "--tokens", "whose tokens become the tree: key or query",
                   FieldKind::text, "key"},
                  threads_field()},
       .run = run_tree,
       .check = check_tree,
       .check_input = check_declared_input,
       .sources = token_sources,
       .keys = call_keys,
       .result = true});
}

}  // namespace conelab
