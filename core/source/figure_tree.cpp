// Reads the tree of one head, from a result of `tree` or from a trace, and the nodes of an
// embedding.

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/utf8.h"
#include "core/call/call.h"
#include "core/dataset/hierarchy.h"
#include "core/files/sandbox.h"
#include "core/geometry/cone_family.h"
#include "core/job/read_result.h"
#include "core/source/figure_request.h"
#include "core/source/figure_subject.h"
#include "core/tree/tree_file.h"

namespace conelab {
namespace {

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
      result_source(file.attributes, attribute_or_empty(file.attributes, "input_model"));
  input.caption =
      head_caption(source, stored.labels.batch, request) + (title.empty() ? "" : ", " + title);
}

/// The tokens of a head as elements of its cone family, without what takes all pairs; and the
/// lengths of the values [n_k], if the tokens are keys, as `own`.
void set_placed(const PairCall<double>& call, tree::Tokens tokens, figure::FigureInput& input) {
  tree::HeadTree tree;
  tree.placed = tree::head_elements(call, tokens, 0, 0);
  if (tree.placed) tree.size = tree.placed->elements.size();
  input.tree = std::make_shared<tree::HeadTree>(std::move(tree));
  if (tokens != tree::Tokens::key || call.input.value.shape.token == 0) return;
  std::vector<double> lengths;
  const TokenRows<const double> rows = call.input.value.tokens(0, 0);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    lengths.push_back(Eigen::Map<const geometry::Vector>(rows.row(i), rows.columns).norm());
  }
  input.own = std::move(lengths);
}

void from_trace(const FigureRequest& request, figure::FigureInput& input, bool placed_only) {
  const auto trace = read_trace_layer(request, request.single_input(), "", !placed_only);
  if (trace->stored) {
    fail("{}: holds {} and no q, which figure {} needs", trace->file, trace->stored->name,
         request.name);
  }
  const Extents e = trace->extents();
  const std::int64_t batch = index_below(request, "batch", "batch", e.batch);
  const std::int64_t head = index_below(request, "head", "head", e.head);
  const tree::Tokens tokens = tree::tokens_from_name(request.value("tokens"));
  const std::string similarity = operators_of(request, "similarity", *trace);
  const Call call = given_call_on_head(call_from_text(similarity), *trace, head);
  if (!is_attention(call)) {
    misuse("figure {} takes a similarity, not the operator {}", request.name, call.operation);
  }
  const PairCall<double> pairs = pair_call(call, head_input(*trace, batch, head)->exact);
  if (placed_only) {
    set_placed(pairs, tokens, input);
  } else {
    input.tree = std::make_shared<tree::HeadTree>(
        std::move(tree::head_trees(pairs, tokens, request.context.execution()).front()));
  }
  input.tokens =
      tokens == tree::Tokens::key ? trace->key_tokens(batch) : trace->query_tokens(batch);
  if (input.tree->size == static_cast<std::size_t>(e.key)) input.edges = trace->edges;
  input.cone = call_from_text(similarity).similarity;
  input.caption = head_caption(source_caption(trace->model, trace->group), e.batch, request) +
                  ", " + call_title(with_numbers_of_head(call_from_text(similarity), head));
}

/// Returns the cone family of a call of one word, with the parameters that it has, or else with
/// those at which an embedding by it ended.
geometry::ConeSystem system_of(const std::string& text, const Attributes& ended_at) {
  const Call call = call_from_text(text);
  std::map<std::string, double> values;
  for (const ParameterInfo& info : geometry::cone_family(call.similarity).parameters) {
    const auto given = call.parameters.find(info.key);
    const auto* trained = find_attribute<double>(ended_at, info.key);
    if (given == call.parameters.end() && trained != nullptr) values[info.key] = *trained;
    if (given == call.parameters.end()) continue;
    if (const auto number = given->second.number()) values[info.key] = *number;
  }
  return geometry::cone_system(call.similarity, values);
}

/// Returns the family under which an embedding is shown: the one that was asked for, or that of the
/// embedding, or else one in whose domain every point lies.
std::string cone_of_embedding(const FigureRequest& request, const Attributes& attributes) {
  if (request.parameters.contains("similarity")) return request.value("similarity");
  const std::string own = attribute_or_empty(attributes, "similarity");
  for (const geometry::ConeFamily* family : geometry::cone_families()) {
    if (call_from_text(own.empty() ? "dot" : own).similarity == family->name) return own;
  }
  return "umbral";
}

/// The placed nodes of an embedding, with the edges of its hierarchy.
void from_embedding(const FigureRequest& request, const std::string& path,
                    figure::FigureInput& input) {
  const LabelledFile file = read_result(path, request.context);
  const LabelledArray* group = file.group("embedding");
  const LabelledVariable* placed = group == nullptr ? nullptr : group->variable("placed");
  const auto* numbers = group == nullptr ? nullptr : group->data<double>("placed");
  if (numbers == nullptr || placed->axes.size() != 2) {
    fail("{}: /embedding: no array placed [n × d] of f64", path);
  }
  const LabelledArray* nodes = file.group("hierarchy");
  if (nodes == nullptr) fail("{}: has no group /hierarchy", path);
  const Hierarchy hierarchy = hierarchy_of_group(*nodes, path + ": /hierarchy");
  const auto n = static_cast<std::size_t>(hierarchy.size());
  if (n == 0 || numbers->size() % n != 0) {
    fail("{}: /embedding/placed has {} numbers (expected [{} × d])", path, numbers->size(), n);
  }
  input.cone = cone_of_embedding(request, file.attributes);
  const std::string model = attribute_or_empty(placed->attributes, "model");
  if (model == "euclidean") {
    misuse("{}: figure {} shows tokens of a cone family, which {} is not", path, request.name,
           attribute_or_empty(file.attributes, "similarity"));
  }
  tree::HeadTree tree;
  tree.size = n;
  const bool own = input.cone == attribute_or_empty(file.attributes, "similarity");
  tree.placed =
      tree::HeadElements{system_of(input.cone, own ? group->attributes : Attributes()), {}};
  const auto d = static_cast<Eigen::Index>(numbers->size() / n);
  std::size_t at_border = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string label = fmt::format("{}: node {}", path, i);
    geometry::Vector x =
        Eigen::Map<const geometry::Vector>(numbers->data() + static_cast<Eigen::Index>(i) * d, d);
    if (model == "ball" && x.norm() > 0.99) ++at_border;
    // The construction places nodes so far out that their norms are rounded to 1.
    if (model == "ball" && x.norm() >= 1 && x.norm() <= 1 + 1e-12) x *= (1 - 1e-15) / x.norm();
    tree.placed->elements.push_back(geometry::element(
        tree.placed->system, geometry::point(geometry::model_from_name(model), x, label), label));
  }
  if (2 * at_border > n) {
    request.context.say(
        "{}: {} of {} nodes lie at the border of the ball, where none can be told "
        "from another; embed with a smaller -p scale, such as 1, to look at them",
        path, at_border, n);
  }
  tree.order = tree::ancestor_order(tree.placed->system.family->base, tree.placed->elements);
  input.tree = std::make_shared<tree::HeadTree>(std::move(tree));
  input.tokens = hierarchy.names;
  input.edges = hierarchy.edges;
  const std::string title = file_title(path);
  input.caption = fmt::format("{}{}{} nodes", title, title.empty() ? "" : ", ", n);
}

void read_kind(const FigureRequest& request, figure::FigureInput& input, bool embeddings,
               bool placed_only) {
  const std::string& path = request.single_input();
  const std::string kind = kind_of_input(request, path);
  if (kind == "embed" && embeddings)
    from_embedding(request, path, input);
  else if (kind == "tree")
    from_result(request, path, input);
  else
    from_trace(request, input, placed_only);
}

}  // namespace

void read_tree(const FigureRequest& request, figure::FigureInput& input) {
  read_kind(request, input, request.name == "points", false);
}

void read_placed(const FigureRequest& request, figure::FigureInput& input) {
  read_kind(request, input, true, true);
}

}  // namespace conelab
