// The forward pass: blocks of queries sweep over the tiles of keys with an online softmax
// (values.h).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/subnormals.h"
#include "core/simd/direct.h"
#include "core/tiles/aggregate.h"
#include "core/tiles/attention.h"
#include "core/tiles/column_lse.h"
#include "core/tiles/few_queries.h"
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
/// Queries in a tile for values of few dimensions. The products gain nothing by more, and the tile
/// of pairs stays in the first-level cache.
constexpr int narrow_rows = 12;

/// The values of one head of v.
template <class S>
struct ForwardValues {
  PackedValues<S> packed;
  NonFiniteValues<S> non_finite;  ///< Set once all values are packed.
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
        direct_(direct_kernels<T>(kernels_.name)),
        group_rows_(kernels_.forward_rows),
        mask_(plan.mask(input)),
        key_heads_(plan.placed_key_heads()) {
    if (aggregate_width(plan.aggregate, plan.extents.value) <= most_narrow) {
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
    keys_.resize(static_cast<std::size_t>(e.batch * key_heads_));
    values_.resize(static_cast<std::size_t>(e.batch * e.value_heads()));
    const Execution prepare = quiet(execution_);
    run_tasks(heads, prepare, [&](std::int64_t head, const auto&) { prepare_head(head); });
    const std::int64_t tiles = (e.key + forward_keys<T> - 1) / forward_keys<T>;
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
  const DirectKernels<T>& direct_;
  int group_rows_;  ///< Queries in a tile.
  Mask mask_;
  std::int64_t key_heads_;  ///< Heads of packed keys.
  std::int64_t query_block_ = most_queries, blocks_ = 0;
  std::vector<std::optional<Head<T>>> heads_;            ///< [batch × head]
  std::vector<std::optional<PackedKeys<T>>> keys_;       ///< [batch × heads of packed keys]
  std::vector<std::optional<ForwardValues<S>>> values_;  ///< [batch × heads of v]
  Forward<S> result_;

  /// The queries of a task and their running sums.
  struct Block {
    std::int64_t batch, head, begin;
    int rows;
    Operand<T> queries;
    RowSums<T> sums;
    Buffer<T> tile;  ///< [forward_rows × forward_keys] Measures, then weights.
    Buffer<T> room;  ///< Workspace, see PackedValues::panels.
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
    for (int t = 0; t < shared.keys.tiles() && !stopped(); ++t)
      attend_tile(block, shared, tiles, t);
    for (int r = 0; r < block.rows; ++r) {
      T* sums = block.sums.sums(r);
      shared.head.position_values().add(sums + shared.values.stride(), sums);
      finish_sums(plan_, block.sums, r, index, block.begin + r, shared.head.sink(), result_);
      shared.non_finite_values.add_seen(
          mask_, index, block.begin + r,
          result_.output.row(block.batch, block.head, block.begin + r));
    }
  }

  void attend_tile(Block& block, const ForwardHead<S>& shared, Tiles<S>& tiles, int t) {
    const KeyTile<T> keys = shared.keys.tile(t);
    if (tiles.cover(block.begin, block.begin + block.rows, keys) == Cover::none) return;
    const T* values = shared.values.panels(t, block.room);
    const FlushSubnormals flush;
    for (int r = 0; r < block.rows; r += group_rows_) {
      if (t + 1 < shared.keys.tiles()) fetch_ahead(block, shared, t + 1, r);
      attend_group(block, shared, tiles, keys, values, r, std::min(group_rows_, block.rows - r));
    }
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
            Buffer<T>(static_cast<std::size_t>(group_rows_) * forward_keys<T>),
            {}};
    shared.head.place(input_.query.tokens(b.batch, b.head).part(begin, rows), rows, "q", begin,
                      kernels_.panel, b.queries);
    return b;
  }

  /// `panels` are those of the values of the whole tile.
  void attend_group(Block& block, const ForwardHead<S>& shared, Tiles<S>& tiles,
                    const KeyTile<T>& tile, const T* panels, int row, int rows) {
    const QueryGroup<T> group = query_group(block.queries, block.begin, row, rows);
    Cover cover = tiles.cover(group.first, group.first + rows, tile);
    if (cover == Cover::none) return;
    const KeyTile<T> keys = cover == Cover::all ? tile : tiles.seen_part(group, tile);
    if (keys.count == 0) return;
    if (keys.count < tile.count) cover = tiles.cover(group.first, group.first + rows, keys);
    if (!tiles.sees_any(group, keys, cover)) return;
    const std::int64_t skipped = keys.first - tile.first;
    const T* values =
        panels + (shared.values.is_narrow() ? skipped : kernels_.packed_size(skipped));
    T row_sum[most_forward_rows], row_maximum[most_forward_rows], reference[most_forward_rows];
    std::copy_n(block.sums.references(row), rows, reference);
    const WeightTile<T> weights{tiles.measured(group, keys, cover, block.tile.data()), reference,
                                row_sum, row_maximum};
    tiles.similarity().weight[pair_law(plan_.weights)](weights);
    block.sums.settle(weights, row, [&](int r) { weigh_again(weights, group, r, tiles, keys); });
    block.sums.add(weights, row);
    drop_pairs(input_.dropout, plan_.extents.slice(), block.batch * plan_.extents.head + block.head,
               group.first, rows, keys.first, keys.count, block.tile.data(), keys.columns);
    const auto columns = static_cast<int>(shared.values.stride());
    if (shared.values.is_narrow()) {
      direct_.narrow_sums({rows, keys.columns, shared.values.size(), block.tile.data(),
                           keys.columns, values, shared.values.narrow_stride(),
                           block.sums.sums(row), block.sums.stride()});
    } else {
      kernels_.product(rows, columns, keys.count, {block.tile.data(), keys.columns, 1},
                       {values, kernels_.packed_size(forward_keys<T>), true}, block.sums.sums(row),
                       block.sums.stride(), Store::add);
    }
    const PositionValues<T>& positions = shared.head.position_values();
    for (int r = 0; positions.exist() && r < rows; ++r) {
      positions.rows().gather(group.first + r, keys.first, keys.count,
                              block.tile.data() + static_cast<std::ptrdiff_t>(r) * keys.columns,
                              block.sums.sums(row + r) + columns);
    }
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
                             const Execution& execution) {
  check_input(plan, input);
  const Mask mask = plan.mask(input);
  if (input.dropout.share == 0 && takes_intervals<S>(plan, mask, Pass::forward)) {
    if (auto result = interval_forward(plan, input, execution)) return std::move(*result);
  }
  if (mask.is_sparse()) return sparse_forward(plan, input, execution);
  if (auto few = few_queries_forward(plan, input, execution)) return std::move(*few);
  if (plan.weights != WeightLaw::softmax_over_queries) {
    return ForwardPass<S>(plan, input, execution).run();
  }
  Tensor4<Compute<S>> columns = column_lse(plan, input, stage(execution, 0, 0.5));
  const Execution rest = stage(execution, 0.5, 1);
  return ForwardPass<S>(plan, input, rest, std::move(columns)).run();
}

#define CONELAB_FORWARD(S) \
  template Forward<S> attention_forward(const Plan&, const AttentionInput<S>&, const Execution&);
CONELAB_FORWARD(float)
CONELAB_FORWARD(double)
CONELAB_FORWARD(Float16)
CONELAB_FORWARD(Bfloat16)

}  // namespace conelab
