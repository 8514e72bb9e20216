#include "core/tree/head_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/error.h"
#include "core/base/finite.h"
#include "core/base/names.h"

namespace conelab::tree {
namespace {

using geometry::ConeFamily;
using geometry::ConeSystem;
using geometry::Element;
using geometry::Vector;

ConeSystem system_of(const Plan& plan, const ConeFamily& family, std::int64_t head) {
  std::map<std::string, double> values;
  for (const ParameterInfo& wanted : family.parameters) {
    for (const Parameter& p : plan.parameters) {
      if (std::string(p.info.key) == wanted.key) values[wanted.key] = p.at(head);
    }
  }
  return geometry::cone_system(family.name, values);
}

const StridedTensor4<double>& tensor_of(const AttentionInput<double>& input, Tokens tokens) {
  return tokens == Tokens::key ? input.key : input.query;
}

/// Returns the call with its similarity and map only; every token attends to every other.
Plan bare(const Plan& plan, std::int64_t n) {
  Plan out = plan;
  out.bias = find_bias("none");
  out.bias_parameters.clear();
  out.soft_cap.clear();
  out.masks = {{find_mask("full"), {}}};
  out.extents.query = out.extents.key = n;
  return out;
}

class Placer {
 public:
  Placer(const Plan& plan, const ConeSystem& system, std::int64_t head)
      : plan_(plan),
        system_(system),
        head_(head),
        map_values_(plan.values(plan.map_parameters, head)) {}

  [[nodiscard]] Element operator()(const double* token, const std::string& label) const {
    const auto d = static_cast<std::size_t>(plan_.extents.feature);
    if (!all_finite(token, plan_.extents.feature)) return nowhere();
    Vector base(d);
    EmbeddedPoint place;
    const char* wrong =
        place_token(*plan_.map, plan_.map_context(map_values_, head_), token, base.data(), place);
    if (wrong != nullptr) {
      fail("{} lies outside the model under map {}: {}", label, plan_.map->name, wrong);
    }
    const Vector axis = base.head(plan_.map->base_size(static_cast<int>(d)));
    return at(axis, place.height, label);
  }

 private:
  [[nodiscard]] Element nowhere() const {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto base = plan_.map->base_size(static_cast<int>(plan_.extents.feature));
    return {Vector::Constant(base, nan), nan, nan};
  }

  /// Moves a point that the map has rounded onto the border of the domain to the nearest inner
  /// point.
  [[nodiscard]] Element at(const Vector& axis, double radial, const std::string& label) const {
    const geometry::RadialDomain domain = system_.family->domain(system_.values);
    if (plan_.map->inside_domain) {
      radial = std::clamp(radial, std::nextafter(domain.low, HUGE_VAL),
                          std::nextafter(domain.high, 0.0));
    }
    try {
      return geometry::element_at(system_, axis, radial, label);
    } catch (const Error& error) {
      fail("{}", error.what());  // The data are at fault, not the command line.
    }
  }

  const Plan& plan_;
  const ConeSystem& system_;
  std::int64_t head_;
  std::vector<double> map_values_;
};

void fill_cone_tree(const HeadElements& tokens, HeadTree& tree, const Execution& execution) {
  const std::size_t n = tree.size;
  const double largest = tokens.system.family->largest_shadow(tokens.system.values);
  tree.heights = tokens.system.infinite();
  tree.depth.resize(n * n);
  tree.common.resize(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    stop_if(execution.cancelled);
    for (std::size_t j = i; j < n; ++j) {
      if (std::isnan(tokens.elements[i].shadow) || std::isnan(tokens.elements[j].shadow)) {
        tree.depth[i * n + j] = tree.depth[j * n + i] = std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      const geometry::Lca found =
          geometry::lca(tokens.system, tokens.elements[i], tokens.elements[j]);
      tree.depth[i * n + j] = tree.depth[j * n + i] = found.depth;
      tree.common[i * n + j] = tree.common[j * n + i] = found.shadow <= largest;
    }
  }
  tree.order = ancestor_order(tokens.system.family->base, tokens.elements);
}

std::vector<double> pair_logits(const Plan& plan, const AttentionInput<double>& input,
                                Tokens tokens, std::int64_t batch, std::int64_t head,
                                const Execution& execution) {
  const TokenRows<const double> own =
      tensor_of(input, tokens).tokens(batch, head, plan.extents.head);
  AttentionInput<double> same;  // The tokens of this head stand for those of all heads.
  same.query = same.key = StridedTensor4<double>(
      own.data, {plan.extents.batch, plan.extents.head, own.count, own.columns},
      {0, 0, own.stride});
  const std::int64_t n = same.key.shape.token;
  std::vector<double> out(static_cast<std::size_t>(n * n));
  pair_map_tile<double>(bare(plan, n), same, Map2d::logits, nullptr, {batch, head, 0, n, 0, n},
                        out.data(), execution);
  for (std::int64_t t = 0; t < n; ++t) {
    if (all_finite(same.key.row(batch, head, t), same.key.shape.feature)) continue;
    for (std::int64_t other = 0; other < n; ++other) {
      out[static_cast<std::size_t>(t * n + other)] = out[static_cast<std::size_t>(other * n + t)] =
          std::numeric_limits<double>::quiet_NaN();
    }
  }
  return out;
}

bool pads(const Plan& plan) {
  return std::ranges::any_of(plan.masks, [](const PlannedMask& mask) {
    return mask.row->operand == MaskOperand::lengths || mask.row->operand == MaskOperand::allowed;
  });
}

/// Returns 1 for each token of a batch element that is padding under the masks of the call: beyond
/// the length of its keys, or under the input's own mask seen by no query in any head and, where
/// the mask has rows for queries, seeing nothing itself. That is known of keys; it holds for the
/// queries if there are as many of them.
std::vector<std::uint8_t> padding_of(const Plan& plan, const AttentionInput<double>& input,
                                     Tokens tokens, std::int64_t batch) {
  const Extents& e = plan.extents;
  const std::int64_t n = tensor_of(input, tokens).shape.token;
  std::vector<std::uint8_t> padding(static_cast<std::size_t>(n), 0);
  if (!pads(plan) || (tokens == Tokens::query && e.query != e.key)) return padding;
  const Shape4 s = mask_sizes(input);
  const auto at = [](std::int64_t i, std::int64_t size) { return std::min(i, size - 1); };
  for (std::int64_t key = 0; key < n; ++key) {
    const auto k = static_cast<std::size_t>(key);
    if (!input.key_lengths.empty()) {
      padding[k] = key >= input.key_lengths[static_cast<std::size_t>(batch)];
    }
    bool used = input.allowed.empty() || (s.token > 1 && e.query != e.key);
    for (std::int64_t row = 0; row < s.head * s.token && !used; ++row) {
      const std::int64_t begin = (at(batch, s.batch) * s.head * s.token + row) * s.feature;
      const std::uint8_t* seen = input.allowed.data() + begin;
      const bool own = s.token > 1 && row % s.token == key;
      used = seen[at(key, s.feature)] != 0 ||
             (own && std::count(seen, seen + s.feature, 0) < s.feature);
    }
    if (!used) padding[k] = 1;
  }
  return padding;
}

/// Returns the input with NaN in its padding, so that padding is undefined and never an error.
AttentionInput<double> without_padding(const Plan& plan, AttentionInput<double> input) {
  const auto blank = [&](StridedTensor4<double>& tensor, Tokens tokens) {
    const Shape4 shape = tensor.shape;
    for (std::int64_t b = 0; b < shape.batch; ++b) {
      const std::vector<std::uint8_t> padding = padding_of(plan, input, tokens, b);
      for (std::int64_t i = 0; i < shape.token; ++i) {
        for (std::int64_t h = 0; h < shape.head && padding[static_cast<std::size_t>(i)] != 0; ++h) {
          std::fill_n(tensor.owned().row(b, h, i), shape.feature,
                      std::numeric_limits<double>::quiet_NaN());
        }
      }
    }
  };
  blank(input.query, Tokens::query);
  blank(input.key, Tokens::key);
  return input;
}

std::optional<HeadElements> elements_of(const Plan& plan, const AttentionInput<double>& input,
                                        Tokens tokens, std::int64_t batch, std::int64_t head) {
  if (plan.map == nullptr) return std::nullopt;
  const ConeFamily* family = geometry::find_cone_family(plan.call.similarity);
  if (family == nullptr) return std::nullopt;
  HeadElements out{system_of(plan, *family, head), {}};
  const Placer place(plan, out.system, head);
  const TokenRows<const double> rows =
      tensor_of(input, tokens).tokens(batch, head, plan.extents.head);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::string label = fmt::format("token {} of {}", i, tokens == Tokens::key ? "k" : "q");
    out.elements.push_back(place(rows.row(i), label));
  }
  return out;
}

Segmentation segment_head(const Plan& plan, const AttentionInput<double>& input,
                          const Forward<double>& saved, std::int64_t batch, std::int64_t head,
                          const std::vector<std::uint8_t>& padding, const Execution& execution) {
  const std::int64_t n = plan.extents.key;
  const auto cells = static_cast<std::size_t>(n * n);
  std::vector<double> weights(cells);
  PairMap<double>(plan, input)
      .tile(Map2d::weights, &saved, {batch, head, 0, n, 0, n}, weights.data(), execution);
  std::vector<std::uint8_t> allowed(cells);
  plan.mask(input).visible({batch * plan.extents.head + head, 0, n, 0, n}, allowed.data());
  for (std::int64_t i = 0; i < n; ++i) {  // Keys that are padding are masked.
    if (padding[static_cast<std::size_t>(i)] == 0) continue;
    std::fill_n(allowed.begin() + i * n, n, std::uint8_t{0});
    std::fill_n(weights.begin() + i * n, n, 0.0);
  }
  return segmentation(weights, static_cast<std::size_t>(n), allowed);
}

}  // namespace

std::size_t HeadTree::undefined_count() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < size; ++i) count += undefined(i);
  return count;
}

Tokens tokens_from_name(const std::string& name) {
  return index_of_name("kind of tokens", name, {"key", "query"}) == 0 ? Tokens::key : Tokens::query;
}

std::optional<HeadElements> head_elements(const PairCall<double>& call, Tokens tokens,
                                          std::int64_t batch, std::int64_t head) {
  return elements_of(*call.plan, call.input, tokens, batch, head);
}

std::vector<HeadTree> head_trees(const PairCall<double>& call, Tokens tokens,
                                 const Execution& execution) {
  const Plan& plan = *call.plan;
  if (plan.map == nullptr) {
    misuse("{} has no similarity, so that its tokens form no tree", plan.call.operation);
  }
  check_input(plan, call.input);
  const Extents& e = plan.extents;
  std::optional<AttentionInput<double>> own;
  if (pads(plan)) own = without_padding(plan, call.input);
  const AttentionInput<double>& input = own ? *own : call.input;
  const bool square = e.query == e.key;
  Forward<double> saved;
  const double before =
      square ? 0.5 : 0;  // The part of the progress that belongs to the forward pass.
  if (square) saved = forward(plan, input, stage(execution, 0, before));
  const Execution rest = stage(execution, before, 1), brief = quiet(execution);
  std::vector<HeadTree> trees;
  for (std::int64_t b = 0; b < e.batch; ++b) {
    const std::vector<std::uint8_t> padding = padding_of(plan, input, tokens, b);
    for (std::int64_t h = 0; h < e.head; ++h) {
      stop_if(execution.cancelled);
      HeadTree tree;
      tree.size = static_cast<std::size_t>(tensor_of(input, tokens).shape.token);
      tree.padding = static_cast<std::size_t>(std::ranges::count(padding, std::uint8_t{1}));
      tree.placed = elements_of(plan, input, tokens, b, h);
      if (tree.placed) {
        fill_cone_tree(*tree.placed, tree, brief);
      } else {
        tree.depth = pair_logits(plan, input, tokens, b, h, brief);
      }
      tree.dendrogram = merge_by_depth(tree.depth, tree.size);
      if (tree.placed) tree.ancestors = merge_ancestors(*tree.placed, tree.dendrogram);
      if (square) tree.segmentation = segment_head(plan, input, saved, b, h, padding, brief);
      trees.push_back(std::move(tree));
      if (rest.progress) {
        rest.progress(static_cast<double>(trees.size()) / static_cast<double>(e.batch * e.head));
      }
    }
  }
  return trees;
}

}  // namespace conelab::tree
