#include "core/study/tree_job.h"

#include <nlohmann/json.hpp>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/call_text.h"
#include "core/study/call_json.h"
#include "core/study/job_input.h"
#include "core/trace/attention_input.h"

namespace conelab {
namespace {

/// Remarks on numbers that are not finite. They are kept, as `attend` keeps them; tokens with such
/// numbers have no place in a tree.
void remark_non_finite(const TreeJob& job, const NonFinite& input,
                       const std::vector<tree::HeadTree>& trees, const JobContext& context) {
  if (input.nan + input.infinite == 0) return;
  std::size_t unplaced = 0;
  for (const tree::HeadTree& head : trees) unplaced += head.undefined_count() - head.padding;
  context.say(
      "{}: the input has {} NaN and {} infinite numbers in {}; they are kept; {} without a place "
      "in their tree: {}",
      job.attend.input, input.nan, input.infinite, join(input.arrays),
      job.tokens == "key" ? "keys" : "queries", unplaced);
}

/// Returns the attributes that say where the file came from, in addition to its spec.
Attributes origin_of(const Call& asked, const Input& file) {
  Attributes origin = {{"call", call_text(asked)}, {"input_sha256", file.sha256}};
  if (!file.model.empty()) origin.emplace_back("input_model", file.model);
  return origin;
}

std::string spec_of(const TreeJob& job, const Plan& plan) {
  AttendJob resolved = job.attend;
  resolved.call = plan.call;
  nlohmann::ordered_json spec = attend_to_json(resolved);
  spec["command"] = "tree";
  spec["tokens"] = job.tokens;
  return json_line(spec);
}

void write_trees(const std::string& path, const TreeResult& result, const Attributes& origin) {
  LabelledFile file = tree_file(result.trees, result.labels);
  file.creator = program_version();
  file.attributes.emplace_back("spec", result.spec);
  file.attributes.insert(file.attributes.end(), origin.begin(), origin.end());
  write_labelled(path, file);
}

}  // namespace

TreeResult run_tree(const TreeJob& job, const JobContext& context) {
  const AttendJob& own = job.attend;
  check_key_lengths(own.call, own.key_lengths);
  const tree::Tokens tokens = tree::tokens_from_name(job.tokens);
  if (!is_attention(own.call)) {
    misuse("tree takes a similarity, not the operator {}", own.call.operation);
  }
  claim_output(own, "tree", "tree", context.cancelled);
  Input file = read_attend_input(own, context.cancelled);
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
  result.spec = spec_of(job, *plan);
  const HiddenPairs hidden = hidden_pairs(*plan, input);
  const PairCall<double> pairs = pair_call(plan, std::move(input));
  Execution execution;
  execution.threads = own.threads;
  execution.cancelled = context.cancelled;
  if (context.progress) {
    execution.progress = [&](double done) { context.progress("tree", done); };
  }
  result.trees = head_trees(*pairs.plan, pairs.input, tokens, execution);
  remark_non_finite(job, non_finite, result.trees, context);
  remark_hidden_pairs(hidden, context);
  write_trees(own.output, result, origin);
  return result;
}

}  // namespace conelab
