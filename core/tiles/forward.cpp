// The forward pass: blocks of queries sweep over the tiles of keys with an online softmax
// (values.h). Many queries share the tiles, which are all packed first. Where the queries of a head
// are one block, as when a model writes one token after another, reading keys and values takes most
// of the time: values are then read where they lie, and so are the keys of up to eight queries
// (Head::uses_lying_keys); those of more are packed tile by tile when their turn comes, into memory
// that stays in the caches. Tasks are slices of keys, whose sums are joined in their order: the
// result is the same for any number of threads.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "core/base/finite.h"
#include "core/base/parallel.h"
#include "core/base/subnormals.h"
#include "core/simd/narrow.h"
#include "core/tiles/aggregate.h"
#include "core/tiles/attention.h"
#include "core/tiles/column_lse.h"
#include "core/tiles/interval_attention.h"
#include "core/tiles/packed_keys.h"
#include "core/tiles/row_weights.h"
#include "core/tiles/sparse.h"
#include "core/tiles/tile.h"
#include "core/tiles/tile_size.h"
#include "core/tiles/values.h"

namespace conelab {
namespace {

/// The maximum number of queries in a task, whose output sums then stay in the second-level
/// cache.
constexpr std::int64_t most_queries = 384;
/// The minimum number of tasks for each thread, so that no thread waits long for the last one.
constexpr std::int64_t least_tasks = 8;
constexpr std::size_t cache_line = 64;
/// The most queries of a tile that sum values where they lie row by row. The products of more share
/// the values in registers.
constexpr int most_lying_rows = 4;
/// Queries in a tile for values of few dimensions. The products gain nothing by more, and the tile
/// of pairs stays in the first-level cache.
constexpr int narrow_rows = 12;

/// Keys of a slice.
template <class T>
constexpr std::int64_t slice_keys = 8 * forward_keys<T>;

/// The values of one head of v.
template <class S>
struct ForwardValues {
  PackedValues<S> packed;
  NonFiniteValues<S> non_finite;  ///< Set once all values are packed.
};

/// The values of a tile, one after the other.
template <class S>
struct TileValues {
  const PackedValues<S>& all;
  std::vector<std::int64_t>& non_finite;  ///< The keys of packed values that are not finite.
  int tile = 0;
  RightOperand<Compute<S>> operand = {};
  bool finite = true;  ///< Whether the numbers of `operand` are known to be finite.
  Buffer<Compute<S>> room = {};

  /// Reads the values of a tile. Those of few rows are not packed.
  void read(int t, bool few) {
    tile = t;
    const auto lying = few ? all.as_they_are(t) : std::nullopt;
    finite = !lying;
    if (lying) {
      operand = *lying;
    } else if (few && !all.is_narrow()) {
      operand = all.extended(t, room, non_finite);
    } else {
      operand = all.panels(t, room, non_finite);
    }
  }
  /// Puts 0 in the place of numbers that are not finite.
  void make_finite() {
    operand = all.extended(tile, room, non_finite);
    finite = true;
  }
};

/// What the tasks of one head read. Heads of q that share a head of k or v share its packed tokens.
template <class S>
struct ForwardHead {
  const Head<Compute<S>>& head;
  const PackedKeys<Compute<S>>& keys;
  const PackedValues<S>& values;
  const NonFiniteValues<S>& non_finite_values;
};

template <class S>
class ForwardPass {
  using T = Compute<S>;

 public:
  /// `columns` are Forward::column_lse.
  ForwardPass(const Plan& plan, const AttentionInput<S>& input, const Execution& execution,
              Tensor4<T> columns = {})
      : plan_(plan),
        input_(input),
        execution_(execution),
        kernels_(kernels<S>(execution.simd, plan.extents.query)),
        narrow_(narrow_kernels<T>(kernels_.name)),
        rows_(row_kernels<T>(kernels_.name)),
        group_rows_(kernels_.forward_rows),
        mask_(plan.mask(input)),
        key_heads_(plan.placed_key_heads()) {
    if (are_narrow(aggregate_width(plan.aggregate, plan.extents.value), kernels_.panel)) {
      group_rows_ = std::min(group_rows_, narrow_rows);
    }
    result_ = empty_forward<S>(plan_);
    result_.column_lse = std::move(columns);
  }

  Forward<S> run() {
    query_block_ = query_block();
    blocks_ = (plan_.extents.query + query_block_ - 1) / query_block_;
    const Extents& e = plan_.extents;
    const std::int64_t heads = e.batch * e.head;
    heads_.resize(static_cast<std::size_t>(heads));
    if (heads == 0) return std::move(result_);
    if (e.query <= group_rows_) return run_slices();
    keys_.resize(static_cast<std::size_t>(e.batch * key_heads_));
    values_.resize(static_cast<std::size_t>(e.batch * e.value_heads()));
    const std::int64_t of_group = e.head / std::gcd(key_heads_, e.value_heads());
    if (heads / of_group >= thread_count(execution_) * least_tasks) return run_groups(of_group);
    const Execution prepare = quiet(execution_);
    run_tasks(heads, prepare, [&](std::int64_t head, const auto&) { prepare_head(head); });
    const std::int64_t tiles = key_tiles();
    const auto packed = static_cast<std::int64_t>(keys_.size() + values_.size());
    run_tasks(packed * tiles, prepare, [&](std::int64_t task, const auto&) {
      prepare_tile(task / tiles, static_cast<int>(task % tiles));
    });
    for (std::size_t of_values = 0; of_values < values_.size(); ++of_values) {
      find_non_finite_values(of_values);
    }
    run_tasks(heads * blocks_, execution_,
              [&](std::int64_t task, const auto& stopped) { run_block(task, stopped); });
    return std::move(result_);
  }

 private:
  const Plan& plan_;
  const AttentionInput<S>& input_;
  const Execution& execution_;
  const Kernels<T>& kernels_;
  const NarrowKernels<T>& narrow_;
  const RowKernels<T>& rows_;
  int group_rows_;  ///< Queries in a tile.
  Mask mask_;
  std::int64_t key_heads_;  ///< Heads of packed keys.
  std::int64_t query_block_ = most_queries, blocks_ = 0;
  std::vector<std::optional<Head<T>>> heads_;            ///< [batch × head]
  std::vector<std::optional<PackedKeys<T>>> keys_;       ///< [batch × heads of packed keys]
  std::vector<std::optional<ForwardValues<S>>> values_;  ///< [batch × heads of v]
  Forward<S> result_;
  std::int64_t sharing_ = 1;  ///< Consecutive heads that share keys and values.
  std::int64_t slices_ = 1;
  std::vector<std::optional<RowSums<T>>> sums_;  ///< [batch × head × slices]
  /// [batch × groups of heads × slices] The keys whose values are not finite, ascending.
  std::vector<std::vector<std::int64_t>> non_finite_values_;

  /// The queries of a task and their running sums.
  struct Block {
    std::int64_t batch, head, begin;
    int rows;
    Operand<T> queries;
    RowSums<T> sums;
    Buffer<T> tile;              ///< [forward_rows × forward_keys] Measures, then weights.
    std::vector<T> before = {};  ///< A copy of sums of rows.
  };

  /// Returns the number of queries in a task, in whole groups. A single thread has no need of
  /// small ones.
  [[nodiscard]] std::int64_t query_block() const {
    const Extents& e = plan_.extents;
    const std::int64_t threads = thread_count(execution_);
    const std::int64_t share = e.batch * e.head * e.query / (threads * least_tasks) + 1;
    return threads == 1 ? most_queries
                        : std::min(most_queries, round_up<std::int64_t>(share, group_rows_));
  }

  /// Returns the place of the packed tokens, of `own` heads, that a head of a batch element reads.
  [[nodiscard]] std::size_t packed_at(std::int64_t index, std::int64_t own) const {
    const std::int64_t heads = plan_.extents.head;
    return static_cast<std::size_t>(index / heads * own + shared_head(index % heads, own, heads));
  }
  /// Returns the first head of a batch element that reads these packed tokens.
  [[nodiscard]] std::int64_t first_reader(std::int64_t at, std::int64_t own) const {
    return at * (plan_.extents.head / own);
  }
  [[nodiscard]] ForwardHead<S> head_at(std::int64_t index) const {
    const ForwardValues<S>& values = *values_[packed_at(index, plan_.extents.value_heads())];
    return {*heads_[static_cast<std::size_t>(index)], *keys_[packed_at(index, key_heads_)],
            values.packed, values.non_finite};
  }

  void prepare_head(std::int64_t index) {
    Head<T>& head = heads_[static_cast<std::size_t>(index)].emplace(plan_, kernels_, input_, index);
    const std::size_t keys = packed_at(index, key_heads_);
    if (first_reader(static_cast<std::int64_t>(keys), key_heads_) == index) {
      keys_[keys].emplace(plan_, kernels_, head, plan_.extents.key);
    }
    const std::size_t values = packed_at(index, plan_.extents.value_heads());
    if (first_reader(static_cast<std::int64_t>(values), plan_.extents.value_heads()) == index) {
      values_[values].emplace(ForwardValues<S>{{plan_, kernels_, input_, index}, {}});
    }
  }

  /// Prepares, attends with and releases all of a group of heads in one task, so that its packed
  /// tokens stay in the cache. No other head reads the keys and values of a group.
  Forward<S> run_groups(std::int64_t of_group) {
    const Extents& e = plan_.extents;
    const auto release = [](auto& all, std::size_t first, std::size_t last) {
      for (std::size_t i = first; i <= last; ++i) all[i].reset();
    };
    run_tasks(e.batch * e.head / of_group, execution_,
              [&](std::int64_t group, const auto& stopped) {
                const std::int64_t first = group * of_group, last = first + of_group - 1;
                const std::size_t key = packed_at(first, key_heads_),
                                  last_key = packed_at(last, key_heads_);
                const std::size_t value = packed_at(first, e.value_heads());
                const std::size_t last_value = packed_at(last, e.value_heads());
                for (std::int64_t i = first; i <= last; ++i) prepare_head(i);
                for (int t = 0; t < key_tiles(); ++t) {
                  for (std::size_t i = key; i <= last_key; ++i) {
                    prepare_tile(static_cast<std::int64_t>(i), t);
                  }
                  for (std::size_t i = value; i <= last_value; ++i) {
                    prepare_tile(static_cast<std::int64_t>(keys_.size() + i), t);
                  }
                }
                for (std::size_t i = value; i <= last_value; ++i) find_non_finite_values(i);
                for (std::int64_t task = first * blocks_; task < (last + 1) * blocks_; ++task) {
                  run_block(task, stopped);
                }
                release(keys_, key, last_key);
                release(values_, value, last_value);
                release(heads_, static_cast<std::size_t>(first), static_cast<std::size_t>(last));
              });
    return std::move(result_);
  }

  [[nodiscard]] std::int64_t key_tiles() const {
    return (plan_.extents.key + forward_keys<T> - 1) / forward_keys<T>;
  }

  /// Packs tile `t` of the keys, or of the values, which are counted after the keys.
  void prepare_tile(std::int64_t at, int t) {
    const auto keys = static_cast<std::int64_t>(keys_.size());
    if (at >= keys) return values_[static_cast<std::size_t>(at - keys)]->packed.pack(t);
    const std::int64_t index = first_reader(at, key_heads_), heads = plan_.extents.head;
    keys_[static_cast<std::size_t>(at)]->pack(
        plan_, kernels_, *heads_[static_cast<std::size_t>(index)],
        input_.key.tokens(index / heads, index % heads, heads), t);
  }

  void find_non_finite_values(std::size_t at) {
    const std::int64_t own = plan_.extents.value_heads(), index = static_cast<std::int64_t>(at);
    ForwardValues<S>& values = *values_[at];
    values.non_finite = NonFiniteValues<S>(
        plan_.aggregate, input_.value.tokens(index / own, index % own), values.packed.non_finite());
  }

  void run_block(std::int64_t task, const std::function<bool()>& stopped) {
    const std::int64_t index = task / blocks_;
    const ForwardHead<S> shared = head_at(index);
    Block block = start(index, (task % blocks_) * query_block_, shared);
    Tiles<S> tiles(plan_, kernels_, shared.head, mask_, input_.key, index, result_.column_lse);
    std::vector<std::int64_t> known;
    TileValues<S> values{shared.values, known};
    for (int t = 0; t < shared.keys.tiles() && !stopped(); ++t) {
      const KeyTile<T> keys = shared.keys.tile(t);
      if (tiles.cover(block.begin, block.begin + block.rows, keys) == Cover::none) continue;
      values.read(t, false);
      const FlushSubnormals flush;
      for (int r = 0; r < block.rows; r += group_rows_) {
        if (t + 1 < shared.keys.tiles()) fetch_ahead(block, shared, t + 1, r);
        attend_group(block, shared, tiles, keys, values, r);
      }
    }
    finish(index, block.begin, block.rows, block.sums, shared.non_finite_values);
  }

  /// Sets the results of a block of queries of a head.
  void finish(std::int64_t index, std::int64_t begin, int rows, RowSums<T>& sums,
              const NonFiniteValues<S>& non_finite) {
    const Extents& e = plan_.extents;
    const Head<T>& head = *heads_[static_cast<std::size_t>(index)];
    const std::ptrdiff_t width = value_stride(plan_.aggregate, e.value, kernels_.panel);
    for (int r = 0; r < rows; ++r) {
      head.position_values().add(sums.sums(r) + width, sums.sums(r));
      finish_sums(plan_, sums.sums(r), sums.total(r), *sums.references(r), index, begin + r,
                  head.sink(), result_);
      non_finite.add_seen(mask_, index, begin + r,
                          result_.output.row(index / e.head, index % e.head, begin + r));
    }
  }

  Forward<S> run_slices() {
    const Extents& e = plan_.extents;
    const std::int64_t heads = e.batch * e.head;
    sharing_ = e.head / std::lcm(key_heads_, e.value_heads());
    slices_ = std::max<std::int64_t>(1, (e.key + slice_keys<T> - 1) / slice_keys<T>);
    sums_.resize(static_cast<std::size_t>(heads * slices_));
    const std::int64_t tasks = heads / sharing_ * slices_;
    non_finite_values_.resize(static_cast<std::size_t>(tasks));
    const auto make = [&](std::int64_t i) {
      heads_[static_cast<std::size_t>(i)].emplace(plan_, kernels_, input_, i);
    };
    const auto for_heads = [&](const auto& step) {
      run_tasks(heads, quiet(execution_), [&](std::int64_t i, const auto&) { step(i); });
    };
    const bool whole = slices_ == 1;  // Then one task does all for its heads.
    if (!whole) for_heads(make);
    run_tasks(tasks, execution_, [&](std::int64_t task, const auto& stopped) {
      const std::int64_t first = task * sharing_;
      for (std::int64_t i = first; whole && i < first + sharing_; ++i) make(i);
      run_slice(task / slices_, task % slices_, stopped);
      for (std::int64_t i = first; whole && i < first + sharing_; ++i) join_slices(i);
    });
    if (!whole) for_heads([&](std::int64_t i) { join_slices(i); });
    return std::move(result_);
  }

  /// Sums the values of a slice of the keys, for the queries of all heads of a group, which share
  /// them.
  void run_slice(std::int64_t group, std::int64_t slice, const std::function<bool()>& stopped) {
    const Extents& e = plan_.extents;
    const std::int64_t first_head = group * sharing_, begin = slice * slice_keys<T>;
    const std::int64_t count = std::min(slice_keys<T>, e.key - begin);
    const Head<T>& first = *heads_[static_cast<std::size_t>(first_head)];
    PackedKeys<T> keys(plan_, kernels_, first, count, begin, false);
    const PackedValues<S> values(plan_, kernels_, input_, first_head, false);
    const NonFiniteValues<S> none;
    const auto rows =
        input_.key.tokens(first_head / e.head, first_head % e.head, e.head).part(begin, count);
    std::vector<ForwardHead<S>> shared;
    std::vector<Block> blocks;
    std::vector<Tiles<S>> tiles;
    for (std::int64_t i = first_head; i < first_head + sharing_; ++i) {
      shared.push_back({*heads_[static_cast<std::size_t>(i)], keys, values, none});
      blocks.push_back(start(i, 0, shared.back()));
      tiles.emplace_back(plan_, kernels_, shared.back().head, mask_, input_.key, i,
                         result_.column_lse);
    }
    TileValues<S> own{values,
                      non_finite_values_[static_cast<std::size_t>(group * slices_ + slice)]};
    for (int t = 0; t < keys.tiles() && !stopped(); ++t) {
      const auto hidden = [&](const Tiles<S>& of_head) {
        return of_head.cover(0, e.query, keys.tile(t)) == Cover::none;
      };
      if (std::ranges::all_of(tiles, hidden)) continue;
      keys.pack(plan_, kernels_, first, rows, t);
      const KeyTile<T> tile = keys.tile(t);
      own.read(static_cast<int>(tile.first / forward_keys<T>), true);
      const FlushSubnormals flush;
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        attend_group(blocks[i], shared[i], tiles[i], tile, own, 0);
      }
    }
    for (std::int64_t i = 0; i < sharing_; ++i) {
      sums_[static_cast<std::size_t>((first_head + i) * slices_ + slice)] =
          std::move(blocks[static_cast<std::size_t>(i)].sums);
    }
  }

  /// Joins the sums of a head's slices and sets its results.
  void join_slices(std::int64_t index) {
    const Extents& e = plan_.extents;
    auto* slices = &sums_[static_cast<std::size_t>(index * slices_)];
    std::vector<std::int64_t> non_finite;
    for (std::int64_t s = 0; s < slices_; ++s) {
      if (s > 0) slices->value().join(slices[s].value());
      const auto& own =
          non_finite_values_[static_cast<std::size_t>(index / sharing_ * slices_ + s)];
      non_finite.insert(non_finite.end(), own.begin(), own.end());
    }
    finish(index, 0, static_cast<int>(e.query), slices->value(),
           NonFiniteValues<S>(plan_.aggregate,
                              input_.value.tokens(index / e.head, index % e.head, e.head),
                              std::move(non_finite)));
  }

  /// Prefetches the next tile. Each group of rows fetches its share, so that the first group of
  /// that tile does not wait for the third-level cache.
  void fetch_ahead(const Block& block, const ForwardHead<S>& shared, int t, int row) const {
    const std::size_t groups =
        (static_cast<std::size_t>(block.rows) + group_rows_ - 1) / group_rows_;
    const auto fetch = [&](std::span<const std::byte> bytes) {
      const std::size_t part = round_up<std::size_t>(bytes.size() / groups + 1, cache_line);
      const std::size_t first = part * static_cast<std::size_t>(row / group_rows_);
      for (std::size_t at = first; at < std::min(first + part, bytes.size()); at += cache_line) {
        __builtin_prefetch(bytes.data() + at, 0, 2);
      }
    };
    fetch(std::as_bytes(shared.keys.panels(t)));
    fetch(shared.values.source(t));
  }

  Block start(std::int64_t index, std::int64_t begin, const ForwardHead<S>& shared) {
    const Extents& e = plan_.extents;
    const int rows = static_cast<int>(std::min(query_block_, e.query - begin));
    Block b{index / e.head,
            index % e.head,
            begin,
            rows,
            {},
            RowSums<T>(rows, shared.values.stride() +
                                 round_up<std::int64_t>(shared.head.position_values().count(),
                                                        kernels_.panel)),
            Buffer<T>(static_cast<std::size_t>(std::min(rows, group_rows_)) * forward_keys<T>)};
    shared.head.place(input_.query.tokens(b.batch, b.head).part(begin, rows), rows, "q", begin,
                      kernels_.panel, b.queries);
    return b;
  }

  /// Adds a tile of keys to the sums of a group of the block's rows, which begins with `row`.
  void attend_group(Block& block, const ForwardHead<S>& shared, Tiles<S>& tiles,
                    const KeyTile<T>& tile, TileValues<S>& values, int row) {
    const int rows = std::min(group_rows_, block.rows - row);
    const QueryGroup<T> group = query_group(block.queries, block.begin, row, rows);
    Cover cover = tiles.cover(group.first, group.first + rows, tile);
    if (cover == Cover::none) return;
    const KeyTile<T> keys = cover == Cover::all ? tile : tiles.seen_part(group, tile);
    if (keys.count == 0) return;
    if (keys.count < tile.count) cover = tiles.cover(group.first, group.first + rows, keys);
    if (!tiles.sees_any(group, keys, cover)) return;
    T row_sum[most_forward_rows], row_maximum[most_forward_rows], reference[most_forward_rows];
    std::copy_n(block.sums.references(row), rows, reference);
    const WeightTile<T> weights{tiles.measured(group, keys, cover, block.tile.data()), reference,
                                row_sum, row_maximum};
    tiles.similarity().weight[pair_law(plan_.weights)](weights);
    block.sums.settle(weights, row, [&](int r) { weigh_again(weights, group, r, tiles, keys); });
    block.sums.add(weights, row);
    drop_pairs(input_.dropout, plan_.extents.slice(), block.batch * plan_.extents.head + block.head,
               group.first, rows, keys.first, keys.count, block.tile.data(), keys.columns);
    add_values(block, shared.values, keys, values, keys.first - tile.first, row, rows);
    const PositionValues<T>& positions = shared.head.position_values();
    for (int r = 0; positions.exist() && r < rows; ++r) {
      positions.rows().gather(group.first + r, keys.first, keys.count,
                              block.tile.data() + static_cast<std::ptrdiff_t>(r) * keys.columns,
                              block.sums.sums(row + r) + shared.values.stride());
    }
  }

  /// Adds the weighted values of a tile, from its key `skipped` on, to the sums of a group of rows.
  void add_values(Block& block, const PackedValues<S>& all, const KeyTile<T>& keys,
                  TileValues<S>& values, std::int64_t skipped, int row, int rows) {
    T* sums = block.sums.sums(row);
    const std::ptrdiff_t stride = block.sums.stride();
    if (all.is_narrow()) {
      narrow_.sums({rows, keys.columns, all.size(), block.tile.data(), keys.columns,
                    values.operand.data + skipped, all.narrow_stride(), sums, stride});
      return;
    }
    const auto add = [&] {
      RightOperand<T> right = values.operand;
      if (!right.packed && rows <= most_lying_rows) {
        const LyingTokens<T> lying{right.data + skipped * right.stride, right.stride, keys.count,
                                   static_cast<int>(all.stride())};
        for (int r = 0; r < rows; ++r) {
          rows_.add_weighted(block.tile.data() + static_cast<std::ptrdiff_t>(r) * keys.columns,
                             lying, sums + r * stride);
        }
        return;
      }
      right.data += right.packed ? kernels_.packed_size(skipped) : skipped * right.stride;
      kernels_.product(rows, static_cast<int>(all.stride()), keys.count,
                       {block.tile.data(), keys.columns, 1}, right, sums, stride, Store::add);
    };
    if (values.finite) return add();
    // Numbers that are not finite would show in the sums, also with a weight of 0.
    block.before.assign(sums, sums + rows * stride);
    add();
    if (all_finite(sums, rows * stride)) return;
    std::ranges::copy(block.before, sums);
    values.make_finite();
    add();
  }

  /// Measures a row of a tile whose weights are lost again, and computes its weights.
  void weigh_again(const WeightTile<T>& w, const QueryGroup<T>& group, int row, Tiles<S>& tiles,
                   const KeyTile<T>& keys) const {
    const QueryGroup<T> alone = group.row(row);
    const Cover cover = tiles.cover(alone.first, alone.first + 1, keys);
    w.reference[row] = no_reference<T>;
    (void)tiles.sees_any(alone, keys, cover);
    tiles.similarity().weight[pair_law(plan_.weights)](
        {tiles.measured(alone, keys, cover, w.score.tile + row * w.score.stride), w.reference + row,
         w.row_sum + row, w.row_maximum + row, true});
  }
};

}  // namespace

template <class S>
Forward<S> attention_forward(const Plan& plan, const AttentionInput<S>& input,
                             const Execution& run) {
  check_input(plan, input);
  const Execution execution = alone_if_short(plan.extents, 1, run);
  const Mask mask = plan.mask(input);
  if (input.dropout.share == 0 && takes_intervals<S>(plan, mask, Pass::forward)) {
    if (auto result = interval_forward(plan, input, execution)) return std::move(*result);
  }
  if (mask.is_sparse()) return sparse_forward(plan, input, execution);
  if (plan.weights != WeightLaw::softmax_over_queries) {
    return ForwardPass<S>(plan, input, execution).run();
  }
  Tensor4<Compute<S>> columns = column_lse(plan, input, stage(execution, 0, 0.5));
  const Execution rest = stage(execution, 0.5, 1);
  return ForwardPass<S>(plan, input, rest, std::move(columns)).run();
}

#define CONELAB_FORWARD(S) \
  template Forward<S> attention_forward(const Plan&, const AttentionInput<S>&, const Execution&);
CONELAB_EACH_TYPE(CONELAB_FORWARD)

}  // namespace conelab
