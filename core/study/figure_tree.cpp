// Reads the tree of one head, from a result of `tree` or from a trace.
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/call_text.h"
#include "core/files/sandbox.h"
#include "core/files/text.h"
#include "core/study/figure_request.h"
#include "core/study/figure_result.h"
#include "core/study/figure_trace.h"
#include "core/study/labelled_view.h"
#include "core/tree/tree_file.h"

namespace conelab {
namespace {

bool is_tree_result(const std::string& path, const std::function<bool()>& cancelled) {
  try {
    (void)read_labelled_sandboxed(path, "tree/depth", {.cancelled = cancelled});
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return false;  // Reading it as a trace reports what is wrong.
  }
}

void from_result(const FigureRequest& request, const std::string& path,
                 figure::FigureInput& input) {
  const LabelledFile file = read_result(path, request.context);
  const tree::StoredTrees stored = tree::read_trees(file);
  const std::size_t batch = request.index("batch"), head = request.index("head");
  check_index("batch", batch, stored.labels.batch);
  check_index("head", head, stored.labels.head);
  input.tree = std::make_shared<tree::HeadTree>(
      stored.trees[batch * static_cast<std::size_t>(stored.labels.head) + head]);
  input.tokens = tokens_of_batch(stored.labels.tokens, static_cast<std::int64_t>(input.tree->size),
                                 static_cast<std::int64_t>(batch));
  input.cone = result_similarity(file.attributes);
  const std::string title = result_title(file.attributes, head);
  refuse_trace_keys(request, path, title.empty() ? "trees" : "trees of " + title,
                    {"similarity", "tokens", "arrays"});
  const std::string source =
      result_source(file.attributes, text_attribute(file.attributes, "input_model"));
  input.caption =
      head_caption(source, stored.labels.batch, request) + (title.empty() ? "" : ", " + title);
}

void from_trace(const FigureRequest& request, figure::FigureInput& input) {
  const auto trace = read_trace_layer(request, request.single_input());
  if (trace->stored) {
    fail("{}: holds {} and no q, which figure {} needs", trace->file, trace->stored->name,
         request.name);
  }
  const Extents e = trace->extents();
  const std::int64_t batch = index_below(request, "batch", "batch", e.batch);
  const std::int64_t head = index_below(request, "head", "head", e.head);
  const tree::Tokens tokens = tree::tokens_from_name(request.value("tokens"));
  const std::string similarity = request.value("similarity");
  const Call call = given_call_on_head(call_from_text(similarity), *trace, head);
  if (!is_attention(call)) {
    misuse("figure {} takes a similarity, not the operator {}", request.name, call.operation);
  }
  AttentionInput<double> input_of_call = head_input(*trace, batch, head)->exact;
  const auto plan = draw_tensors(call, input_of_call);
  Execution execution;
  execution.cancelled = request.context.cancelled;
  input.tree = std::make_shared<tree::HeadTree>(
      std::move(tree::head_trees(*plan, input_of_call, tokens, execution).front()));
  input.tokens =
      tokens == tree::Tokens::key ? trace->key_tokens(batch) : trace->query_tokens(batch);
  input.cone = call_from_text(similarity).similarity;
  input.caption = head_caption(source_caption(trace->model, trace->group), e.batch, request) +
                  ", " + call_title(with_numbers_of_head(call_from_text(similarity), head));
}

}  // namespace

void read_tree(const FigureRequest& request, figure::FigureInput& input) {
  const std::string& path = request.single_input();
  if (is_tree_result(path, request.context.cancelled))
    from_result(request, path, input);
  else
    from_trace(request, input);
}

}  // namespace conelab
