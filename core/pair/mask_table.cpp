// The table of masks. A row needs `sees`, or a range of which a query sees every key. The rest
// saves time.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/names.h"
#include "core/pair/mask.h"

namespace conelab {
namespace {

using Index = std::int64_t;
constexpr double no_default = std::numeric_limits<double>::quiet_NaN();

template <bool (*pair)(const MaskContext&, Index query, Index key)>
void sees(const MaskContext& c, Index, Index query, Index begin, Index count, std::uint8_t* out) {
  for (Index k = 0; k < count; ++k) out[k] = pair(c, query, begin + k) ? 1 : 0;
}

KeyRange up_to_own(const MaskContext& c, Index, Index i) { return {0, c.position(i) + 1}; }

KeyRange padding_range(const MaskContext& c, Index element, Index) {
  return {0, c.input.lengths[element / c.input.heads]};
}

constexpr std::array window_parameters{
    ParameterInfo{"window", no_default, Domain::whole, false,
                  "keys at a distance below this many positions are seen"}};
Index window_width(const MaskContext& c) { return static_cast<Index>(c.p[0]); }
KeyRange window_range(const MaskContext& c, Index, Index i) {
  return {c.position(i) - window_width(c) + 1, c.position(i) + window_width(c)};
}

/// Reads the row of a query. Axes with one entry stand for all.
void allowed_keys(const MaskContext& c, Index element, Index i, Index begin, Index count,
                  std::uint8_t* out) {
  const Shape4& s = c.input.allowed_sizes;
  const Index b = s.batch > 1 ? element / c.input.heads : 0;
  const Index h = s.head > 1 ? element % c.input.heads : 0;
  const Index row = s.token > 1 ? i - c.input.slice.first_query : 0;
  const std::uint8_t* keys = c.input.allowed + ((b * s.head + h) * s.token + row) * s.feature;
  for (Index k = 0; k < count; ++k) {
    out[k] = keys[s.feature > 1 ? begin + k - c.input.slice.first_key : 0] != 0 ? 1 : 0;
  }
}

constexpr std::array strided_parameters{ParameterInfo{"stride", no_default, Domain::whole, false,
                                                      "l, the length of a stride or of a block", "",
                                                      "", "sqrt(n_k), rounded"}};
double root_of_keys(int, const DefaultContext& context) {
  return std::max(1.0, std::round(std::sqrt(static_cast<double>(context.key))));
}
Index stride(const MaskContext& c) { return static_cast<Index>(c.p[0]); }
bool strided(const MaskContext& c, Index i, Index j) {
  const Index back = c.position(i) - j;
  return back >= 0 && (back < stride(c) || back % stride(c) == 0);
}
void strided_keys(const MaskContext& c, Index i, std::vector<Index>& keys) {
  const Index own = c.position(i), l = stride(c);
  if (own < 0) return;
  const Index nearest = std::max<Index>(0, own - l + 1);
  for (Index j = own % l; j < nearest; j += l) keys.push_back(j);
  for (Index j = nearest; j <= own && j < c.input.slice.all_keys; ++j) keys.push_back(j);
}

constexpr std::array fixed_parameters{
    strided_parameters.front(),
    ParameterInfo{"summary", 1, Domain::count, false,
                  "c, the last keys of each block that all later queries see"}};
bool fixed(const MaskContext& c, Index i, Index j) {
  const Index own = c.position(i), l = stride(c), summary = static_cast<Index>(c.p[1]);
  return j <= own && (j / l == own / l || j % l >= l - summary);
}
void fixed_keys(const MaskContext& c, Index i, std::vector<Index>& keys) {
  const Index own = c.position(i), l = stride(c), summary = static_cast<Index>(c.p[1]);
  if (own < 0) return;
  const Index block = own / l * l;
  for (Index begin = 0; begin < block; begin += l) {
    for (Index j = begin + std::max<Index>(0, l - summary); j < begin + l; ++j) keys.push_back(j);
  }
  for (Index j = block; j <= own; ++j) keys.push_back(j);
}

constexpr std::array directional_parameters{ParameterInfo{
    "direction", 0, Domain::choice, false,
    "forward: keys before the query's own are seen; backward: those after it", "forward|backward"}};
KeyRange directional_range(const MaskContext& c, Index, Index i) {
  if (c.p[0] == 0) return {0, c.position(i)};
  return {c.position(i) + 1, c.input.slice.all_keys};
}

constexpr std::array segment_parameters{
    ParameterInfo{"segment", 128, Domain::whole, false, "L, the positions of a segment"},
    ParameterInfo{"memory", no_default, Domain::count, false, "M, the keys seen before the segment",
                  "", "segment", "segment"}};
KeyRange segment_range(const MaskContext& c, Index, Index i) {
  const auto length = static_cast<Index>(c.p[0]), memory = static_cast<Index>(c.p[1]);
  const Index own = c.position(i);
  if (own < 0) return {0, 0};
  return {own / length * length - memory, own + 1};
}

constexpr std::array graph_parameters{
    ParameterInfo{"edges", 0, Domain::choice, false,
                  "whether an edge (i, j) also lets query j see key i", "undirected|directed"},
    ParameterInfo{"edge", no_default, Domain::tensor, false,
                  "whole numbers: edge (i, j) lets query i see key j", "", "m,2"}};
std::span<const Index> neighbours_of(const MaskContext& c, Index i) {
  const auto at = static_cast<std::size_t>(i);
  const auto first = static_cast<std::size_t>(c.graph->first[at]);
  return std::span(c.graph->neighbour)
      .subspan(first, static_cast<std::size_t>(c.graph->first[at + 1]) - first);
}
bool graph(const MaskContext& c, Index i, Index j) {
  const std::span<const Index> own = neighbours_of(c, i);
  return std::binary_search(own.begin(), own.end(), j);
}
void graph_keys(const MaskContext& c, Index i, std::vector<Index>& keys) {
  const std::span<const Index> own = neighbours_of(c, i);
  keys.insert(keys.end(), own.begin(), own.end());
}

constexpr std::array masks{
    MaskRow{.name = "full", .about = "every query sees every key", .whole_range = true},
    MaskRow{.name = "causal",
            .about = "j <= i', i' = i + n_k - n_q",
            .range = &up_to_own,
            .whole_range = true},
    MaskRow{.name = "padding",
            .about = "j < length of the batch element",
            .operand = MaskOperand::lengths,
            .range = &padding_range,
            .whole_range = true},
    MaskRow{.name = "window",
            .about = "|j - i'| < window",
            .parameters = window_parameters,
            .range = &window_range,
            .whole_range = true},
    MaskRow{.name = "explicit",
            .about = "the dataset `mask` of the input: [n_q x n_k], [batch x n_k] or any that "
                     "broadcasts to [batch x head x n_q x n_k], 1: seen",
            .operand = MaskOperand::allowed,
            .sees = &allowed_keys},
    MaskRow{.name = "strided",
            .about = "0 <= i' - j < stride, or i' >= j and i' - j a multiple of stride",
            .paper = "Sparse Transformers, section 4.3",
            .parameters = strided_parameters,
            .initial = &root_of_keys,
            .sees = &sees<&strided>,
            .range = &up_to_own,
            .list = &strided_keys},
    MaskRow{.name = "graph",
            .about = "key j is a neighbour of query i in the dataset `edge` [m x 2], or i' itself",
            .paper = "Velickovic et al., section 2.1",
            .parameters = graph_parameters,
            .operand = MaskOperand::edges,
            .sees = &sees<&graph>,
            .list = &graph_keys},
    MaskRow{.name = "fixed",
            .about = "j <= i', and j in the block of i' or among the last `summary` keys of a "
                     "block of `stride`",
            .paper = "Sparse Transformers, section 4.3",
            .parameters = fixed_parameters,
            .initial = &root_of_keys,
            .sees = &sees<&fixed>,
            .range = &up_to_own,
            .list = &fixed_keys},
    MaskRow{.name = "directional",
            .about = "j < i', or with direction = backward j > i'",
            .paper = "Shen et al.",
            .parameters = directional_parameters,
            .range = &directional_range,
            .whole_range = true},
    MaskRow{.name = "segment",
            .about = "s - memory <= j <= i', s = segment floor(i'/segment); no gradient flows to "
                     "keys and values before s",
            .paper = "Transformer-XL, section 3.2",
            .conditions = "weights over queries, axis=query, have no gradients under it",
            .parameters = segment_parameters,
            .range = &segment_range,
            .whole_range = true,
            .stopped = 1}};

}  // namespace

std::span<const MaskRow> mask_table() { return masks; }

const MaskRow* find_mask(const std::string& name) { return find_named(masks, name); }

const MaskRow& mask_reading(MaskOperand operand) {
  return *std::ranges::find_if(masks, [&](const MaskRow& row) { return row.operand == operand; });
}

bool read_by_any(const std::vector<std::string>& names, MaskOperand operand) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    const MaskRow* row = find_mask(name);
    return row != nullptr && row->operand == operand;
  });
}

}  // namespace conelab
