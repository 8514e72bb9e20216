#include "widgets/maps/relations_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/plan.h"
#include "core/trace/matrix_source.h"
#include "widgets/maps/maps_model.h"

namespace conelab::desktop {
namespace {

constexpr std::int64_t rows_at_once = 64;
constexpr std::size_t most_kept_panels = 24;

bool shows_tree(const std::string& layout) { return layout == "tree" || layout == "hasse"; }

/// Returns the part of a range that a sequence has.
TokenRange part_of(const TokenRange& range, std::int64_t count) {
  return {std::min(range.begin, count), std::min(range.end, count)};
}

/// Returns the strongest arcs of every query of a range to its keys, processing strips of rows.
/// Weights are those of the whole sequence. Adds the number of weights that are not finite to
/// `unknown`.
std::vector<figure::Arc> strongest_arcs(const HeadInput& head, const Call& call,
                                        const TokenRange& range, const PoolContext& context,
                                        std::size_t& unknown) {
  const Execution execution = context.execution();
  const PairCall<double> pairs = pair_call(call, head.exact);
  const Forward<double> saved = forward(*pairs.plan, pairs.input, execution);
  const PairMap<double> map(*pairs.plan, pairs.input);
  const TokenRange rows = part_of(range, pairs.plan->extents.query);
  const TokenRange columns = part_of(range, pairs.plan->extents.key);
  std::vector<double> strip;
  std::vector<figure::Arc> arcs;
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += rows_at_once) {
    context.stop_if_cancelled();
    context.progress(static_cast<double>(begin - rows.begin) / static_cast<double>(rows.size()));
    const std::int64_t end = std::min(rows.end, begin + rows_at_once);
    strip.resize(static_cast<std::size_t>((end - begin) * columns.size()));
    map.tile(Map2d::weights, &saved, {0, 0, begin, end, columns.begin, columns.end}, strip.data());
    unknown += static_cast<std::size_t>(
        std::ranges::count_if(strip, [](double weight) { return !std::isfinite(weight); }));
    for (std::int64_t r = begin; r < end; ++r) {
      figure::pick_arcs(strip.data() + (r - begin) * columns.size(),
                        static_cast<std::size_t>(columns.size()),
                        static_cast<std::size_t>(r - rows.begin), {most_arcs, 0}, arcs);
    }
  }
  return arcs;
}

/// Returns the strongest arcs of stored weights.
std::vector<figure::Arc> stored_arcs(const HeadInput& head, const TokenRange& range,
                                     std::size_t& unknown) {
  const auto source = stored_source(head.stored, head.batch_index, head.head_index);
  const TokenRange rows = part_of(range, source->rows());
  const TokenRange columns = part_of(range, source->columns());
  std::vector<double> row(static_cast<std::size_t>(columns.size()));
  std::vector<figure::Arc> arcs;
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = source->exact(r, columns.begin + static_cast<std::int64_t>(c));
      unknown += std::isfinite(row[c]) ? 0 : 1;
    }
    figure::pick_arcs(row.data(), row.size(), static_cast<std::size_t>(r - rows.begin),
                      {most_arcs, 0}, arcs);
  }
  return arcs;
}

/// Returns why a stored map cannot be drawn as arcs or trees; empty if it can.
std::string stored_problem(const HeadInput& head, bool tree) {
  if (!head.stored) return "";
  if (tree) return "trees need q and k, which a result does not hold: open its trace";
  if (head.stored->name == "weights") return "";
  return "arcs are drawn of weights, and these are " + head.stored->name;
}

/// Returns a view of the tokens of a range.
StridedTensor4<double> sliced(const StridedTensor4<double>& all, const TokenRange& range) {
  const TokenRange part = part_of(range, all.shape.token);
  return {all.row(0, 0, part.begin), {1, 1, part.size(), all.shape.feature}, all.strides()};
}

/// Returns a head of the tokens of a range alone. Its tensors view those of `all`.
AttentionInput<double> sliced(const AttentionInput<double>& all, const TokenRange& range) {
  AttentionInput<double> out;
  out.query = sliced(all.query, range);
  out.key = sliced(all.key, range);
  out.value = sliced(all.value, range);
  out.tensors = all.tensors;
  const Shape4 mask = mask_sizes(all);  // An axis with one entry stands for all tokens.
  const TokenRange whole{0, 1};
  const TokenRange rows = mask.token == 1 ? whole : part_of(range, mask.token);
  const TokenRange columns = mask.feature == 1 ? whole : part_of(range, mask.feature);
  for (std::int64_t r = rows.begin; !all.allowed.empty() && r < rows.end; ++r) {
    const auto row = all.allowed.begin() + r * mask.feature;
    out.allowed.insert(out.allowed.end(), row + columns.begin, row + columns.end);
  }
  out.allowed_sizes = {1, 1, rows.size(), columns.size()};
  return out;
}

/// Returns the tree of the tokens of a range. Their depths are those of the whole sequence, because
/// maps of tokens are applied before; segmentation is that of the range by itself.
tree::HeadTree tree_of(const HeadInput& head, const Call& call, const std::string& tokens,
                       const TokenRange& range, const PoolContext& context) {
  const Execution execution = context.execution();
  const tree::Tokens side = tree::tokens_from_name(tokens);
  const std::int64_t most = std::max(head.exact.query.shape.token, head.exact.key.shape.token);
  PairCall<double> pairs = pair_call(call, head.exact);
  if (range != TokenRange{0, most}) {
    AttentionInput<double> part = sliced(pairs.input, range);
    const auto plan = resolve(pairs.plan->call, check_extents(part));
    return std::move(tree::head_trees({plan, std::move(part)}, side, execution).front());
  }
  return std::move(tree::head_trees(pairs, side, execution).front());
}

/// Returns "unknown" if one of the tokens is undefined.
std::string number(double value) {
  return std::isnan(value) ? "unknown" : fmt::format("{:.6g}", value);
}

}  // namespace

RelationsModel::RelationsModel(Workspace& workspace) : workspace_(workspace) {
  connect(&workspace_, &Workspace::trace_changed, this, &RelationsModel::rebuild);
  connect(&workspace_.document(), &Document::changed, this, &RelationsModel::rebuild);
  rebuild();
}

std::int64_t RelationsModel::queries() const { return head_ ? head_->exact.query.shape.token : 0; }
std::int64_t RelationsModel::batch() const { return head_ ? head_->batch_index : 0; }
std::int64_t RelationsModel::keys() const { return head_ ? head_->exact.key.shape.token : 0; }

bool RelationsModel::busy() const {
  return std::ranges::any_of(panels_, [](const auto& p) { return p->job.active(); });
}

std::int64_t RelationsModel::tokens_in_all() const {
  if (!shows_tree(choice_.layout)) return std::max(queries(), keys());
  return choice_.tree_tokens == "key" ? keys() : queries();
}

TokenRange RelationsModel::range() const {
  const std::int64_t count = tokens_in_all();
  const std::int64_t most = shows_tree(choice_.layout) ? most_tree_tokens : most_arc_tokens;
  const std::int64_t begin =
      std::clamp<std::int64_t>(choice_.range_begin, 0, std::max<std::int64_t>(0, count - 1));
  const std::int64_t end = choice_.range_end > 0 ? std::min(choice_.range_end, count) : count;
  return {begin, std::clamp(end, std::min(begin + 1, count), std::min(begin + most, count))};
}

Focus RelationsModel::pair_of(std::size_t query, std::size_t key) const {
  const std::int64_t begin = range().begin;
  return {static_cast<std::int64_t>(query) + begin, static_cast<std::int64_t>(key) + begin};
}

Focus RelationsModel::in_range(const Focus& pair) const {
  const std::int64_t begin = range().begin;
  return {pair.query - begin, pair.key - begin};
}

void RelationsModel::reveal(const Focus& pair) {
  const TokenRange now = range();
  const bool of_queries = shows_tree(choice_.layout) && choice_.tree_tokens == "query";
  const std::int64_t token = of_queries ? pair.query : pair.key;
  if (panels_.empty() || (token >= now.begin && token < now.end)) return;
  const std::int64_t begin =
      std::clamp<std::int64_t>(token - now.size() / 2, 0, tokens_in_all() - now.size());
  workspace_.document().edit(
      tr("change the range of tokens"),
      [&](Session& s) {
        s.maps.range_begin = begin;
        s.maps.range_end = begin + now.size();
      },
      "range of tokens");
}

void RelationsModel::rebuild() {
  const MapChoice wanted =
      shown_maps(workspace_.document().session().maps, workspace_.trace().get());
  const bool new_head = head_ != workspace_.head();
  if (!new_head && wanted == choice_) return;
  choice_ = wanted;
  head_ = workspace_.head();
  if (new_head) made_.clear();
  panels_.clear();
  if (head_ && (choice_.layout == "arcs" || shows_tree(choice_.layout))) {
    for (const Call& call : choice_.calls) panels_.push_back(make_panel(call));
  }
  emit changed();
}

std::shared_ptr<RelationPanel> RelationsModel::make_panel(const Call& call) {
  const bool tree = shows_tree(choice_.layout);
  const std::string tokens = tree ? choice_.tree_tokens : "";
  const TokenRange range = this->range();
  const auto found = std::ranges::find_if(made_, [&](const auto& p) {
    return p->call == call && p->tree == tree && p->tokens == tokens && p->range == range;
  });
  if (found != made_.end()) return *found;
  auto panel = std::make_shared<RelationPanel>();
  panel->call = call;
  panel->tree = tree;
  panel->tokens = tokens;
  panel->title = head_->stored ? head_->stored->title : call_title(call);
  panel->range = range;
  panel->error = stored_problem(*head_, tree);
  if (!panel->error.empty()) return panel;
  start(panel);
  if (made_.size() >= most_kept_panels) made_.clear();
  made_.push_back(panel);
  return panel;
}

void RelationsModel::start(const std::shared_ptr<RelationPanel>& panel) {
  struct Result {
    std::vector<figure::Arc> arcs;
    std::size_t unknown = 0;
    std::shared_ptr<const tree::HeadTree> tree;
  };
  const auto trace = workspace_.trace();
  const std::int64_t index = workspace_.document().session().trace.head;
  const std::weak_ptr<RelationPanel> weak = panel;
  panel->job = workspace_.jobs().start<Result>(
      (panel->tree ? "tree: " : "arcs: ") + panel->title,
      [head = head_, trace, index, call = panel->call, tree = panel->tree, tokens = panel->tokens,
       range = panel->range](const PoolContext& context) {
        Result result;
        if (head->stored) {
          result.arcs = stored_arcs(*head, range, result.unknown);
          return result;
        }
        const Call one = call_on_head(call, *trace, index);
        if (tree) {
          result.tree =
              std::make_shared<tree::HeadTree>(tree_of(*head, one, tokens, range, context));
        } else {
          result.arcs = strongest_arcs(*head, one, range, context, result.unknown);
        }
        return result;
      },
      [this, weak](Result result) {
        const auto done = weak.lock();
        if (!done) return;
        done->arcs = std::move(result.arcs);
        done->unknown = result.unknown;
        done->head_tree = std::move(result.tree);
        emit changed();
      },
      [this, weak](const std::string& message) {
        const auto done = weak.lock();
        if (!done) return;
        done->error = message;
        emit changed();
      },
      true);
}

// ---- figures ------------------------------------------------------------------------------------

figure::ArcsFigure RelationsModel::arcs_figure(double width) const {
  figure::ArcsFigure figure;
  figure.width = width;
  figure.choice = {static_cast<std::size_t>(std::max(0, choice_.arc_top)), choice_.arc_threshold};
  figure.shared_limits = choice_.shared_limits;
  figure.arrangement = queries() == keys()
                           ? figure::arc_arrangement_from_name(choice_.arc_arrangement)
                           : figure::ArcArrangement::rows;
  if (const auto& trace = workspace_.trace()) {
    figure.query_tokens = texts(trace->query_tokens(batch()), queries());
    figure.key_tokens = texts(trace->key_tokens(batch()), keys());
  }
  const auto shown = [&](std::int64_t count) {
    return static_cast<std::size_t>(part_of(range(), count).size());
  };
  for (const auto& panel : panels_) {
    figure::ArcsPanel drawn{shown_title(*panel), shown(queries()), shown(keys()), {}, panel->error};
    if (panel->job.active()) drawn.note = "computing …";
    drawn.unknown = panel->unknown;
    std::size_t query = static_cast<std::size_t>(-1), rank = 0;
    for (const figure::Arc& arc : panel->arcs) {  // Strongest first within each query.
      rank = arc.query == query ? rank + 1 : 0;
      query = arc.query;
      if (rank < figure.choice.top && arc.weight >= figure.choice.threshold) {
        drawn.arcs.push_back(arc);
      }
    }
    figure.panels.push_back(std::move(drawn));
  }
  return figure;
}

figure::TreeFigure RelationsModel::tree_figure(std::size_t panel, double width) const {
  const RelationPanel& p = *panels_[panel];
  figure::TreeFigure figure;
  figure.width = width;
  figure.title = shown_title(p);
  figure.cone = p.call.similarity;
  if (!p.head_tree) {
    figure.caption = p.error.empty() ? "computing …" : p.error;
  } else if (choice_.layout == "hasse" && !p.head_tree->order) {
    figure.caption = "only cone families order tokens";
  } else {
    figure.tree = p.head_tree;
    figure.tokens = tokens(panel);
    figure.first_token = p.range.begin;
  }
  return figure;
}

std::vector<std::string> RelationsModel::tokens(std::size_t panel) const {
  const RelationPanel& p = *panels_[panel];
  const auto& trace = workspace_.trace();
  if (!trace || !p.head_tree) return {};
  const bool of_keys = p.tokens == "key";
  const auto all = texts(of_keys ? trace->key_tokens(batch()) : trace->query_tokens(batch()),
                         of_keys ? keys() : queries());
  return all.size() == p.head_tree->size ? all : std::vector<std::string>();
}

std::string RelationsModel::shown_title(const RelationPanel& panel) const {
  if (panel.range.size() == tokens_in_all()) return panel.title;
  return fmt::format("{}, tokens {} to {} of {}", panel.title, panel.range.begin,
                     panel.range.end - 1, tokens_in_all());
}

/// Returns the texts of the tokens of the range; their numbers where they have no texts and would
/// be counted from the beginning of the range.
std::vector<std::string> RelationsModel::texts(const std::vector<std::string>& tokens,
                                               std::int64_t count) const {
  const TokenRange part = part_of(range(), count);
  if (static_cast<std::int64_t>(tokens.size()) == count) {
    return {tokens.begin() + part.begin, tokens.begin() + part.end};
  }
  std::vector<std::string> numbers;
  for (std::int64_t i = part.begin; part.begin > 0 && i < part.end; ++i) {
    numbers.push_back(std::to_string(i));
  }
  return numbers;
}

// ---- readouts -----------------------------------------------------------------------------------

std::string RelationsModel::token_label(const RelationPanel& panel, std::int64_t i) const {
  if (!workspace_.trace()) return "";
  const std::int64_t token = i + panel.range.begin;
  return fmt::format("{} “{}”", token, token_text(panel, token));
}

std::string RelationsModel::token_text(const RelationPanel& panel, std::int64_t token) const {
  const Trace& trace = *workspace_.trace();
  return panel.tokens == "query" ? trace.query_label(batch(), token)
                                 : trace.key_label(batch(), token);
}

std::vector<std::size_t> RelationsModel::merges_above(const tree::HeadTree& tree,
                                                      std::size_t token) {
  std::vector<std::size_t> above;
  auto cluster = static_cast<std::int64_t>(token);
  const auto& merges = tree.dendrogram.merges;
  for (std::size_t k = 0; k < merges.size(); ++k) {
    if (merges[k].left != cluster && merges[k].right != cluster) continue;
    above.push_back(k);
    cluster = static_cast<std::int64_t>(tree.size + k);
  }
  return above;
}

std::string RelationsModel::about(const Focus& pair) const {
  std::string text;
  const Focus local = in_range(pair);
  // Tokens before the range have numbers beyond it.
  const auto i = static_cast<std::size_t>(local.query), j = static_cast<std::size_t>(local.key);
  for (const auto& panel : panels_) {
    if (!panel->head_tree) continue;
    const tree::HeadTree& t = *panel->head_tree;
    if (i >= t.size || j >= t.size) continue;
    const double depth = t.depth[i * t.size + j];
    const char* name = !t.order ? "logit" : t.heights ? "height of the LCA" : "depth of the LCA";
    // A tree is one of queries or of keys: its value is not that of the query and the key.
    const char* tokens = panel->tokens == "query" ? "queries" : "keys";
    text += fmt::format("{}{}, {} {} and {}: {} {}", text.empty() ? "" : "\n", panel->title, tokens,
                        pair.query, pair.key, name, number(t.order && t.heights ? -depth : depth));
    if (!t.order) continue;
    if (!t.common[i * t.size + j] && !std::isnan(depth)) text += " (none exists)";
    if (t.order->is_ancestor(i, j))
      text += fmt::format(", {} is an ancestor of {}", pair.query, pair.key);
    if (t.order->is_ancestor(j, i))
      text += fmt::format(", {} is an ancestor of {}", pair.key, pair.query);
  }
  return text;
}

std::string RelationsModel::about_merge(std::size_t panel, std::size_t merge) const {
  const RelationPanel& p = *panels_[panel];
  const tree::HeadTree& t = *p.head_tree;
  const tree::Merge& m = t.dendrogram.merges[merge];
  const double shown = t.heights ? -m.depth : m.depth;
  std::string text = fmt::format("{}: {} tokens join at {} {}:", p.title, m.size,
                                 !t.order    ? "logit"
                                 : t.heights ? "height"
                                             : "depth",
                                 number(shown));
  std::int64_t told = 0;
  for (const std::int64_t leaf : t.dendrogram.leaf_order) {
    const auto above = merges_above(t, static_cast<std::size_t>(leaf));
    if (!contains(above, merge)) continue;
    if (++told > 12) return text + " …";
    text += " " + token_text(p, leaf + p.range.begin);
  }
  return text;
}

std::string RelationsModel::about_boundary(std::size_t panel, std::size_t boundary) const {
  const RelationPanel& p = *panels_[panel];
  const tree::Segmentation& s = *p.head_tree->segmentation;
  const auto b = static_cast<std::int64_t>(boundary);
  return fmt::format("{}: between {} and {} crosses {} of all attention, {} of what uniform does{}",
                     p.title, token_label(p, b), token_label(p, b + 1),
                     number(s.crossing[boundary]), number(s.relative[boundary]),
                     s.strongest == b ? " (the least)" : "");
}

}  // namespace conelab::desktop
