// The backward pass, in one sweep with five products. With S = Q K^T, dP = dO V^T, the weights P
// and W = dL/d(measure):
//
//   dV += P^T dO,   dK += W^T Q,   dQ += W K
//
// A task is a tile of keys and owns its dK and dV. The tasks add to the dQ of a block of
// queries in the order of their tiles. The result is thus the same for any number of threads,
// without an array for each thread and without a second sweep, which would take seven products. For
// squared distances dL/dq_i = 2 sum_j w_ij (q_i - k_j) = 2 (q_i sum_j w_ij - (W K)_i).
// Measure::tanh_sum has its own kernel instead of the last two products. Under the softmax over
// queries dL/dlogit_ij = w_ij (dL/dw_ij - v_j.dV_j), so that a task first sweeps over the queries
// for dV.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/subnormals.h"
#include "core/simd/row_reference.h"
#include "core/tiles/aggregate.h"
#include "core/tiles/attention.h"
#include "core/tiles/backward_tile.h"
#include "core/tiles/interval_attention.h"
#include "core/tiles/row_weights.h"
#include "core/tiles/shared_rows.h"
#include "core/tiles/sparse.h"
#include "core/tiles/tile.h"
#include "core/tiles/tile_size.h"
#include "core/tiles/upstream.h"

namespace conelab {
namespace {

/// Up to this size in bytes, a head keeps its placed queries (and the sums of their gradients,
/// unless they can be in the result). Beyond it, every tile of keys places each block of queries
/// again, which takes 2 % more time but no memory.
constexpr std::int64_t kept_queries_limit = 8 << 20;

template <class S>
class BackwardPass {
  using T = Compute<S>;

 public:
  BackwardPass(const Plan& plan, const AttentionInput<S>& input, const Forward<S>& saved,
               const Execution& execution)
      : plan_(plan),
        input_(input),
        saved_(saved),
        execution_(execution),
        kernels_(kernels<S>(execution.simd, plan.extents.query)),
        block_rows_(kernels_.backward_rows),
        mask_(plan.mask(input)),
        distance_(plan.similarity->info.measure == Measure::squared_distance),
        tanh_sum_(plan.similarity->info.measure == Measure::tanh_sum),
        over_queries_(plan.weights == WeightLaw::softmax_over_queries),
        heads_(plan.extents.batch * plan.extents.head),
        tiles_((plan.extents.key + backward_keys<T> - 1) / backward_keys<T>),
        blocks_((plan.extents.query + block_rows_ - 1) / block_rows_),
        upstream_(plan, input, saved),
        shared_(static_cast<std::size_t>(heads_)),
        key_grad_(input.key.shape, plan.extents.head, backward_keys<T>),
        value_grad_(input.value.shape, plan.extents.head, backward_keys<T>) {
    if (Array<double>* into = pair_gradient_of(plan, input, result_)) {
      pair_grad_.emplace(plan, tiles_, blocks_, *into);
    }
  }

  Backward<S> run() {
    result_.query = Tensor4<S>(input_.query.shape);
    sums_.resize(static_cast<std::size_t>(heads_ * (tiles_ + 1)), ParameterSums(plan_));
    const std::int64_t tasks = std::max<std::int64_t>(1, tiles_);
    run_tasks(heads_ * tasks, execution_, [&](std::int64_t task, const auto& stopped) {
      run_task(task / tasks, static_cast<int>(task % tasks), stopped);
    });
    result_.key = key_grad_.take();
    result_.value = value_grad_.take();
    add_parameter_gradients(plan_, sums_, result_);
    return std::move(result_);
  }

 private:
  const Plan& plan_;
  const AttentionInput<S>& input_;
  const Forward<S>& saved_;
  const Execution& execution_;
  const Kernels<T>& kernels_;
  int block_rows_;  ///< Queries in a block.
  Mask mask_;
  bool distance_, tanh_sum_, over_queries_;
  std::int64_t heads_, tiles_, blocks_;
  Upstream<S> upstream_;
  /// A head whose first task has begun and whose last has not ended.
  struct SharedHead {
    std::once_flag prepared;
    std::unique_ptr<BackwardHead<T>> data;
    std::atomic<std::int64_t> finished{0};  ///< Tiles.
  };
  std::vector<SharedHead> shared_;
  SharedRows<S> key_grad_, value_grad_;
  std::vector<ParameterSums> sums_;
  Backward<S> result_;
  std::optional<PairGradient> pair_grad_;  ///< Of a bias of pairs, if it is wanted.

  [[nodiscard]] std::int64_t batch_of(std::int64_t index) const {
    return index / plan_.extents.head;
  }
  [[nodiscard]] std::int64_t head_of(std::int64_t index) const {
    return index % plan_.extents.head;
  }
  [[nodiscard]] TokenRows<const S> queries_of(std::int64_t index) const {
    return input_.query.tokens(batch_of(index), head_of(index));
  }
  [[nodiscard]] TokenRows<const S> keys_of(std::int64_t index) const {
    return input_.key.tokens(batch_of(index), head_of(index), plan_.extents.head);
  }
  [[nodiscard]] TokenRows<const S> values_of(std::int64_t index) const {
    return input_.value.tokens(batch_of(index), head_of(index), plan_.extents.head);
  }

  /// Processes tile `t` of a head. The first task of a head prepares it, the last one finishes
  /// it, so that the data of few heads exist at a time and those of a short one stay in the cache.
  void run_task(std::int64_t index, int t, const std::function<bool()>& stopped) {
    SharedHead& head = shared_[static_cast<std::size_t>(index)];
    std::call_once(head.prepared, [&] { head.data = prepared_head(index); });
    if (tiles_ > 0) run_tile(index, t, *head.data, stopped);
    if (stopped() || head.finished.fetch_add(1) + 1 < tiles_) return;
    finish_queries(index, *head.data);
    head.data.reset();
  }

  std::unique_ptr<BackwardHead<T>> prepared_head(std::int64_t index) {
    const Extents& e = plan_.extents;
    const std::int64_t b = batch_of(index);
    const std::int64_t h = head_of(index);
    const auto n = static_cast<std::size_t>(e.query);
    auto head = std::make_unique<BackwardHead<T>>(Head<T>(plan_, kernels_, input_, index), blocks_);
    if (head->head.bias().has_gradient()) head->by_offset.assign(head->head.bias().sums(), 0.0);
    if (head->head.position_values().exist()) find_position_slopes(b, h, *head);
    const std::ptrdiff_t stride = operand_stride(head->head.base_size(), kernels_.panel);
    head->query_grad = result_rows(result_.query, b, h, stride);
    const bool own_sums = head->query_grad == nullptr;
    if (own_sums) {
      head->own_query_grad.assign(n * static_cast<std::size_t>(stride), T(0));
      head->query_grad = head->own_query_grad.data();
    }
    const std::int64_t bytes = e.query * stride * static_cast<std::int64_t>(sizeof(T));
    head->keeps_queries = bytes * (own_sums ? 2 : 1) <= kept_queries_limit;
    const std::int64_t kept = head->keeps_queries ? e.query : 0;
    head->head.place(input_.query.tokens(b, h).part(0, kept), kept, "q", 0, kernels_.panel,
                     head->queries);
    head->query_slope.assign(n, T(0));
    head->query_margin.assign(n, T(0));
    for (std::int64_t i = 0; i < e.query; ++i) {
      head->delta.push_back(upstream_.delta(b, h, i));
      head->reference.push_back(*saved_.row_reference.row(b, h, i));
      head->scale.push_back(upstream_.scale(b, h, i));
    }
    return head;
  }

  void find_position_slopes(std::int64_t b, std::int64_t h, BackwardHead<T>& head) const {
    const PositionValues<T>& positions = head.head.position_values();
    head.position_slopes.resize(static_cast<std::size_t>(plan_.extents.query * positions.count()));
    head.position_weights.assign(head.position_slopes.size(), 0.0);
    std::vector<T> room(static_cast<std::size_t>(plan_.extents.value));
    for (std::int64_t i = 0; i < plan_.extents.query; ++i) {
      const T* upstream = upstream_.extended(b, h, i, 1, plan_.extents.value, room.data());
      positions.slopes(kernels_, upstream, head.position_slopes.data() + i * positions.count());
    }
  }

  /// Returns the head's rows of a result if they can hold sums with this stride, otherwise null.
  static T* result_rows(Tensor4<S>& result, std::int64_t b, std::int64_t h, std::ptrdiff_t stride) {
    if constexpr (std::is_same_v<S, T>) {
      if (stride == result.shape.feature) return result.row(b, h, 0);
    }
    return nullptr;
  }

  void run_tile(std::int64_t index, int t, BackwardHead<T>& shared,
                const std::function<bool()>& stopped) {
    const std::int64_t first = static_cast<std::int64_t>(t) * backward_keys<T>;
    const auto count =
        static_cast<int>(std::min<std::int64_t>(backward_keys<T>, plan_.extents.key - first));
    KeyWork<T> work(plan_, kernels_, shared.head, keys_of(index), values_of(index), first, count,
                    block_rows_);
    Tiles<S> tiles(plan_, kernels_, shared.head, mask_, input_.key, index, saved_.column_lse);
    if (over_queries_) find_column_deltas(index, shared, work, tiles, stopped);
    for (std::int64_t block = 0; block < blocks_; ++block) {
      work.look_at(work.operands.tile());
      Cover cover = cover_of(tiles, work, block);
      QueryGroup<T> group{};
      bool seen = false;
      if (cover != Cover::none) {
        group = group_of(index, shared, work.queries, block);
        if (cover == Cover::partial) {
          work.look_at(tiles.seen_part(group, work.keys()));
          cover = cover_of(tiles, work, block);
        }
        seen = work.keys().count > 0 && cover != Cover::none &&
               tiles.sees_any(group, work.keys(), cover);
        if (seen) run_pair_tile(index, shared, work, tiles, group, cover);
      }
      if (!wait_for_turn(shared, block, t, stopped)) return;
      if (seen) add_query_grad(shared, work, tiles.close_pairs(), group);
      if (block + 1 == blocks_) add_bias_gradient(shared, work);
      const PairGradient::Unit unit{batch_of(index), head_of(index), t, block};
      if (pair_grad_ && !add_pair_gradient(unit, seen, work, group, stopped)) return;
      shared.turn[static_cast<std::size_t>(block)].store(t + 1, std::memory_order_release);
    }
    work.look_at(work.operands.tile());
    finish_keys(index, t, shared, work);
  }

  [[nodiscard]] int rows_of(std::int64_t block) const {
    return static_cast<int>(
        std::min<std::int64_t>(block_rows_, plan_.extents.query - block * block_rows_));
  }

  [[nodiscard]] Cover cover_of(Tiles<S>& tiles, const KeyWork<T>& w, std::int64_t block) const {
    const std::int64_t first = block * block_rows_;
    return tiles.cover(first, first + rows_of(block), w.keys());
  }

  /// Returns the queries of a block. They are placed into `own` if the head does not keep them.
  QueryGroup<T> group_of(std::int64_t index, const BackwardHead<T>& shared, Operand<T>& own,
                         std::int64_t block) const {
    const std::int64_t first = block * block_rows_;
    const int rows = rows_of(block);
    if (shared.keeps_queries) return query_group(shared.queries, 0, first, rows);
    shared.head.place(queries_of(index).part(first, rows), rows, "q", first, kernels_.panel, own);
    return query_group(own, first, 0, rows);
  }

  /// Computes P and W of one tile of pairs, and adds to dV and dK.
  void run_pair_tile(std::int64_t index, BackwardHead<T>& shared, KeyWork<T>& w, Tiles<S>& tiles,
                     const QueryGroup<T>& group, Cover cover) {
    const FlushSubnormals flush;
    const int columns = w.keys().columns;
    const ScoreTile<T> score = tiles.measured(group, w.keys(), cover, w.tile.data(), true);
    const std::ptrdiff_t stride = w.operands.value_stride();
    const T* upstream = upstream_.extended(batch_of(index), head_of(index), group.first, group.rows,
                                           stride, w.upstream.data());
    kernels_.product(group.rows, columns, w.operands.width(), {upstream, stride, 1},
                     w.operands.values(w.first()), w.slope.data(), columns, Store::replace);
    mark_columns(w.operands.non_finite_values(), w.keys().first, w.keys().count, group.rows,
                 w.slope.data(), columns);
    if (shared.head.position_values().exist()) add_position_slopes(shared, w, group);
    drop(index, w, group, w.slope.data());
    if (over_queries_) subtract_column_deltas(index, w, group);
    apply_tail(shared, w, tiles, group, score);
    drop(index, w, group, w.tile.data());
    take_close_pairs(tiles.close_pairs(), group, w);
    if (!over_queries_) add_value_grad(w, upstream, group.rows);
    if (distance_) take_margins(group, w);
    if (tanh_sum_) {
      w.query_grad.assign(static_cast<std::size_t>(group.rows * group.stride), T(0));
      kernels_.tanh_sum_slopes(group.rows, w.keys().count, shared.head.base_size() / 2, group.base,
                               group.stride, w.base(), group.stride, w.slope.data(), columns,
                               w.query_grad.data(), w.key_grads());
      return;
    }
    kernels_.product(w.keys().count, static_cast<int>(w.operands.base_stride()), group.rows,
                     {w.slope.data(), 1, columns}, {group.base, group.stride, false}, w.key_grads(),
                     w.operands.base_stride(), Store::add);
  }

  /// Applies dropout to a tile [rows x columns] of weights or of dL/d(weight).
  void drop(std::int64_t index, const KeyWork<T>& w, const QueryGroup<T>& group, T* tile) const {
    drop_pairs(input_.dropout, plan_.extents.slice(), index, group.first, group.rows,
               w.keys().first, w.keys().count, tile, w.keys().columns);
  }

  static void add_position_slopes(const BackwardHead<T>& shared, KeyWork<T>& w,
                                  const QueryGroup<T>& group) {
    const PositionValues<T>& positions = shared.head.position_values();
    std::vector<T> added(static_cast<std::size_t>(w.keys().count));
    for (int r = 0; r < group.rows; ++r) {
      const std::int64_t i = group.first + r;
      positions.rows().spread(i, w.keys().first, w.keys().count,
                              shared.position_slopes.data() + i * positions.count(), added.data());
      T* row = w.slope.data() + r * w.keys().columns;
      std::transform(added.begin(), added.end(), row, row, std::plus<T>());
    }
  }

  static void add_position_weights(BackwardHead<T>& shared, const KeyWork<T>& w,
                                   const QueryGroup<T>& group) {
    const PositionValues<T>& positions = shared.head.position_values();
    for (int r = 0; r < group.rows; ++r) {
      const std::int64_t i = group.first + r;
      positions.rows().gather(i, w.keys().first, w.keys().count,
                              w.tile.data() + r * w.keys().columns,
                              shared.position_weights.data() + i * positions.count());
    }
  }

  /// Computes dV += P^T dO.
  void add_value_grad(KeyWork<T>& w, const T* upstream, int rows) const {
    const auto stride = static_cast<int>(w.operands.value_stride());
    kernels_.product(w.keys().count, stride, rows, {w.tile.data(), 1, w.keys().columns},
                     {upstream, stride, false}, w.value_grads(), stride, Store::add);
  }

  /// Computes dV of the softmax over queries, and from it v_j.dV_j = sum_i w_ij dL/dw_ij.
  void find_column_deltas(std::int64_t index, const BackwardHead<T>& shared, KeyWork<T>& w,
                          Tiles<S>& tiles, const std::function<bool()>& stopped) const {
    for (std::int64_t block = 0; block < blocks_ && !stopped(); ++block) {
      const Cover cover = cover_of(tiles, w, block);
      if (cover == Cover::none) continue;
      const QueryGroup<T> group = group_of(index, shared, w.queries, block);
      if (!tiles.sees_any(group, w.keys(), cover)) continue;
      const FlushSubnormals flush;
      weigh(shared, w, tiles, group, cover);
      drop(index, w, group, w.tile.data());
      const T* upstream =
          upstream_.extended(batch_of(index), head_of(index), group.first, group.rows,
                             w.operands.value_stride(), w.upstream.data());
      add_value_grad(w, upstream, group.rows);
    }
    const std::ptrdiff_t stride = w.operands.value_stride();
    Buffer<T> values(w.value_grad.size(), T(0));
    std::vector<std::int64_t> non_finite;  // The slopes of their pairs are NaN.
    extend_values(plan_, index, values_of(index).part(w.keys().first, w.keys().count), 0, stride,
                  values.data(), non_finite);
    w.column_delta.assign(static_cast<std::size_t>(w.keys().columns), T(0));
    for (int c = 0; c < w.keys().count; ++c) {
      w.column_delta[static_cast<std::size_t>(c)] = static_cast<T>(kernels_.exact_product(
          values.data() + c * stride, w.value_grad.data() + c * stride, w.operands.width()));
    }
  }

  /// Computes the weights of a tile, with the scale of the backward pass.
  void weigh(const BackwardHead<T>& shared, KeyWork<T>& w, Tiles<S>& tiles,
             const QueryGroup<T>& group, Cover cover) const {
    const int columns = w.keys().columns;
    std::vector<T> reference(w.row_slope.size(), no_reference<T>), unused(reference.size());
    tiles.similarity().weight[referred_exponential](
        {tiles.measured(group, w.keys(), cover, w.tile.data()), reference.data(),
         w.row_margin.data(), unused.data(), true});
    for (int r = 0; r < group.rows; ++r) {
      const T own = reference[static_cast<std::size_t>(r)];
      const auto i = static_cast<std::size_t>(group.first + r);
      const T factor =
          own == no_reference<T> ? T(0) : std::exp(own - shared.reference[i]) * shared.scale[i];
      T* row = w.tile.data() + r * columns;
      for (int c = 0; factor != 1 && c < columns; ++c) row[c] *= factor;
    }
  }

  /// Subtracts v_j.dV_j, with the scale of the backward pass, from dL/d(weight) of a tile.
  void subtract_column_deltas(std::int64_t index, KeyWork<T>& w, const QueryGroup<T>& group) const {
    const T* delta = w.column_delta.data() + w.first();
    for (int r = 0; r < group.rows; ++r) {
      const T unit = upstream_.unit(batch_of(index), head_of(index), group.first + r);
      T* row = w.slope.data() + r * w.keys().columns;
      for (int c = 0; c < w.keys().columns; ++c) row[c] -= unit * delta[c];
    }
  }

  /// Removes the close pairs from W and adds their part to dK, computed from differences.
  static void take_close_pairs(std::vector<ClosePair<T>>& pairs, const QueryGroup<T>& group,
                               KeyWork<T>& w) {
    for (ClosePair<T>& pair : pairs) {
      const auto at = static_cast<std::size_t>(pair.row * w.keys().columns + pair.column);
      pair.slope = std::exchange(w.slope[at], T(0));
      add_difference(group, pair, w, pair.slope,
                     w.key_grads() + pair.column * w.operands.base_stride());
    }
  }

  /// Adds (q - k) times `factor` to out [base_size].
  static void add_difference(const QueryGroup<T>& group, const ClosePair<T>& pair,
                             const KeyWork<T>& w, T factor, T* out) {
    if (factor == 0) return;
    const T* q = group.base + pair.row * group.stride;
    const T* k = w.base() + pair.column * group.stride;
    for (std::ptrdiff_t i = 0; i < group.stride; ++i) out[i] += factor * (q[i] - k[i]);
  }

  /// Computes the weights and dL/d(measure) of a tile, given measures and dL/d(weight).
  void apply_tail(BackwardHead<T>& shared, KeyWork<T>& w, Tiles<S>& tiles,
                  const QueryGroup<T>& group, const ScoreTile<T>& score) {
    std::fill(w.row_slope.begin(), w.row_slope.end(), T(0));
    const SlopeTile<T> tile{
        .score = score,
        .slope = w.slope.data(),
        .reference = shared.reference.data() + group.first,
        .inverse_sum = shared.scale.data() + group.first,
        .delta = shared.delta.data() + group.first,
        .query_slope = w.row_slope.data(),
        .key_slope = w.key_slope.data() + w.first(),
        .far_key_slope = w.far_key_slope.data() + w.first(),
        .constant_slope = w.sums.constant.data(),
        .logit_slope = w.logit_slope.empty() ? nullptr : w.logit_slope.data(),
    };
    tiles.slopes(pair_law(plan_.weights), tile, w.sums.soft_cap);
    if (w.logit_slope.empty()) return;
    const HeadBias<T>& bias = shared.head.bias();
    if (bias.of_queries()) return;  // add_query_grad does this in the order of the tiles.
    if (!bias.of_pairs()) collect_by_offset(bias, w, group, w.by_offset);
  }

  /// Adds dL/dlogit of a tile to sums in the layout of the bias's table. They belong to the task,
  /// or to the head if each query has its own table.
  void collect_by_offset(const HeadBias<T>& bias, const KeyWork<T>& w, const QueryGroup<T>& group,
                         std::vector<double>& sums) const {
    for (int r = 0; r < group.rows; ++r) {
      bias.add(kernels_, group.first + r, w.keys().first, w.keys().count,
               w.logit_slope.data() + r * w.keys().columns, sums.data());
    }
  }

  /// Adds a task's sums to those of the head. Tasks do so in the order of their tiles, when
  /// they process the last block.
  static void add_bias_gradient(BackwardHead<T>& shared, const KeyWork<T>& w) {
    for (std::size_t i = 0; i < w.by_offset.size(); ++i) shared.by_offset[i] += w.by_offset[i];
  }

  /// Adds dL/dlogit of a tile, if it has been `seen`, to the gradient of the bias in its turn.
  /// Returns false if the run was stopped meanwhile.
  bool add_pair_gradient(const PairGradient::Unit& unit, bool seen, const KeyWork<T>& w,
                         const QueryGroup<T>& group, const std::function<bool()>& stopped) {
    if (!pair_grad_->wait(unit, stopped)) return false;
    for (int r = 0; seen && r < group.rows; ++r) {
      pair_grad_->add(unit, group.first + r, w.keys().first, w.keys().count,
                      w.logit_slope.data() + r * w.keys().columns);
    }
    pair_grad_->finish(unit);
    return true;
  }

  /// Sums the rows and columns of W, from which the close pairs have been removed.
  void take_margins(const QueryGroup<T>& group, KeyWork<T>& w) {
    std::fill(w.row_margin.begin(), w.row_margin.end(), T(0));
    kernels_.margins(w.slope.data(), w.keys().columns, group.rows, w.keys().columns,
                     w.row_margin.data(), w.key_margin.data() + w.first());
  }

  /// Waits until tile `t` may add to the block. Returns false if the run was stopped meanwhile.
  static bool wait_for_turn(const BackwardHead<T>& shared, std::int64_t block, int t,
                            const std::function<bool()>& stopped) {
    const std::atomic<int>& turn = shared.turn[static_cast<std::size_t>(block)];
    while (turn.load(std::memory_order_acquire) != t) {
      if (stopped()) return false;
      std::this_thread::yield();
    }
    return !stopped();
  }

  void add_query_grad(BackwardHead<T>& shared, KeyWork<T>& w,
                      const std::vector<ClosePair<T>>& close_pairs, const QueryGroup<T>& group) {
    const FlushSubnormals flush;
    const std::ptrdiff_t stride = group.stride;
    T* out = shared.query_grad + group.first * stride;
    if (tanh_sum_) {
      std::transform(w.query_grad.begin(), w.query_grad.end(), out, out, std::plus<T>());
    } else {
      kernels_.product(group.rows, static_cast<int>(stride), w.keys().count,
                       {w.slope.data(), w.keys().columns, 1}, w.operands.keys(w.first()), out,
                       stride, Store::add);
    }
    for (const ClosePair<T>& pair : close_pairs) {
      add_difference(group, pair, w, -pair.slope, out + pair.row * stride);
    }
    const HeadBias<T>& bias = shared.head.bias();
    if (bias.of_queries() && bias.has_gradient()) {
      collect_by_offset(bias, w, group, shared.by_offset);
    }
    if (shared.head.position_values().exist()) add_position_weights(shared, w, group);
    for (int r = 0; r < group.rows; ++r) {
      const auto i = static_cast<std::size_t>(group.first + r);
      shared.query_slope[i] += w.row_slope[static_cast<std::size_t>(r)];
      if (distance_) shared.query_margin[i] += w.row_margin[static_cast<std::size_t>(r)];
    }
  }

  /// For squared distances, converts sums of W times the other tokens to dL/d(base) of tokens
  /// [count × stride], in place.
  void base_gradients(const Head<T>& head, const T* base, std::ptrdiff_t stride, const T* margin,
                      int count, T* sums) const {
    if (!distance_) return;
    for (int r = 0; r < count; ++r, base += stride, sums += stride) {
      for (int i = 0; i < head.base_size(); ++i) sums[i] = 2 * (base[i] * margin[r] - sums[i]);
    }
  }

  void finish_keys(std::int64_t index, int t, const BackwardHead<T>& shared, KeyWork<T>& w) {
    base_gradients(shared.head, w.operands.base(), w.operands.base_stride(), w.key_margin.data(),
                   w.keys().count, w.key_grad.data());
    const Extents& e = plan_.extents;
    const std::int64_t count = w.keys().count;
    const auto keys = keys_of(index).part(w.keys().first, count);
    const auto values = values_of(index).part(w.keys().first, count);
    Buffer<T> dk(static_cast<std::size_t>(count * e.feature));
    Buffer<T> dv(static_cast<std::size_t>(count * e.value));
    shared.head.token_gradients(
        keys, {w.key_grad.data(), w.operands.base_stride(), w.key_slope.data()},
        TokenRows<T>{dk.data(), count, e.feature, e.feature}, w.sums.similarity.data());
    for (std::int64_t c = 0; c < count; ++c) {
      set_value_grad(plan_.aggregate, w.value_grad.data() + c * w.operands.value_stride(),
                     values.row(c), e.value, dv.data() + c * e.value);
    }
    key_grad_.add(batch_of(index), head_of(index), t, std::move(dk));
    value_grad_.add(batch_of(index), head_of(index), t, std::move(dv));
    sums_[static_cast<std::size_t>(index * (tiles_ + 1) + t)] = std::move(w.sums);
  }

  void collect_position_weights(std::int64_t b, std::int64_t h, const BackwardHead<T>& shared,
                                PartValues& gradient) const {
    const PositionValues<T>& positions = shared.head.position_values();
    std::vector<T> room(static_cast<std::size_t>(plan_.extents.value));
    for (std::int64_t i = 0; i < plan_.extents.query; ++i) {
      positions.collect(shared.position_weights.data() + i * positions.count(),
                        upstream_.extended(b, h, i, 1, plan_.extents.value, room.data()), gradient);
    }
  }

  void finish_queries(std::int64_t index, BackwardHead<T>& shared) {
    const std::int64_t b = batch_of(index);
    const std::int64_t h = head_of(index);
    ParameterSums& sums = sums_[static_cast<std::size_t>(index * (tiles_ + 1) + tiles_)];
    sums.bias = plan_.zeros(plan_.bias_parameters);
    Operand<T> own;
    for (std::int64_t block = 0; block < blocks_; ++block) {
      const QueryGroup<T> group = group_of(index, shared, own, block);
      T* grad = shared.query_grad + group.first * group.stride;
      base_gradients(shared.head, group.base, group.stride,
                     shared.query_margin.data() + group.first, group.rows, grad);
      shared.head.token_gradients(queries_of(index).part(group.first, group.rows),
                                  {grad, group.stride, shared.query_slope.data() + group.first},
                                  result_.query.tokens(b, h).part(group.first, group.rows),
                                  sums.similarity.data());
    }
    shared.head.bias_gradients(shared.by_offset.data(), queries_of(index),
                               result_.query.tokens(b, h), sums.bias, sums.similarity.data());
    if (shared.head.position_values().exist()) collect_position_weights(b, h, shared, sums.bias);
    sums.sink = upstream_.sink_slope(b, h);
  }
};

template <class T>
void check_saved(const Plan& plan, const Forward<T>& saved) {
  const Extents& e = plan.extents;
  const Shape4 output{e.batch, e.head, e.query, e.value}, row{e.batch, e.head, e.query, 1};
  if (!(saved.output.shape == output) || !(saved.row_reference.shape == row) ||
      !(saved.row_sum.shape == row)) {
    fail("backward needs what forward saved for the same call (expected an output {}, found {})",
         to_string(output), to_string(saved.output.shape));
  }
}

}  // namespace

template <class S>
Backward<S> attention_backward(const Plan& plan, const AttentionInput<S>& input,
                               const Forward<S>& saved, const Execution& run) {
  check_input(plan, input);
  check_saved(plan, saved);
  const Execution execution = alone_if_short(plan.extents, 2.5, run);
  const Mask mask = plan.mask(input);
  if (input.dropout.share == 0 && takes_intervals<S>(plan, mask, Pass::backward)) {
    if (auto result = interval_backward(plan, input, saved, execution)) return std::move(*result);
  }
  if (mask.is_sparse()) return sparse_backward(plan, input, saved, execution);
  return BackwardPass<S>(plan, input, saved, execution).run();
}
#define CONELAB_BACKWARD(S)                                                      \
  template Backward<S> attention_backward(const Plan&, const AttentionInput<S>&, \
                                          const Forward<S>&, const Execution&);
CONELAB_EACH_TYPE(CONELAB_BACKWARD)

}  // namespace conelab
