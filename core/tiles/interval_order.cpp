#include "core/tiles/interval_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

namespace conelab {
namespace {

/// Keys in a block of the tree.
constexpr std::int64_t block_keys = 32;

double high_part(double x) { return x; }
double high_part(const Twofold& x) { return x.high; }

/// Returns a number whose order as an integer is that of x.
std::uint64_t ordered_bits(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);  // -0 becomes 0.
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

struct Ranked {
  std::uint64_t bits;
  std::int32_t item;
};

/// Sorts by `bits`, some of them at a time. Equal ones keep their order.
void sort_by_bits(Buffer<Ranked>& list) {
  constexpr int width = 11;
  Buffer<Ranked> sorted(list.size());
  for (int shift = 0; shift < 64; shift += width) {
    std::array<std::size_t, (1 << width) + 1> first{};
    const auto digit = [&](const Ranked& r) { return (r.bits >> shift) & ((1 << width) - 1); };
    for (const Ranked& r : list) ++first[digit(r) + 1];
    if (std::ranges::any_of(first, [&](std::size_t c) { return c == list.size(); })) continue;
    std::partial_sum(first.begin(), first.end(), first.begin());
    for (const Ranked& r : list) sorted[first[digit(r)]++] = r;
    list.swap(sorted);
  }
}

/// The kinds of items with equal ends, in their order.
enum Kind : std::uint8_t { early_output, summand_item, late_output };

/// The items before they are ordered: summands, outputs, and second items of tied outputs.
template <class T>
struct Raw {
  const Intervals<T>& summands;
  const Intervals<T>& outputs;
  std::vector<std::int32_t> early = {};  ///< Tokens.

  [[nodiscard]] std::int64_t first_output() const { return summands.count(); }
  [[nodiscard]] std::int64_t first_early() const { return first_output() + outputs.count(); }
  [[nodiscard]] std::int64_t count() const {
    return first_early() + static_cast<std::int64_t>(early.size());
  }
  [[nodiscard]] Kind kind(std::int64_t r) const {
    return r < first_output() ? summand_item : r < first_early() ? late_output : early_output;
  }
  [[nodiscard]] const Intervals<T>& side(std::int64_t r) const {
    return r < first_output() ? summands : outputs;
  }
  [[nodiscard]] std::int32_t token(std::int64_t r) const {
    if (r >= first_early()) return early[static_cast<std::size_t>(r - first_early())];
    return static_cast<std::int32_t>(r < first_output() ? r : r - first_output());
  }
  /// Returns W or U of an item.
  [[nodiscard]] const Coordinate<T>& end(std::int64_t r, bool upper) const {
    const Intervals<T>& from = side(r);
    return (upper ? from.upper : from.lower)[static_cast<std::size_t>(token(r))];
  }
};

template <class T>
std::vector<std::int32_t> sorted_order(const Raw<T>& raw, bool upper) {
  Buffer<Ranked> list;
  list.reserve(static_cast<std::size_t>(raw.count()));
  for (std::int64_t r = 0; r < raw.count(); ++r) {
    list.push_back({ordered_bits(high_part(raw.end(r, upper))), static_cast<std::int32_t>(r)});
  }
  sort_by_bits(list);
  for (auto run = list.begin(); run != list.end();) {
    auto end = run + 1;
    while (end != list.end() && end->bits == run->bits) ++end;
    if (end - run > 1) {
      std::stable_sort(run, end, [&](const Ranked& a, const Ranked& b) {
        const Coordinate<T>& x = raw.end(a.item, upper);
        const Coordinate<T>& y = raw.end(b.item, upper);
        return x < y || (x == y && raw.kind(a.item) < raw.kind(b.item));
      });
    }
    run = end;
  }
  std::vector<std::int32_t> order;
  order.reserve(list.size());
  for (const Ranked& r : list) order.push_back(r.item);
  return order;
}

struct Orders {
  std::vector<std::int32_t> by_upper, by_lower;
};

template <class T>
Orders orders_of(const Raw<T>& raw, const Execution& run) {
  Orders orders;
  run_tasks(2, quiet(run), [&](std::int64_t task, const auto&) {
    (task == 0 ? orders.by_upper : orders.by_lower) = sorted_order(raw, task == 0);
  });
  return orders;
}

/// Marks the outputs that have an end in common with a summand. Returns whether there are any.
template <class T>
bool mark_ties(const Raw<T>& raw, const std::vector<std::int32_t>& order, bool upper,
               std::vector<std::uint8_t>& is_tied) {
  bool any = false;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    bool has_summand = false;
    const Coordinate<T>& place = raw.end(order[begin], upper);
    for (end = begin; end < order.size() && raw.end(order[end], upper) == place; ++end) {
      has_summand |= raw.kind(order[end]) == summand_item;
    }
    for (std::size_t k = begin; has_summand && k < end; ++k) {
      if (raw.kind(order[k]) == summand_item) continue;
      is_tied[static_cast<std::size_t>(raw.token(order[k]))] = 1;
      any = true;
    }
  }
  return any;
}

template <class T>
Coordinate<T> weight_of(const Intervals<T>& tokens, std::int32_t token) {
  return tokens.weight.empty() ? Coordinate<T>(0.0)
                               : tokens.weight[static_cast<std::size_t>(token)];
}

/// Gives summands and outputs their rows, in the order of U.
template <class T>
void number_rows(const Raw<T>& raw, const Orders& orders, IntervalItems<T>& items) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(raw.outputs.count()), -1);
  for (std::size_t k = 0; k < items.item.size(); ++k) {
    const bool is_output = raw.kind(orders.by_upper[k]) != summand_item;
    const std::int32_t token = raw.token(orders.by_upper[k]);
    std::vector<std::int32_t>& rows = is_output ? items.output : items.summand;
    const auto row = static_cast<std::int32_t>(rows.size());
    items.item[k].code = is_output ? ~row : row;
    items.item[k].place = static_cast<std::int32_t>(k);
    items.token[k] = token;
    rows.push_back(token);
    if (!is_output) continue;
    std::int32_t& own = place[static_cast<std::size_t>(token)];
    if (own < 0) {
      own = static_cast<std::int32_t>(items.own.size());
      items.own.push_back(token);
    }
    items.partner.push_back(own);
  }
}

template <class T>
IntervalItems<T> items_in_order(const Raw<T>& raw, const Orders& orders,
                                const std::vector<std::uint8_t>& is_tied, const Execution& run) {
  IntervalItems<T> items;
  const auto count = static_cast<std::size_t>(raw.count());
  items.item.resize(count);
  items.token.resize(count);
  items.by_lower.resize(count);
  items.rank.resize(count);
  number_rows(raw, orders, items);
  std::vector<std::int32_t> item_of(count);
  run_blocks(raw.count(), tokens_of_block, run, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int32_t r = orders.by_upper[static_cast<std::size_t>(k)], token = raw.token(r);
      IntervalItem<T>& item = items.item[static_cast<std::size_t>(k)];
      item.lower = raw.end(r, false);
      item.upper = raw.end(r, true);
      const bool half = item.is_output() && is_tied[static_cast<std::size_t>(token)] != 0;
      item.weight = weight_of(raw.side(r), token) - Coordinate<T>(half ? std::log(2.0) : 0.0);
      item_of[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(k);
    }
  });
  run_blocks(raw.count(), tokens_of_block, run, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int32_t r = orders.by_lower[static_cast<std::size_t>(k)];
      const std::int32_t item = item_of[static_cast<std::size_t>(r)];
      items.by_lower[static_cast<std::size_t>(k)] = item;
      items.rank[static_cast<std::size_t>(item)] = static_cast<std::int32_t>(k);
    }
  });
  return items;
}

}  // namespace

template <class T>
IntervalItems<T> ordered_items(const Intervals<T>& summands, const Intervals<T>& outputs,
                               bool halves_ties, const Execution& run) {
  std::vector<std::uint8_t> is_tied(static_cast<std::size_t>(outputs.count()), 0);
  Raw<T> raw{summands, outputs};
  Orders orders = orders_of(raw, run);
  if (halves_ties) {
    const bool upper = mark_ties(raw, orders.by_upper, true, is_tied);
    const bool lower = mark_ties(raw, orders.by_lower, false, is_tied);
    for (std::int64_t i = 0; (upper || lower) && i < outputs.count(); ++i) {
      if (is_tied[static_cast<std::size_t>(i)] != 0) {
        raw.early.push_back(static_cast<std::int32_t>(i));
      }
    }
    if (upper || lower) orders = orders_of(raw, run);
  }
  return items_in_order(raw, orders, is_tied, run);
}

template <class T>
Buffer<T> rows_in_order(const Intervals<T>& tokens, const std::vector<std::int32_t>& order,
                        std::ptrdiff_t columns, const Execution& run) {
  Buffer<T> rows(order.size() * static_cast<std::size_t>(columns));
  run_blocks(
      static_cast<std::int64_t>(order.size()), tokens_of_block, run,
      [&](std::int64_t begin, std::int64_t end) {
        tokens.set_rows({order.data() + begin, order.data() + end}, rows.data() + begin * columns);
      });
  return rows;
}

template <class T>
Stages<T>::Stages(const IntervalItems<T>& items, const SeenPairs& seen)
    : items_(items), seen_(seen) {
  begin_ = std::numeric_limits<std::int64_t>::max();
  for (const KeyRange& range : seen.keys) {
    if (range.begin >= range.end) continue;
    begin_ = std::min(begin_, range.begin);
    end_ = std::max(end_, range.end);
  }
  const std::int64_t keys = std::max<std::int64_t>(0, end_ - begin_);
  const auto blocks = static_cast<std::uint64_t>((keys + block_keys - 1) / block_keys);
  depth_ = blocks == 0 ? -1 : std::countr_zero(std::bit_ceil(blocks));
  for (const KeyRange& range : seen.keys) {
    const bool sees = range.begin < range.end;
    const std::int64_t left = (range.begin - begin_ + block_keys - 1) / block_keys;
    const std::int64_t right = range.end == end_ ? std::int64_t{1} << std::max(0, depth_)
                                                 : (range.end - begin_) / block_keys;
    left_.push_back(sees ? static_cast<std::int32_t>(left) : 0);
    right_.push_back(sees ? static_cast<std::int32_t>(right) : 0);
  }
}

template <class T>
double Stages<T>::done() const {
  return std::min(1.0, step_ / (2.0 * (depth_ + 2)));
}

template <class T>
bool Stages<T>::next(Stage<T>& stage, const Execution& run) {
  for (; step_ < 2 * (depth_ + 2); ++step_) {
    const bool by_pairs = step_ < 2, at_right = step_ % 2 == 1;
    node_.assign(left_.size(), -1);
    if (by_pairs) {
      find_parts(at_right);
    } else {
      find_nodes(at_right);
    }
    if (std::ranges::all_of(node_, [](std::int32_t n) { return n < 0; })) continue;
    stage = {};
    stage.by_pairs = by_pairs;
    fill(stage, by_pairs ? 0 : step_ / 2 - 1, run);
    ++step_;
    return true;
  }
  return false;
}

/// Finds the blocks of which a query sees a part, at the left or right end of its range.
template <class T>
void Stages<T>::find_parts(bool at_right) {
  for (std::size_t i = 0; i < node_.size(); ++i) {
    const KeyRange range = seen_.keys[i];
    if (range.begin >= range.end) continue;
    const bool one_block = left_[i] > right_[i];  // Both ends lie inside the same block.
    const bool cut_left = !one_block && range.begin > begin_ + (left_[i] - 1) * block_keys &&
                          range.begin < begin_ + left_[i] * block_keys;
    const bool cut_right = range.end > begin_ + right_[i] * block_keys;
    if (at_right ? cut_right : cut_left) node_[i] = at_right ? right_[i] : left_[i] - 1;
  }
}

/// Finds the nodes of the next size at the left or right ends of ranges.
template <class T>
void Stages<T>::find_nodes(bool at_right) {
  for (std::size_t i = 0; i < node_.size(); ++i) {
    std::int32_t& left = left_[i];
    std::int32_t& right = right_[i];
    if (at_right) {
      if (left < right && (right & 1) != 0) node_[i] = --right;
      left >>= 1;
      right >>= 1;
    } else if (left < right && (left & 1) != 0) {
      node_[i] = left++;
    }
  }
}

template <class T>
bool Stages<T>::is_key(std::int32_t item) const {
  return items_[item].is_output() != seen_.sums_keys;
}

/// Distributes the items over the nodes, which hold 2^shift blocks.
template <class T>
void Stages<T>::fill(Stage<T>& stage, int shift, const Execution& run) const {
  const std::int64_t size = block_keys << shift;
  std::vector<std::int32_t> compact;  // The number of a node among those that have queries.
  std::int32_t nodes = 0;
  for (const std::int32_t node : node_) {
    if (node < 0) continue;
    if (static_cast<std::size_t>(node) >= compact.size()) {
      compact.resize(static_cast<std::size_t>(node) + 1, -1);
    }
    std::int32_t& number = compact[static_cast<std::size_t>(node)];
    if (number < 0) number = nodes++;
  }
  // [items] The number of an item's node, or -1.
  Buffer<std::int32_t> number(static_cast<std::size_t>(items_.count()));
  run_blocks(items_.count(), tokens_of_block, run, [&](std::int64_t begin, std::int64_t end) {
    for (auto item = static_cast<std::int32_t>(begin); item < end; ++item) {
      const auto token = static_cast<std::size_t>(items_.token[static_cast<std::size_t>(item)]);
      std::int64_t node = -1;
      if (!is_key(item)) {
        node = node_[token];
      } else if (const auto key = static_cast<std::int64_t>(token); key >= begin_ && key < end_) {
        node = (key - begin_) / size;
      }
      const bool exists = node >= 0 && node < static_cast<std::int64_t>(compact.size());
      number[static_cast<std::size_t>(item)] =
          exists ? compact[static_cast<std::size_t>(node)] : -1;
    }
  });
  stage.first.assign(static_cast<std::size_t>(nodes) + 1, 0);
  for (const std::int32_t n : number) {
    if (n >= 0) ++stage.first[static_cast<std::size_t>(n) + 1];
  }
  std::partial_sum(stage.first.begin(), stage.first.end(), stage.first.begin());
  const std::int64_t in_nodes = stage.first.back();
  Buffer<std::int32_t> by_lower(static_cast<std::size_t>(in_nodes));
  stage.by_upper.resize(static_cast<std::size_t>(in_nodes));
  run_tasks(2, quiet(run), [&](std::int64_t task, const auto&) {
    std::int32_t* to = task == 0 ? stage.by_upper.data() : by_lower.data();
    std::vector<std::ptrdiff_t> next(stage.first.begin(), stage.first.end() - 1);
    for (std::int32_t k = 0; k < items_.count(); ++k) {
      const std::int32_t item = task == 0 ? k : items_.by_lower[static_cast<std::size_t>(k)];
      const std::int32_t n = number[static_cast<std::size_t>(item)];
      if (n >= 0) to[next[static_cast<std::size_t>(n)]++] = item;
    }
  });
  stage.by_lower.resize(static_cast<std::size_t>(in_nodes));
  run_blocks(in_nodes, tokens_of_block, run, [&](std::int64_t begin, std::int64_t end) {
    for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
      stage.by_lower[k] = items_[by_lower[k]];
    }
  });
}

#define CONELAB_INTERVAL_ORDER(T)                                                         \
  template IntervalItems<T> ordered_items(const Intervals<T>&, const Intervals<T>&, bool, \
                                          const Execution&);                              \
  template Buffer<T> rows_in_order(const Intervals<T>&, const std::vector<std::int32_t>&, \
                                   std::ptrdiff_t, const Execution&);                     \
  template class Stages<T>;
CONELAB_INTERVAL_ORDER(float)
CONELAB_INTERVAL_ORDER(double)

}  // namespace conelab
