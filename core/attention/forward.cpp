// Forward pass: blocks of queries walk the tiles of keys with an online softmax.
//
// The reference m of a row is stale on purpose: it begins at 0 where that is near the first tile's
// largest logit, and moves only when a tile's largest logit exceeds it by far, so that sums and
// outputs are almost never rescaled (1-3 % against 3-5 % for moving it with every tile) and no row
// can underflow. The kernels move it, between a row's logits and their exponentials.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <span>
#include <type_traits>
#include <vector>

#include "core/attention/aggregate.h"
#include "core/attention/attention.h"
#include "core/attention/exact.h"
#include "core/attention/keys.h"
#include "core/attention/parallel.h"
#include "core/attention/tile.h"
#include "core/base/subnormals.h"

namespace conelab {
namespace {

/// Queries of a task at most: their output sums stay in the second-level cache.
constexpr std::int64_t most_queries = 384;
/// Tasks that a thread is given at least, so that none waits long for the last: three tasks of a
/// head of 1024 tokens cost two threads a quarter of their time.
constexpr std::int64_t least_tasks = 8;
/// Keys whose values are summed in a register before they join the row's sums: all 512 of a tile
/// would err by half as much again.
constexpr int summed_keys = 128;
constexpr std::size_t cache_line = 64;
/// Values on their way into panels.
constexpr int value_chunk = 32;

/// Bytes of a head's values up to which all of them are packed at once. Beyond, every block of
/// queries packs them again tile by tile, which costs 3 % more time and no memory.
constexpr std::int64_t packed_values_limit = 8 << 20;

/// What the tasks of one head share.
template <class T>
struct ForwardHead {
  Head<T> head;
  PackedKeys<T> keys;
  Buffer<T>
      values;  ///< Of every tile its panels [stride / panel × forward_keys × panel], or empty.
  std::vector<std::vector<std::int64_t>> bad_values;  ///< Of every tile, its keys with values
                                                      ///< that are not finite.
};

template <class S>
class ForwardPass {
  using T = Compute<S>;

 public:
  ForwardPass(const Plan& plan, const AttentionInput<S>& input, const Execution& execution)
      : plan_(plan),
        input_(input),
        execution_(execution),
        kernels_(kernels<S>(execution.simd)),
        group_rows_(kernels_.forward_rows),
        mask_(plan.mask(input)),
        width_(aggregate_width(plan.einstein, plan.extents.value)),
        stride_(round_up(std::max(1, width_), kernels_.panel)) {}

  Forward<S> run() {
    allocate();
    const Extents& e = plan_.extents;
    const std::int64_t heads = e.batch * e.head;
    heads_.resize(static_cast<std::size_t>(heads));
    Execution prepare = execution_;
    prepare.progress = {};
    run_tickets(heads, prepare, [&](std::int64_t h, const auto&) { prepare_head(h); });
    const std::int64_t tiles = (e.key + forward_keys<T> - 1) / forward_keys<T>;
    run_tickets(heads * tiles, prepare, [&](std::int64_t ticket, const auto&) {
      prepare_tile(ticket / tiles, static_cast<int>(ticket % tiles));
    });
    query_block_ = query_block();
    blocks_ = (e.query + query_block_ - 1) / query_block_;
    run_tickets(heads * blocks_, execution_,
                [&](std::int64_t ticket, const auto& stopped) { run_block(ticket, stopped); });
    return std::move(result_);
  }

 private:
  const Plan& plan_;
  const AttentionInput<S>& input_;
  const Execution& execution_;
  const Kernels<T>& kernels_;
  int group_rows_;  ///< Queries of a tile.
  Mask mask_;
  int width_;
  std::ptrdiff_t stride_;
  std::int64_t query_block_ = most_queries, blocks_ = 0;
  std::vector<std::unique_ptr<ForwardHead<T>>> heads_;
  Forward<S> result_;

  /// A weight that may come to decide about its row.
  struct LargeWeight {
    T weight, reference;
    std::int64_t key;
    int before;  ///< The row's one before, or none.
  };
  static constexpr int none = -1;

  /// The running state of a block's rows.
  struct Block {
    std::int64_t batch, head, begin;
    int rows;
    Operand<T> queries;
    Buffer<T> sums;  ///< [rows × stride]
    std::vector<double> row_sum;
    std::vector<T> reference;           ///< -inf until the row has seen a key; 0 of a sigmoid.
    Buffer<T> tile;                     ///< [forward_rows × forward_keys] Measures, then weights.
    Buffer<T> values;                   ///< As a tile of ForwardHead::values, where that is empty.
    std::vector<HeavyWeight<T>> heavy;  ///< Of the group, left out of `tile`.
    std::vector<LargeWeight> large;     ///< Of all rows so far, where weights are sharpened.
    std::vector<int> last_large;        ///< Per row, an index of `large`.
    Buffer<T> value;                    ///< [stride] A single one.
  };

  /// Whole groups of queries. On one thread there is nobody to wait for.
  [[nodiscard]] std::int64_t query_block() const {
    const Extents& e = plan_.extents;
    const std::int64_t threads = thread_count(execution_);
    const std::int64_t share = e.batch * e.head * e.query / (threads * least_tasks) + 1;
    return threads == 1 ? most_queries
                        : std::min(most_queries, round_up<std::int64_t>(share, group_rows_));
  }

  void allocate() {
    const Extents& e = plan_.extents;
    result_.output = Tensor4<S>({e.batch, e.head, e.query, e.value});
    const Shape4 per_row{e.batch, e.head, e.query, 1};
    result_.lse = Tensor4<T>(per_row);
    result_.row_reference = Tensor4<T>(per_row);
    result_.row_sum = Tensor4<T>(per_row);
    if (plan_.einstein) result_.midpoint_sum = Tensor4<T>(per_row);
  }

  void prepare_head(std::int64_t index) {
    const Extents& e = plan_.extents;
    Head<T> head(plan_, kernels_, index % e.head,
                 input_.key.row(index / e.head, index % e.head, 0));
    PackedKeys<T> keys(plan_, kernels_, head, e.key);
    const auto tiles = static_cast<std::size_t>(keys.tiles());
    Buffer<T> values;
    if (e.key * stride_ * static_cast<std::int64_t>(sizeof(T)) <= packed_values_limit) {
      values.resize(tiles * tile_values());
    }
    heads_[static_cast<std::size_t>(index)] = std::make_unique<ForwardHead<T>>(
        ForwardHead<T>{std::move(head), std::move(keys), std::move(values), {}});
    heads_[static_cast<std::size_t>(index)]->bad_values.resize(tiles);
  }

  void prepare_tile(std::int64_t index, int t) {
    const std::int64_t b = index / plan_.extents.head, h = index % plan_.extents.head;
    ForwardHead<T>& shared = *heads_[static_cast<std::size_t>(index)];
    shared.keys.pack(plan_, kernels_, shared.head, input_.key.row(b, h, 0), t);
    const auto at = static_cast<std::size_t>(t);
    Buffer<T> unused;
    if (shared.values.empty()) unused.resize(tile_values());
    T* panels = shared.values.empty() ? unused.data() : shared.values.data() + at * tile_values();
    load_values(b, h, shared.keys.tile(t), panels, shared.bad_values[at]);
  }

  /// Numbers of a tile's value panels.
  [[nodiscard]] std::size_t tile_values() const {
    return static_cast<std::size_t>(forward_keys<T> * stride_);
  }

  /// The values of a tile of keys as panels; keys whose values are not finite are added to `bad`.
  void load_values(std::int64_t b, std::int64_t h, const KeyTile<T>& keys, T* panels,
                   std::vector<std::int64_t>& bad) const {
    const std::int64_t size = plan_.extents.value;
    const std::ptrdiff_t panel_stride = forward_keys<T> * kernels_.panel;
    Buffer<T> lifted;
    for (int begin = 0; begin < keys.count; begin += value_chunk) {
      const int count = std::min(value_chunk, keys.count - begin);
      const std::int64_t first = keys.first + begin;
      const S* rows = input_.value.row(b, h, first);
      T* out = panels + begin * kernels_.panel;
      if constexpr (std::is_same_v<S, T>) {
        const bool as_is = !plan_.einstein && size == stride_;
        if (as_is && all_finite(kernels_, rows, count * size)) {
          split_panels(rows, stride_, count, kernels_.panel, out, panel_stride);
          continue;
        }
      }
      lifted.resize(static_cast<std::size_t>(value_chunk * stride_));
      lift_values(plan_.einstein, rows, size, first, count, stride_, lifted.data(), bad);
      split_panels(lifted.data(), stride_, count, kernels_.panel, out, panel_stride);
    }
  }

  /// Tile t's value panels.
  const T* values_of(Block& block, const ForwardHead<T>& shared, int t) const {
    if (!shared.values.empty()) {
      return shared.values.data() + static_cast<std::size_t>(t) * tile_values();
    }
    std::vector<std::int64_t> known;
    load_values(block.batch, block.head, shared.keys.tile(t), block.values.data(), known);
    return block.values.data();
  }

  void run_block(std::int64_t ticket, const std::function<bool()>& stopped) {
    const std::int64_t index = ticket / blocks_;
    const ForwardHead<T>& shared = *heads_[static_cast<std::size_t>(index)];
    Block block = start(index, (ticket % blocks_) * query_block_, shared.head);
    ExactPairs<T> exact(plan_, kernels_, shared.head,
                        given_tokens(shared.head, input_.query, block.batch, block.head),
                        given_tokens(shared.head, input_.key, block.batch, block.head));
    const Tiles<T> tiles(plan_, kernels_, shared.head, mask_, block.batch, exact);
    for (int t = 0; t < shared.keys.tiles() && !stopped(); ++t)
      attend_tile(block, shared, tiles, t);
    for (int r = 0; r < block.rows; ++r) {
      if (sharpens_weights<T>(plan_)) sharpen_weights(block, tiles, r);
      finish(block, r);
      for (const auto& tile : shared.bad_values) {
        for (const std::int64_t key : tile) spoil(block, block.begin + r, key);
      }
    }
  }

  void attend_tile(Block& block, const ForwardHead<T>& shared, const Tiles<T>& tiles, int t) {
    const KeyTile<T> keys = shared.keys.tile(t);
    if (tiles.cover(block.begin, block.begin + block.rows, keys) == Cover::none) return;
    const T* values = values_of(block, shared, t);
    const FlushSubnormals flush;
    for (int r = 0; r < block.rows; r += group_rows_) {
      if (t + 1 < shared.keys.tiles()) fetch_ahead(block, shared, t + 1, r);
      attend_group(block, tiles, keys, values, r, std::min(group_rows_, block.rows - r));
    }
  }

  /// Asks for the part of the next tile that falls to the group at `row`: what comes from the third
  /// level would otherwise stop the first group of a tile (2 % of a head of 4096 tokens).
  void fetch_ahead(const Block& block, const ForwardHead<T>& shared, int t, int row) const {
    const auto fetch = [&](const void* from, std::size_t bytes) {
      const auto* begin = static_cast<const char*>(from);
      const std::size_t groups =
          (static_cast<std::size_t>(block.rows) + group_rows_ - 1) / group_rows_;
      const std::size_t part = round_up<std::size_t>(bytes / groups + 1, cache_line);
      const std::size_t first = part * static_cast<std::size_t>(row / group_rows_);
      for (std::size_t at = first; at < std::min(first + part, bytes); at += cache_line) {
        __builtin_prefetch(begin + at, 0, 2);
      }
    };
    const KeyTile<T> next = shared.keys.tile(t);
    const auto count = static_cast<std::size_t>(next.count);
    fetch(next.panels, count * static_cast<std::size_t>(plan_.extents.feature) * sizeof(T));
    if (shared.values.empty()) {
      fetch(input_.value.row(block.batch, block.head, next.first),
            count * static_cast<std::size_t>(plan_.extents.value) * sizeof(S));
    } else {
      fetch(shared.values.data() + static_cast<std::size_t>(t) * tile_values(),
            tile_values() * sizeof(T));
    }
  }

  Block start(std::int64_t index, std::int64_t begin, const Head<T>& head) {
    const Extents& e = plan_.extents;
    Block b;
    b.batch = index / e.head;
    b.head = index % e.head;
    b.begin = begin;
    b.rows = static_cast<int>(std::min(query_block_, e.query - begin));
    head.place(input_.query.row(b.batch, b.head, begin), b.rows, b.rows, "q", begin, kernels_.panel,
               b.queries);
    const auto rows = static_cast<std::size_t>(b.rows);
    b.sums.assign(rows * static_cast<std::size_t>(stride_), T(0));
    b.row_sum.assign(rows, 0.0);
    b.reference.assign(rows, plan_.sigmoid ? T(0) : -std::numeric_limits<T>::infinity());
    b.last_large.assign(rows, none);
    b.value.resize(static_cast<std::size_t>(stride_));
    b.tile.resize(static_cast<std::size_t>(group_rows_) * forward_keys<T>);
    if (heads_[static_cast<std::size_t>(index)]->values.empty()) b.values.resize(tile_values());
    return b;
  }

  /// `panels` are those of the whole tile's values.
  void attend_group(Block& block, const Tiles<T>& tiles, const KeyTile<T>& tile, const T* panels,
                    int row, int rows) {
    const QueryGroup<T> group = query_group(block.queries, block.begin, row, rows);
    Cover cover = tiles.cover(group.first, group.first + rows, tile);
    if (cover == Cover::none) return;
    const KeyTile<T> keys = cover == Cover::all ? tile : tiles.seen_part(group, tile);
    if (keys.count == 0) return;
    if (keys.count < tile.count) cover = tiles.cover(group.first, group.first + rows, keys);
    const T* values = panels + (keys.first - tile.first) * kernels_.panel;
    T row_sum[most_forward_rows], row_maximum[most_forward_rows], reference[most_forward_rows];
    std::copy_n(block.reference.data() + row, rows, reference);
    const WeightTile<T> weights{tiles.measured(group, keys, cover, block.tile.data()), reference,
                                row_sum, row_maximum};
    const auto weigh = plan_.sigmoid ? tiles.tail().sigmoid_weight : tiles.tail().softmax_weight;
    weigh(weights);
    if (!plan_.sigmoid && any_moved(block, weights, row)) {
      for (int r = 0; r < rows; ++r) {
        if (is_lost(weights, r)) weigh_again(weights, group, r, tiles, keys);
        if (reference[r] != block.reference[row + r]) move_reference(block, row + r, reference[r]);
      }
    }
    for (int r = 0; r < rows; ++r) {
      block.row_sum[static_cast<std::size_t>(row + r)] += static_cast<double>(row_sum[r]);
    }
    set_heavy_apart(block, weights, row);
    for (int first = 0; first < keys.count; first += summed_keys) {
      kernels_.product(rows, static_cast<int>(stride_), std::min(summed_keys, keys.count - first),
                       {block.tile.data() + first, keys.columns, 1},
                       {values + static_cast<std::ptrdiff_t>(first) * kernels_.panel,
                        forward_keys<T> * kernels_.panel, kernels_.panel},
                       block.sums.data() + row * stride_, stride_, Store::add);
    }
    for (const HeavyWeight<T>& h : block.heavy) {
      add_heavy(h, values, block.sums.data() + (row + h.row) * stride_);
      const double sum = block.row_sum[static_cast<std::size_t>(row + h.row)];
      if (!sharpens_weights<T>(plan_) || h.weight < least_share * sum) continue;
      int& last = block.last_large[static_cast<std::size_t>(row + h.row)];
      block.large.push_back({h.weight, reference[h.row], keys.first + h.column, last});
      last = static_cast<int>(block.large.size()) - 1;
    }
  }

  /// Whether a row's weights are garbage, see WeightTile.
  static bool is_lost(const WeightTile<T>& w, int row) {
    return w.row_maximum[row] > w.reference[row] + T(stale_limit);
  }

  static bool any_moved(const Block& block, const WeightTile<T>& w, int row) {
    const T* before = block.reference.data() + row;
    int any = 0;  // No early exit: the loop is one of vectors.
    for (int r = 0; r < w.score.rows; ++r) {
      any |= static_cast<int>(w.reference[r] != before[r]) | static_cast<int>(is_lost(w, r));
    }
    return any != 0;
  }

  /// A row of a tile whose weights are lost, from its measures.
  void weigh_again(const WeightTile<T>& w, const QueryGroup<T>& group, int row,
                   const Tiles<T>& tiles, const KeyTile<T>& keys) const {
    QueryGroup<T> alone = group;
    alone.base += row * group.stride;
    alone.values += row;
    alone.norms += row;
    alone.first += row;
    alone.bad_offset += row;
    alone.rows = 1;
    const Cover cover = tiles.cover(alone.first, alone.first + 1, keys);
    w.reference[row] = -std::numeric_limits<T>::infinity();
    tiles.tail().softmax_weight(
        {tiles.measured(alone, keys, cover, w.score.tile + row * w.score.stride), w.reference + row,
         w.row_sum + row, w.row_maximum + row});
  }

  /// Takes weights that are large beside the row's sum out of the tile. Small terms added to a
  /// large one in a register round at the large one's magnitude, each of them: a row that one key
  /// dominates would err five times as much.
  void set_heavy_apart(Block& block, const WeightTile<T>& w, int row) const {
    block.heavy.clear();
    for (int r = 0; r < w.score.rows; ++r) {
      double& sum = block.row_sum[static_cast<std::size_t>(row + r)];
      // The largest weight against a quarter of the sum, by powers of two: an eighth at times.
      const T above = w.row_maximum[r] - w.reference[r];
      if (!(above * T(1 / std::numbers::ln2) >= static_cast<T>(exponent_of(sum) - 2))) continue;
      if (!is_fine(static_cast<double>(w.reference[r]))) continue;
      HeavyWeight<T> heavy[most_heavy];
      T rest;
      const int count = kernels_.take_heavy(w.score.tile + r * w.score.stride, w.score.columns,
                                            static_cast<T>(sum / most_heavy), heavy, &rest);
      sum += static_cast<double>(rest) - static_cast<double>(w.row_sum[r]);
      for (HeavyWeight<T>& h : std::span(heavy, static_cast<std::size_t>(count))) {
        h.row = r;
        sum += static_cast<double>(h.weight);
        block.heavy.push_back(h);
      }
    }
  }

  /// floor(log2 x) of a normal number.
  static int exponent_of(double x) {
    return static_cast<int>(__builtin_bit_cast(std::uint64_t, x) >> 52U & 0x7ffU) - 1023;
  }

  /// Adds weight * value to the sums of a row.
  void add_heavy(const HeavyWeight<T>& h, const T* values, T* sums) const {
    const int panel = kernels_.panel;
    for (std::ptrdiff_t first = 0; first < stride_; first += panel) {
      const T* value =
          values + first * forward_keys<T> + static_cast<std::ptrdiff_t>(h.column) * panel;
      for (int c = 0; c < panel; ++c) sums[first + c] += h.weight * value[c];
    }
  }

  void sharpen_weights(Block& block, const Tiles<T>& tiles, int row) const {
    const auto r = static_cast<std::size_t>(row);
    const double sum = block.row_sum[r];
    const auto reference = static_cast<double>(block.reference[r]);
    for (int at = block.last_large[r]; at != none;) {
      const LargeWeight& large = block.large[static_cast<std::size_t>(at)];
      at = large.before;
      const double fallen = static_cast<double>(large.reference) - reference;
      const double weight =
          static_cast<double>(large.weight) * (fallen == 0 ? 1 : std::exp(fallen));
      if (!is_decisive(weight / sum, reference)) continue;
      const double exact = std::exp(tiles.exact().logit(block.begin + row, large.key) - reference);
      const double excess = sharpened(weight, exact) - weight;
      block.row_sum[r] += excess;
      std::vector<std::int64_t> known;
      lift_values(plan_.einstein, input_.value.row(block.batch, block.head, large.key),
                  plan_.extents.value, large.key, 1, stride_, block.value.data(), known);
      T* sums = block.sums.data() + row * stride_;
      for (std::ptrdiff_t c = 0; c < stride_; ++c) {
        sums[c] += static_cast<T>(excess) * block.value[static_cast<std::size_t>(c)];
      }
    }
  }

  /// Refers what the row has gathered to another reference.
  void move_reference(Block& block, int row, T reference) const {
    T& m = block.reference[static_cast<std::size_t>(row)];
    const T scale = std::exp(m - reference);  // 0 where the row has gathered nothing.
    m = reference;
    block.row_sum[static_cast<std::size_t>(row)] *= static_cast<double>(scale);
    T* sums = block.sums.data() + row * stride_;
    for (std::ptrdiff_t c = 0; c < stride_; ++c) sums[c] *= scale;
  }

  /// A visible value that is not finite shows in the output as it would in the plain sum.
  void spoil(const Block& block, std::int64_t query, std::int64_t key) {
    if (!mask_.admits(block.batch, query, key)) return;
    const S* values = input_.value.row(block.batch, block.head, key);
    S* output = result_.output.row(block.batch, block.head, query);
    for (std::int64_t c = 0; c < plan_.extents.value; ++c) {
      const T value = plan_.einstein ? std::numeric_limits<T>::quiet_NaN() : T(values[c]);
      if (!std::isfinite(value)) output[c] = static_cast<S>(output[c] + value);
    }
  }

  void finish(const Block& block, int row) {
    const double sum = block.row_sum[static_cast<std::size_t>(row)];
    const bool empty = plan_.sigmoid || sum == 0;
    const T m = empty ? T(0) : block.reference[static_cast<std::size_t>(row)];
    const T* sums = block.sums.data() + row * stride_;
    const std::int64_t i = block.begin + row;
    const T scale = plan_.sigmoid ? T(1) : sum == 0 ? T(0) : static_cast<T>(1 / sum);
    finish_row(plan_.einstein, sums, plan_.extents.value, scale,
               result_.output.row(block.batch, block.head, i));
    *result_.row_reference.row(block.batch, block.head, i) = m;
    *result_.row_sum.row(block.batch, block.head, i) = static_cast<T>(sum);
    *result_.lse.row(block.batch, block.head, i) =
        sum == 0 ? -std::numeric_limits<T>::infinity() : static_cast<T>(m + std::log(sum));
    if (plan_.einstein) {
      *result_.midpoint_sum.row(block.batch, block.head, i) = sums[plan_.extents.value] * scale;
    }
  }
};

}  // namespace

template <class S>
Forward<S> forward(const Plan& plan, const AttentionInput<S>& input, const Execution& execution) {
  check_input(plan, input);
  return ForwardPass<S>(plan, input, execution).run();
}
template Forward<float> forward(const Plan&, const AttentionInput<float>&, const Execution&);
template Forward<double> forward(const Plan&, const AttentionInput<double>&, const Execution&);
template Forward<Float16> forward(const Plan&, const AttentionInput<Float16>&, const Execution&);
template Forward<Bfloat16> forward(const Plan&, const AttentionInput<Bfloat16>&, const Execution&);

}  // namespace conelab
