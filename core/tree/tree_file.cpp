#include "core/tree/tree_file.h"

#include <cmath>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/names.h"

namespace conelab::tree {
namespace {

using Axes = std::vector<std::string>;

class Group {
 public:
  Group(const TreeLabels& labels, const std::vector<std::pair<std::string, std::size_t>>& axes) {
    out_.axes = {counted_axis("batch", static_cast<std::size_t>(labels.batch)),
                 counted_axis("head", static_cast<std::size_t>(labels.head))};
    for (const auto& [name, size] : axes) out_.axes.push_back(counted_axis(name, size));
  }

  template <class T, class Part>
  void add(const std::string& name, const Axes& axes, const std::vector<HeadTree>& trees,
           const char* about, Part part) {
    std::vector<T> data;
    for (const HeadTree& tree : trees) part(tree, data);
    Axes all = {"batch", "head"};
    all.insert(all.end(), axes.begin(), axes.end());
    out_.variables.push_back({name, all, std::move(data), "", {{"long_name", about}}});
    if (out_.signal.empty()) out_.signal = name;
  }

  /// Adds the texts of `count` of the n tokens, from token `first` on: [axis], or [batch, axis].
  void add_texts(const std::string& name, const std::string& axis, const TreeLabels& labels,
                 std::size_t n, std::size_t first, std::size_t count) {
    const std::vector<std::string>& all = labels.tokens;
    if (all.empty()) return;
    std::vector<std::string> texts;
    for (std::size_t row = 0; row < all.size(); row += n) {
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(row + first);
      texts.insert(texts.end(), from, from + static_cast<std::ptrdiff_t>(count));
    }
    const Axes axes = all.size() > n ? Axes{"batch", axis} : Axes{axis};
    out_.add(name, axes, std::move(texts));
  }

  [[nodiscard]] LabelledArray take() { return std::move(out_); }

 private:
  LabelledArray out_;
};

template <class T, class From>
void append(std::vector<T>& data, const From& from) {
  data.insert(data.end(), from.begin(), from.end());
}

LabelledArray depth_group(const std::vector<HeadTree>& trees, const TreeLabels& labels) {
  const std::size_t n = trees.front().size;
  Group group(labels, {{"token", n}, {"other", n}});
  group.add<double>("lca_depth", {"token", "other"}, trees, "depth of the lowest common ancestor",
                    [](const HeadTree& t, auto& data) { append(data, t.depth); });
  if (!trees.front().common.empty()) {
    group.add<std::uint8_t>("common_ancestor", {"token", "other"}, trees,
                            "1 where a common ancestor exists",
                            [](const HeadTree& t, auto& data) { append(data, t.common); });
  }
  group.add_texts("token_text", "token", labels, n, 0, n);
  LabelledArray out = group.take();
  const char* meaning = trees.front().heights ? "minus the height of the lowest common ancestor"
                        : trees.front().order ? "distance of the lowest common ancestor"
                                              : "logit";
  out.attributes = {
      {"depth_is", std::string(meaning)},
      {"nan_is", std::string("with a token that is padding or whose numbers are not "
                             "finite: it has no place, no ancestors, and merges last")}};
  return out;
}

LabelledArray order_group(const std::vector<HeadTree>& trees, const TreeLabels& labels) {
  const std::size_t n = trees.front().size;
  Group group(labels, {{"ancestor", n}, {"descendant", n}});
  const Axes pair = {"ancestor", "descendant"};
  group.add<std::uint8_t>("is_ancestor", pair, trees, "1 where row is a proper ancestor of column",
                          [](const HeadTree& t, auto& data) { append(data, t.order->ancestor); });
  group.add<std::uint8_t>("cover", pair, trees, "edges of the Hasse diagram",
                          [](const HeadTree& t, auto& data) { append(data, t.order->cover); });
  group.add<std::int64_t>("level", {"descendant"}, trees, "longest chain of ancestors",
                          [](const HeadTree& t, auto& data) { append(data, levels(*t.order)); });
  group.add<std::int64_t>(
      "representative", {"descendant"}, trees, "first token at the same place",
      [](const HeadTree& t, auto& data) { append(data, t.order->representative); });
  group.add_texts("descendant_text", "descendant", labels, n, 0, n);
  return group.take();
}

LabelledArray dendrogram_group(const std::vector<HeadTree>& trees, const TreeLabels& labels) {
  const std::size_t n = trees.front().size;
  Group group(labels, {{"merge", n - 1}, {"leaf", n}});
  const auto each = [](auto member) {
    return [member](const HeadTree& t, auto& data) {
      for (const Merge& merge : t.dendrogram.merges) data.push_back(merge.*member);
    };
  };
  group.add<double>("depth", {"merge"}, trees,
                    "depth at which the two clusters meet; NaN where a token has no place",
                    each(&Merge::depth));
  group.add<std::int64_t>("left", {"merge"}, trees, "token, or n + number of an earlier merge",
                          each(&Merge::left));
  group.add<std::int64_t>("right", {"merge"}, trees, "token, or n + number of an earlier merge",
                          each(&Merge::right));
  group.add<std::int64_t>("size", {"merge"}, trees, "tokens in the new cluster",
                          each(&Merge::size));
  group.add<std::int64_t>(
      "leaf_order", {"leaf"}, trees, "tokens as the dendrogram draws them",
      [](const HeadTree& t, auto& data) { append(data, t.dendrogram.leaf_order); });
  return group.take();
}

void append_point(std::vector<double>& data, const HeadElements& placed,
                  const geometry::Element* element, std::size_t coordinates) {
  if (element == nullptr || std::isnan(element->shadow)) {
    data.insert(data.end(), coordinates, std::numeric_limits<double>::quiet_NaN());
  } else {
    append(data, geometry::place(placed.system, *element, model_of(placed.system)).x);
  }
}

LabelledArray placed_group(const std::vector<HeadTree>& trees, const TreeLabels& labels) {
  const HeadElements& any = *trees.front().placed;
  const std::size_t n = trees.front().size, merges = n - 1;
  const auto axis_size = static_cast<std::size_t>(any.elements.front().axis.size());
  const std::size_t coordinates = axis_size + (any.system.infinite() ? 1 : 0);
  Group group(labels, {{"token", n}, {"merge", merges}, {"coordinate", coordinates}});
  // Adds the points and potentials of `count` elements of each tree; element(t, k) may be null.
  const auto add = [&](const std::string& axis, std::size_t count, const char* about,
                       auto element) {
    group.add<double>(axis + "_point", {axis, "coordinate"}, trees, about,
                      [&](const HeadTree& t, auto& data) {
                        for (std::size_t k = 0; k < count; ++k) {
                          append_point(data, *t.placed, element(t, k), coordinates);
                        }
                      });
    group.add<double>(
        axis + "_potential", {axis}, trees, "s of the papers", [&](const HeadTree& t, auto& data) {
          for (std::size_t k = 0; k < count; ++k) {
            const geometry::Element* e = element(t, k);
            data.push_back(e == nullptr ? std::nan("") : potential(t.placed->system, e->shadow));
          }
        });
  };
  add("token", n, "placed tokens",
      [](const HeadTree& t, std::size_t i) { return &t.placed->elements[i]; });
  add("merge", merges, "a common ancestor of the tokens of each merge; NaN: there is none",
      [](const HeadTree& t, std::size_t k) { return t.ancestors[k] ? &*t.ancestors[k] : nullptr; });
  group.add<double>("parameter", {"parameter_key"}, trees, "of the cone family",
                    [](const HeadTree& t, auto& data) { append(data, t.placed->system.values); });
  LabelledArray out = group.take();
  out.axes.push_back({"parameter_key", all_keys(any.system.family->parameters)});
  out.attributes = {{"cone", std::string(any.system.family->name)},
                    {"model", std::string(geometry::model_name(model_of(any.system)))}};
  return out;
}

LabelledArray segmentation_group(const std::vector<HeadTree>& trees, const TreeLabels& labels) {
  const std::size_t n = trees.front().size;
  Group group(labels, {{"boundary", n - 1}});
  const auto each = [](auto member) {
    return [member](const HeadTree& t, auto& data) { append(data, (*t.segmentation).*member); };
  };
  group.add<double>("relative", {"boundary"}, trees,
                    "crossing / uniform; NaN where weights are not finite",
                    each(&Segmentation::relative));
  group.add<double>("crossing", {"boundary"}, trees,
                    "attention between the two sides of boundary b, tokens b and b + 1",
                    each(&Segmentation::crossing));
  group.add<double>("uniform", {"boundary"}, trees, "the same for uniform attention",
                    each(&Segmentation::uniform));
  group.add<std::int64_t>(
      "strongest", {}, trees, "boundary that least attention crosses; -1 where unknown",
      [](const HeadTree& t, auto& data) { data.push_back(t.segmentation->strongest); });
  group.add_texts("before", "boundary", labels, n, 0, n - 1);
  group.add_texts("after", "boundary", labels, n, 1, n - 1);
  return group.take();
}

void check(const std::vector<HeadTree>& trees, const TreeLabels& labels) {
  if (trees.empty() || static_cast<std::int64_t>(trees.size()) != labels.batch * labels.head) {
    misuse("tree: {} trees for {} batch elements of {} heads", trees.size(), labels.batch,
           labels.head);
  }
  const std::size_t n = trees.front().size, texts = labels.tokens.size();
  if (texts != 0 && texts != n && texts != n * static_cast<std::size_t>(labels.batch)) {
    misuse("tree: {} texts for {} tokens", labels.tokens.size(), trees.front().size);
  }
}

// ---- reading -----------------------------------------------------------------------------------

template <class T>
class Blocks {
 public:
  Blocks(const LabelledArray& group, const std::string& where, const std::string& name,
         std::size_t heads, std::size_t block)
      : block_(block) {
    data_ = group.data<T>(name);
    if (data_ == nullptr || data_->size() != heads * block) {
      fail("{}: no usable variable '{}' (expected {} numbers)", where, name, heads * block);
    }
  }
  [[nodiscard]] std::vector<T> of(std::size_t head) const {
    const auto begin = data_->begin() + static_cast<std::ptrdiff_t>(head * block_);
    return {begin, begin + static_cast<std::ptrdiff_t>(block_)};
  }

 private:
  std::size_t block_;
  const std::vector<T>* data_ = nullptr;
};

std::size_t extent(const LabelledArray& group, const std::string& name) {
  const LabelledAxis* axis = group.axis(name);
  if (axis == nullptr) fail("tree/depth: axis '{}' is missing", name);
  return axis->size();
}

void check_index(const char* where, const char* name, std::int64_t index, std::size_t count) {
  if (index < 0 || static_cast<std::size_t>(index) >= count) {
    fail("{}: {} is wrong (expected indices below {}, found {})", where, name, count, index);
  }
}

/// Throws a failure unless every cluster is merged once and every token is drawn once.
void check_dendrogram(const Dendrogram& tree, std::size_t n) {
  std::vector<bool> joined(2 * n), drawn(n);
  const auto mark = [](std::vector<bool>& seen, const char* name, std::int64_t index) {
    if (seen[static_cast<std::size_t>(index)]) {
      fail("tree/dendrogram: {} names {} twice", name, index);
    }
    seen[static_cast<std::size_t>(index)] = true;
  };
  for (std::size_t k = 0; k < tree.merges.size(); ++k) {
    for (const std::int64_t side : {tree.merges[k].left, tree.merges[k].right}) {
      check_index("tree/dendrogram", "left or right", side, n + k);
      mark(joined, "left or right", side);
    }
  }
  for (const std::int64_t leaf : tree.leaf_order) {
    check_index("tree/dendrogram", "leaf_order", leaf, n);
    mark(drawn, "leaf_order", leaf);
  }
}

void read_order(const LabelledArray& group, StoredTrees& out) {
  const std::size_t heads = out.trees.size(), n = out.trees.front().size;
  const Blocks<std::uint8_t> ancestor(group, "tree/order", "is_ancestor", heads, n * n);
  const Blocks<std::uint8_t> cover(group, "tree/order", "cover", heads, n * n);
  const Blocks<std::int64_t> first(group, "tree/order", "representative", heads, n);
  for (std::size_t h = 0; h < heads; ++h) {
    out.trees[h].order = AncestorOrder{n, ancestor.of(h), cover.of(h), first.of(h)};
    for (const std::int64_t token : out.trees[h].order->representative) {
      check_index("tree/order", "representative", token, n);
    }
  }
}

std::optional<geometry::Element> read_element(const geometry::ConeSystem& system,
                                              const std::vector<double>& points, std::size_t number,
                                              std::size_t coordinates) {
  const geometry::Vector x = Eigen::Map<const geometry::Vector>(
      points.data() + number * coordinates, static_cast<Eigen::Index>(coordinates));
  if (!x.allFinite()) return std::nullopt;
  return geometry::element(system, geometry::point(model_of(system), x, "tree/placed"),
                           "tree/placed");
}

void read_placed(const LabelledArray& group, StoredTrees& out) {
  const std::size_t heads = out.trees.size(), n = out.trees.front().size;
  const std::string cone = attribute_or_empty(group.attributes, "cone");
  if (cone.empty()) fail("tree/placed: attribute 'cone' is missing");
  const auto& infos = geometry::cone_family(cone).parameters;
  const LabelledAxis* axis = group.axis("coordinate");
  if (axis == nullptr) fail("tree/placed: axis 'coordinate' is missing");
  const std::size_t coordinates = axis->size();
  const Blocks<double> values(group, "tree/placed", "parameter", heads, infos.size());
  const Blocks<double> tokens(group, "tree/placed", "token_point", heads, n * coordinates);
  const Blocks<double> merges(group, "tree/placed", "merge_point", heads, (n - 1) * coordinates);
  for (std::size_t h = 0; h < heads; ++h) {
    std::map<std::string, double> parameters;
    for (std::size_t i = 0; i < infos.size(); ++i) parameters[infos[i].key] = values.of(h)[i];
    HeadElements placed{geometry::cone_system(cone, parameters), {}};
    const std::vector<double> token_points = tokens.of(h), merge_points = merges.of(h);
    const double nan = std::nan("");
    const auto axis_size = static_cast<Eigen::Index>(coordinates - placed.system.infinite());
    for (std::size_t i = 0; i < n; ++i) {
      placed.elements.push_back(
          read_element(placed.system, token_points, i, coordinates)
              .value_or(geometry::Element{geometry::Vector::Constant(axis_size, nan), nan, nan}));
    }
    for (std::size_t k = 0; k + 1 < n; ++k) {
      out.trees[h].ancestors.push_back(read_element(placed.system, merge_points, k, coordinates));
    }
    out.trees[h].placed = std::move(placed);
  }
}

void read_dendrogram(const LabelledArray& group, StoredTrees& out) {
  const std::size_t heads = out.trees.size(), n = out.trees.front().size;
  const Blocks<double> depth(group, "tree/dendrogram", "depth", heads, n - 1);
  const Blocks<std::int64_t> left(group, "tree/dendrogram", "left", heads, n - 1);
  const Blocks<std::int64_t> right(group, "tree/dendrogram", "right", heads, n - 1);
  const Blocks<std::int64_t> size(group, "tree/dendrogram", "size", heads, n - 1);
  const Blocks<std::int64_t> leaves(group, "tree/dendrogram", "leaf_order", heads, n);
  for (std::size_t h = 0; h < heads; ++h) {
    Dendrogram& tree = out.trees[h].dendrogram;
    const auto d = depth.of(h);
    const auto l = left.of(h), r = right.of(h), s = size.of(h);
    for (std::size_t k = 0; k + 1 < n; ++k) tree.merges.push_back({l[k], r[k], d[k], s[k]});
    tree.leaf_order = leaves.of(h);
    check_dendrogram(tree, n);
  }
}

void read_segmentation(const LabelledArray& group, StoredTrees& out) {
  const std::size_t heads = out.trees.size(), gaps = out.trees.front().size - 1;
  const Blocks<double> crossing(group, "tree/segmentation", "crossing", heads, gaps);
  const Blocks<double> uniform(group, "tree/segmentation", "uniform", heads, gaps);
  const Blocks<double> relative(group, "tree/segmentation", "relative", heads, gaps);
  const Blocks<std::int64_t> strongest(group, "tree/segmentation", "strongest", heads, 1);
  for (std::size_t h = 0; h < heads; ++h) {
    out.trees[h].segmentation =
        Segmentation{crossing.of(h), uniform.of(h), relative.of(h), strongest.of(h).front()};
    const std::int64_t boundary = out.trees[h].segmentation->strongest;
    if (boundary != -1) check_index("tree/segmentation", "strongest", boundary, gaps);
  }
}

}  // namespace

LabelledFile tree_file(const std::vector<HeadTree>& trees, const TreeLabels& labels) {
  check(trees, labels);
  LabelledFile file;
  if (trees.front().size == 0) return file;
  file.groups.emplace_back("tree/depth", depth_group(trees, labels));
  if (trees.front().order) file.groups.emplace_back("tree/order", order_group(trees, labels));
  if (trees.front().size == 1) return file;
  file.groups.emplace_back("tree/dendrogram", dendrogram_group(trees, labels));
  if (trees.front().placed) file.groups.emplace_back("tree/placed", placed_group(trees, labels));
  if (trees.front().segmentation) {
    file.groups.emplace_back("tree/segmentation", segmentation_group(trees, labels));
  }
  return file;
}

StoredTrees read_trees(const LabelledFile& file) {
  const LabelledArray* depth = file.group("tree/depth");
  if (depth == nullptr) fail("no group tree/depth: not a result of `conelab tree`");
  StoredTrees out;
  out.labels.batch = static_cast<std::int64_t>(extent(*depth, "batch"));
  out.labels.head = static_cast<std::int64_t>(extent(*depth, "head"));
  const std::size_t n = extent(*depth, "token");
  const bool heights = attribute_or_empty(depth->attributes, "depth_is").starts_with("minus");
  const auto heads = static_cast<std::size_t>(out.labels.batch * out.labels.head);
  if (const auto* list = depth->data<std::string>("token_text")) {
    const bool rows = list->size() == n * static_cast<std::size_t>(out.labels.batch);
    if (list->size() == n || rows) out.labels.tokens = *list;
  }
  const Blocks<double> numbers(*depth, "tree/depth", "lca_depth", heads, n * n);
  for (std::size_t h = 0; h < heads; ++h) {
    HeadTree tree;
    tree.size = n;
    tree.depth = numbers.of(h);
    tree.heights = heights;
    if (n == 1)
      tree.dendrogram.leaf_order = {0};  // Files do not store the dendrogram of one token.
    out.trees.push_back(std::move(tree));
  }
  if (depth->variable("common_ancestor") != nullptr) {
    const Blocks<std::uint8_t> common(*depth, "tree/depth", "common_ancestor", heads, n * n);
    for (std::size_t h = 0; h < heads; ++h) out.trees[h].common = common.of(h);
  }
  if (heads == 0 || n == 0) return out;
  if (const auto* order = file.group("tree/order")) read_order(*order, out);
  if (const auto* merges = file.group("tree/dendrogram")) read_dendrogram(*merges, out);
  if (const auto* placed = file.group("tree/placed")) read_placed(*placed, out);
  if (const auto* cuts = file.group("tree/segmentation")) read_segmentation(*cuts, out);
  return out;
}

}  // namespace conelab::tree
