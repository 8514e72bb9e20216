#include "core/pair/mask.h"

#include <algorithm>

#include "core/base/error.h"

namespace conelab {
namespace {

bool is_given(MaskOperand operand, const MaskInput& input) {
  const bool given[] = {true, input.lengths != nullptr, input.allowed != nullptr, input.has_edges};
  return given[static_cast<std::size_t>(operand)];
}

/// Returns what an operand is and where it is given, for messages.
const char* text_of(MaskOperand operand) {
  static constexpr const char* names[] = {
      "nothing", "the number of keys of each batch element (--lengths of attend and tree)",
      "the array 'mask' [.. x n_q x n_k] beside q",
      "the array 'edge' [m x 2] of whole numbers beside q"};
  return names[static_cast<std::size_t>(operand)];
}

void require_operand(const MaskRow& row, const MaskInput& input) {
  const bool is_empty = row.operand == MaskOperand::allowed && input.query * input.key == 0;
  if (is_empty || is_given(row.operand, input)) return;
  misuse("mask {} needs {}", row.name, text_of(row.operand));
}

/// Returns whether the mask reads a tensor that is not there, as where only sizes are known.
bool lacks_tensors(const MaskPart& part) {
  const bool reads = std::ranges::any_of(part.row->parameters, [](const ParameterInfo& info) {
    return info.domain == Domain::tensor;
  });
  return reads && part.row->operand != MaskOperand::edges && part.tensors.empty();
}

/// Returns the lists of neighbours of a graph.
std::shared_ptr<const Neighbours> neighbours(const MaskInput& in, bool directed) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  const auto add = [&](std::int64_t query, std::int64_t key) {
    if (query < in.slice.all_queries && key < in.slice.all_keys) pairs.emplace_back(query, key);
  };
  for (std::size_t e = 0; e + 1 < in.edges.size(); e += 2) {
    const std::int64_t i = in.edges[e], j = in.edges[e + 1];
    const std::int64_t most = std::max(in.slice.all_queries, in.slice.all_keys);
    if (i < 0 || j < 0 || i >= most || j >= most) {
      fail("edge {} joins tokens {} and {} (expected numbers from 0 to {})", e / 2, i, j, most - 1);
    }
    add(i, j);
    if (!directed) add(j, i);
  }
  for (std::int64_t i = 0; i < in.slice.all_queries; ++i) {
    const std::int64_t own = i + in.slice.all_keys - in.slice.all_queries;
    if (own >= 0) pairs.emplace_back(i, own);
  }
  // Sorts by query with counts, which costs O(pairs), and then the few keys of each query.
  const auto queries = static_cast<std::size_t>(in.slice.all_queries);
  std::vector<std::int64_t> place(queries + 1, 0), keys(pairs.size());
  for (const auto& pair : pairs) ++place[static_cast<std::size_t>(pair.first) + 1];
  for (std::size_t i = 1; i <= queries; ++i) place[i] += place[i - 1];
  const std::vector<std::int64_t> begin = place;
  for (const auto& [query, key] : pairs) {
    keys[static_cast<std::size_t>(place[static_cast<std::size_t>(query)]++)] = key;
  }
  auto lists = std::make_shared<Neighbours>();
  lists->first.assign(queries + 1, 0);
  lists->neighbour.reserve(keys.size());
  for (std::size_t i = 0; i < queries; ++i) {
    const auto first = keys.begin() + begin[i], last = keys.begin() + begin[i + 1];
    std::sort(first, last);
    lists->neighbour.insert(lists->neighbour.end(), first, std::unique(first, last));
    lists->first[i + 1] = static_cast<std::int64_t>(lists->neighbour.size());
  }
  return lists;
}

}  // namespace

std::shared_ptr<const Neighbours> GraphLists::of(const MaskInput& input, bool directed) {
  const std::lock_guard lock(mutex_);
  const std::vector<std::int64_t> sizes{input.slice.all_queries, input.slice.all_keys,
                                        directed ? 1 : 0};
  if (lists_ != nullptr && sizes == sizes_ && std::ranges::equal(input.edges, edges_)) {
    return lists_;
  }
  lists_ = neighbours(input, directed);
  edges_.assign(input.edges.begin(), input.edges.end());
  sizes_ = sizes;
  ++made_;
  return lists_;
}

Mask::Mask(std::vector<MaskPart> parts, MaskInput input, bool check_operands) : input_(input) {
  for (MaskPart& part : parts) {
    if (check_operands) require_operand(*part.row, input_);
    if (!is_given(part.row->operand, input_) || lacks_tensors(part)) continue;
    parts_.push_back({std::move(part), nullptr});
    Part& own = parts_.back();
    if (own.mask.row->operand == MaskOperand::edges) {
      const bool directed = own.mask.p.front() != 0;
      own.graph = input_.graph == nullptr ? neighbours(input_, directed)
                                          : input_.graph->of(input_, directed);
    }
  }
  for (const Part& part : parts_) {
    if (sparse_ == nullptr && part.mask.row->list != nullptr) sparse_ = &part;
  }
}

KeyRange Mask::range_of(const Part& part, std::int64_t element, std::int64_t query) const {
  if (part.mask.row->range == nullptr) return {0, input_.key};
  const Slice& s = input_.slice;
  const KeyRange seen =
      part.mask.row->range(context(part, element), element, s.first_query + query);
  return {seen.begin - s.first_key, seen.end - s.first_key};
}

Cover Mask::cover_of(const Part& part, const MaskTile& tile) const {
  // Ranges do not decrease from query to query, so that the first and the last one bound all
  // others.
  const KeyRange first = range_of(part, tile.element, tile.query_begin);
  const KeyRange last = range_of(part, tile.element, tile.query_end - 1);
  if (last.end <= tile.key_begin || first.begin >= tile.key_end) return Cover::none;
  const bool all =
      part.mask.row->whole_range && last.begin <= tile.key_begin && first.end >= tile.key_end;
  return all ? Cover::all : Cover::partial;
}

Cover Mask::cover(const MaskTile& tile) const {
  Cover result = Cover::all;
  for (const Part& part : parts_) {
    const Cover c = cover_of(part, tile);
    if (c == Cover::none) return Cover::none;
    if (c == Cover::partial) result = Cover::partial;
  }
  return result;
}

bool Mask::admits(std::int64_t element, std::int64_t query, std::int64_t key) const {
  std::uint8_t sees = 0;
  row(element, query, key, 1, &sees);
  return sees != 0;
}

KeyRange Mask::range(std::int64_t element, std::int64_t query) const {
  KeyRange seen{0, input_.key};
  for (const Part& part : parts_) {
    const KeyRange own = range_of(part, element, query);
    seen = {std::max(seen.begin, own.begin), std::min(seen.end, own.end)};
  }
  return seen.begin < seen.end ? seen : KeyRange{0, 0};
}

double Mask::share() const {
  // The number of pairs to look at if the ranges are not sufficient.
  constexpr double most_pairs = 1 << 25;
  constexpr std::int64_t most_queries = 1 << 16;
  const bool by_pairs = has_holes() && !is_sparse();
  const auto keys_at_once = static_cast<double>(std::max<std::int64_t>(1, input_.key));
  const std::int64_t queries =
      by_pairs ? static_cast<std::int64_t>(most_pairs / keys_at_once) + 1 : most_queries;
  const std::int64_t step = (input_.query + queries - 1) / queries;
  std::vector<std::uint8_t> sees(by_pairs ? static_cast<std::size_t>(input_.key) : 0);
  double seen = 0, asked = 0;
  for (std::int64_t query = step / 2; query < input_.query; query += step, ++asked) {
    if (is_sparse()) {
      seen += static_cast<double>(keys(0, query).size());
    } else if (by_pairs) {
      row(0, query, 0, input_.key, sees.data());
      seen += static_cast<double>(std::ranges::count(sees, 1));
    } else {
      const KeyRange own = range(0, query);
      seen += static_cast<double>(own.end - own.begin);
    }
  }
  const double pairs = asked * static_cast<double>(input_.key);
  return pairs > 0 ? seen / pairs : 0;
}

std::int64_t Mask::queries_without_keys(std::int64_t element) const {
  std::vector<std::uint8_t> sees(static_cast<std::size_t>(input_.key));
  std::int64_t count = 0;
  for (std::int64_t query = 0; query < input_.query; ++query) {
    const KeyRange seen = range(element, query);
    bool any = seen.begin < seen.end;
    if (any && is_sparse()) any = !keys(element, query).empty();
    if (any && has_holes() && !is_sparse()) {
      const std::int64_t size = seen.end - seen.begin;
      row(element, query, seen.begin, size, sees.data());
      any = std::find(sees.begin(), sees.begin() + size, 1) != sees.begin() + size;
    }
    count += any ? 0 : 1;
  }
  return count;
}

bool Mask::has_holes() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return !part.mask.row->whole_range; });
}

void Mask::row(std::int64_t element, std::int64_t query, std::int64_t key_begin, std::int64_t count,
               std::uint8_t* sees) const {
  std::fill_n(sees, count, std::uint8_t{1});
  std::vector<std::uint8_t> own;
  for (const Part& part : parts_) {
    const KeyRange seen = range_of(part, element, query);
    const auto begin = std::clamp<std::int64_t>(seen.begin - key_begin, 0, count);
    const auto end = std::clamp<std::int64_t>(seen.end - key_begin, begin, count);
    std::fill(sees, sees + begin, std::uint8_t{0});
    std::fill(sees + end, sees + count, std::uint8_t{0});
    if (part.mask.row->whole_range || begin == end) continue;
    own.resize(static_cast<std::size_t>(end - begin));
    const Slice& s = input_.slice;
    part.mask.row->sees(context(part, element), element, s.first_query + query,
                        s.first_key + key_begin + begin, end - begin, own.data());
    for (std::int64_t c = begin; c < end; ++c) sees[c] &= own[static_cast<std::size_t>(c - begin)];
  }
}

void Mask::visible(const MaskTile& tile, std::uint8_t* sees) const {
  const std::int64_t columns = tile.key_end - tile.key_begin;
  for (std::int64_t query = tile.query_begin; query < tile.query_end; ++query, sees += columns) {
    row(tile.element, query, tile.key_begin, columns, sees);
  }
}

std::vector<std::int64_t> Mask::keys(std::int64_t element, std::int64_t query) const {
  std::vector<std::int64_t> keys;
  const Slice& s = input_.slice;
  sparse_->mask.row->list(context(*sparse_, element), s.first_query + query, keys);
  if (s.first_key > 0 || s.all_keys > input_.key) {
    for (std::int64_t& key : keys) key -= s.first_key;
    std::erase_if(keys, [&](std::int64_t key) { return key < 0 || key >= input_.key; });
  }
  if (parts_.size() > 1) {
    std::erase_if(keys, [&](std::int64_t key) { return !admits(element, query, key); });
  }
  return keys;
}

}  // namespace conelab
