// The rows of masks. A row needs `sees` alone; the other functions make it cheap.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/pair/mask.h"

namespace conelab {
namespace {

using Index = std::int64_t;
constexpr double no_default = std::numeric_limits<double>::quiet_NaN();

/// A row's `sees` from a function of one pair.
template <bool (*pair)(const MaskContext&, Index batch, Index query, Index key)>
void sees(const MaskContext& c, Index batch, Index query, Index begin, Index count,
          std::uint8_t* out) {
  for (Index k = 0; k < count; ++k) out[k] = pair(c, batch, query, begin + k) ? 1 : 0;
}

bool full(const MaskContext&, Index, Index, Index) { return true; }

bool causal(const MaskContext& c, Index, Index i, Index j) { return j <= c.position(i); }
KeyRange up_to_own(const MaskContext& c, Index, Index i) { return {0, c.position(i) + 1}; }

bool padding(const MaskContext& c, Index batch, Index, Index j) {
  return j < c.input.lengths[batch];
}
KeyRange padding_range(const MaskContext& c, Index batch, Index) {
  return {0, c.input.lengths[batch]};
}

constexpr std::array window_parameters{
    ParameterInfo{"window", no_default, Domain::positive, false,
                  "keys at a distance below this many positions are seen; no default"}};
/// p[0] as whole positions, at most as many as there are.
Index window_width(const MaskContext& c) {
  return static_cast<Index>(
      std::min(std::ceil(c.p[0]), static_cast<double>(c.input.query + c.input.key)));
}
bool window(const MaskContext& c, Index, Index i, Index j) {
  return std::abs(j - c.position(i)) < window_width(c);
}
KeyRange window_range(const MaskContext& c, Index, Index i) {
  return {c.position(i) - window_width(c) + 1, c.position(i) + window_width(c)};
}

bool allowed(const MaskContext& c, Index, Index i, Index j) {
  return c.input.allowed[i * c.input.key + j] != 0;
}

constexpr std::array strided_parameters{ParameterInfo{"stride", no_default, Domain::whole, false,
                                                      "l; default the root of n_k, rounded"}};
double root_of_keys(int, const DefaultContext& context) {
  return std::max(1.0, std::round(std::sqrt(static_cast<double>(context.key))));
}
Index stride(const MaskContext& c) { return static_cast<Index>(std::min(c.p[0], 1e15)); }
bool strided(const MaskContext& c, Index, Index i, Index j) {
  const Index back = c.position(i) - j;
  return back >= 0 && (back < stride(c) || back % stride(c) == 0);
}
void strided_keys(const MaskContext& c, Index i, std::vector<Index>& keys) {
  const Index own = c.position(i), l = stride(c);
  if (own < 0) return;
  const Index nearest = std::max<Index>(0, own - l + 1);
  for (Index j = own % l; j < nearest; j += l) keys.push_back(j);
  for (Index j = nearest; j <= own && j < c.input.key; ++j) keys.push_back(j);
}

constexpr std::array graph_parameters{
    ParameterInfo{"edges", 0, Domain::choice, false,
                  "whether an edge (i, j) also lets query j see key i", "undirected|directed"},
    ParameterInfo{"edge", no_default, Domain::tensor, false,
                  "whole numbers: edge (i, j) lets query i see key j", "", "m,2"}};
/// The neighbours of a query.
std::span<const Index> neighbours_of(const MaskContext& c, Index i) {
  const auto at = static_cast<std::size_t>(i);
  const auto first = static_cast<std::size_t>(c.graph->first[at]);
  return std::span(c.graph->neighbour)
      .subspan(first, static_cast<std::size_t>(c.graph->first[at + 1]) - first);
}
bool graph(const MaskContext& c, Index, Index i, Index j) {
  const std::span<const Index> own = neighbours_of(c, i);
  return std::binary_search(own.begin(), own.end(), j);
}
void graph_keys(const MaskContext& c, Index i, std::vector<Index>& keys) {
  const std::span<const Index> own = neighbours_of(c, i);
  keys.insert(keys.end(), own.begin(), own.end());
}

constexpr MaskOperand no_operand = MaskOperand::none;
constexpr std::array masks{
    MaskRow{"full",
            "every query sees every key",
            {},
            no_operand,
            nullptr,
            &sees<&full>,
            nullptr,
            true,
            nullptr},
    MaskRow{"causal",
            "j <= i', i' = i + n_k - n_q",
            {},
            no_operand,
            nullptr,
            &sees<&causal>,
            &up_to_own,
            true,
            nullptr},
    MaskRow{"padding",
            "j < length of the batch element",
            {},
            MaskOperand::lengths,
            nullptr,
            &sees<&padding>,
            &padding_range,
            true,
            nullptr},
    MaskRow{"window", "|j - i'| < window", window_parameters, no_operand, nullptr, &sees<&window>,
            &window_range, true, nullptr},
    MaskRow{"explicit",
            "the n_q x n_k dataset `mask` of the input",
            {},
            MaskOperand::allowed,
            nullptr,
            &sees<&allowed>,
            nullptr,
            false,
            nullptr},
    MaskRow{
        "strided",
        "0 <= i' - j < stride, or i' >= j and i' - j a multiple of stride (Sparse Transformers)",
        strided_parameters, no_operand, &root_of_keys, &sees<&strided>, &up_to_own, false,
        &strided_keys},
    MaskRow{"graph", "key j is a neighbour of query i in the dataset `edge` [m x 2], or i' itself",
            graph_parameters, MaskOperand::edges, nullptr, &sees<&graph>, nullptr, false,
            &graph_keys}};

}  // namespace

std::span<const MaskRow> mask_table() { return masks; }

const MaskRow* find_mask(const std::string& name) {
  const auto found = std::find_if(masks.begin(), masks.end(),
                                  [&](const MaskRow& row) { return name == row.name; });
  return found == masks.end() ? nullptr : &*found;
}

}  // namespace conelab
