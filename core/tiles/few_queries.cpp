// Tasks are slices of the keys of a head of k and v. A task reads its keys and values tile by tile,
// for all queries of all heads that share them, and sums their rows relative to references of its
// own. The slices are then joined in their order, which depends on the sizes alone: the result is
// the same for any number of threads.
#include "core/tiles/few_queries.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/subnormals.h"
#include "core/simd/direct.h"
#include "core/tiles/aggregate.h"
#include "core/tiles/attention.h"
#include "core/tiles/row_weights.h"
#include "core/tiles/tile.h"
#include "core/tiles/values.h"

namespace conelab {
namespace {

/// Keys of a tile, whose keys and values the second-level cache holds.
constexpr int tile_keys = 256;
/// Keys of a slice, a multiple of the tile.
constexpr std::int64_t slice_keys = 1024;
/// Fewer keys are packed in little time.
constexpr std::int64_t least_keys = 256;

template <class S>
class FewQueriesPass {
  using T = Compute<S>;

 public:
  FewQueriesPass(const Plan& plan, const AttentionInput<S>& input, const Execution& execution)
      : plan_(plan),
        input_(input),
        execution_(execution),
        kernels_(kernels<S>(execution.simd, plan.extents.query)),
        direct_(direct_kernels<T>(kernels_.name)),
        mask_(plan.mask(input)),
        distance_(plan.similarity->info.measure == Measure::squared_distance),
        groups_(plan.placed_key_heads() == plan.extents.value_heads() ? plan.extents.value_heads()
                                                                      : plan.extents.head),
        heads_(plan.extents.head / groups_),
        rows_(static_cast<int>(heads_ * plan.extents.query)),
        slices_((plan.extents.key + slice_keys - 1) / slice_keys),
        width_(value_stride(plan.aggregate, plan.extents.value, kernels_.panel)) {}

  std::optional<Forward<S>> run() {
    const std::int64_t groups = plan_.extents.batch * groups_;
    queries_.resize(static_cast<std::size_t>(groups));
    run_tasks(groups, quiet(execution_), [&](std::int64_t g, const auto&) { place_queries(g); });
    sums_.resize(static_cast<std::size_t>(groups * slices_), RowSums<T>(0, width_));
    non_finite_values_.resize(sums_.size());
    run_tasks(groups * slices_, execution_, [&](std::int64_t task, const auto& stopped) {
      run_slice(task / slices_, task % slices_, stopped);
    });
    Forward<S> result = empty_forward<S>(plan_);
    for (std::int64_t g = 0; g < groups; ++g) finish(g, result);
    return result;
  }

 private:
  /// The queries of the heads that share keys and values, one head after another.
  struct Queries {
    std::vector<Head<T>> heads;
    Operand<T> placed;
  };
  /// A tile of keys as operand of the measures, and its values as rows of `width_` numbers.
  struct KeyRows {
    KeyTile<T> tile;
    RowTile<T> measures;
    Operand<T> placed;
    Buffer<T> values;
    std::vector<std::int64_t> none;
    std::vector<std::int64_t> non_finite_values;
  };

  const Plan& plan_;
  const AttentionInput<S>& input_;
  const Execution& execution_;
  const Kernels<T>& kernels_;
  const DirectKernels<T>& direct_;
  Mask mask_;
  bool distance_;
  std::int64_t groups_;  ///< Groups of heads in a batch element.
  std::int64_t heads_;   ///< Heads of a group.
  int rows_;             ///< Queries of a group.
  std::int64_t slices_;
  std::ptrdiff_t width_;
  std::vector<Queries> queries_;  ///< [batch × groups]
  std::vector<RowSums<T>> sums_;  ///< [batch × groups × slices]
  /// [batch × groups × slices] The keys whose values are not finite, in ascending order.
  std::vector<std::vector<std::int64_t>> non_finite_values_;

  [[nodiscard]] std::int64_t first_head(std::int64_t group) const {
    return group / groups_ * plan_.extents.head + group % groups_ * heads_;
  }

  void place_queries(std::int64_t group) {
    const Extents& e = plan_.extents;
    Queries& all = queries_[static_cast<std::size_t>(group)];
    for (std::int64_t h = 0; h < heads_; ++h) {
      const std::int64_t index = first_head(group) + h;
      all.heads.emplace_back(plan_, kernels_, input_, index);
      Operand<T> own;
      all.heads.back().place(input_.query.tokens(index / e.head, index % e.head), e.query, "q", 0,
                             kernels_.panel, own);
      all.placed.append(own, plan_.similarity->values, rows_, h * e.query);
    }
  }

  /// Reads the keys from `first` on.
  void read_keys(const Queries& queries, std::int64_t group, std::int64_t first, int count,
                 KeyRows& keys) const {
    const Head<T>& head = queries.heads.front();
    const std::int64_t index = first_head(group), all = plan_.extents.head;
    const auto rows = input_.key.tokens(index / all, index % all, all).part(first, count);
    const int columns = round_up(count, kernels_.column_multiple);
    head.place(rows, columns, "k", first, kernels_.panel, keys.placed);
    keys.measures = {rows_,
                     count,
                     head.base_size(),
                     queries.placed.base.data(),
                     queries.placed.stride,
                     keys.placed.base.data(),
                     keys.placed.stride,
                     nullptr,
                     columns};
    keys.tile = {nullptr,   keys.placed.values.data(), columns, nullptr, 0, first, count, columns,
                 &keys.none};
  }

  /// Returns the values from key `first` on, rounded to T.
  TokenRows<const T> values(std::int64_t group, std::int64_t first, int count,
                            KeyRows& keys) const {
    const std::int64_t index = first_head(group), all = plan_.extents.head;
    const auto rows = input_.value.tokens(index / all, index % all, all).part(first, count);
    keys.values.resize(static_cast<std::size_t>(count * width_));
    for (int j = 0; j < count; ++j) {
      T* out = std::copy_n(rows.row(j), rows.columns, keys.values.data() + j * width_);
      std::fill(out, keys.values.data() + (j + 1) * width_, T(0));
    }
    return {keys.values.data(), count, width_, width_};
  }

  void run_slice(std::int64_t group, std::int64_t slice, const std::function<bool()>& stopped) {
    const Queries& queries = queries_[static_cast<std::size_t>(group)];
    RowSums<T> sums(rows_, width_);
    std::vector<Tiles<S>> tiles;
    for (const Head<T>& head : queries.heads) {
      tiles.emplace_back(plan_, kernels_, head, mask_, input_.key, head.index(), Tensor4<T>());
    }
    Buffer<T> measures(static_cast<std::size_t>(rows_) *
                       round_up(tile_keys, kernels_.column_multiple));
    KeyRows keys;
    const std::int64_t begin = slice * slice_keys;
    const std::int64_t end = std::min(begin + slice_keys, plan_.extents.key);
    for (std::int64_t first = begin; first < end && !stopped(); first += tile_keys) {
      const int count = static_cast<int>(std::min<std::int64_t>(tile_keys, end - first));
      keys.tile.first = first;
      keys.tile.count = keys.tile.columns = count;
      const auto hidden = [&](Tiles<S>& t) {
        return t.cover(0, plan_.extents.query, keys.tile) == Cover::none;
      };
      if (std::ranges::all_of(tiles, hidden)) continue;
      read_keys(queries, group, first, count, keys);
      keys.measures.tile = measures.data();
      attend_tile(queries, tiles, keys, sums);
      const FlushSubnormals flush;
      add_values(group, keys.tile, measures.data(), keys, sums);
    }
    non_finite_values_[static_cast<std::size_t>(group * slices_ + slice)] =
        std::move(keys.non_finite_values);
    sums_[static_cast<std::size_t>(group * slices_ + slice)] = std::move(sums);
  }

  /// Computes the measures of a tile. Those of keys that are not finite or beyond reach (head.h)
  /// become NaN, which is seen at their measures with any query.
  void measure(const RowTile<T>& t, const KeyRows& keys) const {
    const T limit = distance_ ? static_cast<T>(reach<T> * reach<T>) : std::numeric_limits<T>::max();
    const T largest = distance_ ? direct_.row_distances(t) : direct_.row_products(t);
    for (int r = 0; r < t.rows; ++r) {
      T* row = t.tile + static_cast<std::ptrdiff_t>(r) * t.stride;
      std::fill(row + t.count, row + t.stride, T(0));
    }
    for (int c = 0; !(largest <= limit) && c < t.count; ++c) {
      bool usable = true;
      for (int r = 0; r < t.rows; ++r)
        usable = usable && std::abs(t.tile[r * t.stride + c]) <= limit;
      for (int r = 0; !usable && r < t.rows; ++r) {
        t.tile[r * t.stride + c] = std::numeric_limits<T>::quiet_NaN();
      }
    }
    mark_columns(keys.placed.non_finite, 0, t.count, t.rows, t.tile, t.stride);
  }

  /// Adds the weighted values of a tile to the sums. Values that are not finite are left out if
  /// they show in the sums, and their keys are kept in `non_finite`.
  void add_values(std::int64_t group, const KeyTile<T>& tile, const T* weights, KeyRows& keys,
                  RowSums<T>& sums) {
    Buffer<T> added(static_cast<std::size_t>(rows_ * width_), T(0));
    const auto add = [&](const TokenRows<const T>& v) {
      direct_.row_sums({rows_, tile.count, static_cast<int>(width_), weights, tile.columns, v.data,
                        v.stride, added.data(), width_});
    };
    add(values(group, tile.first, tile.count, keys));
    if (!std::ranges::all_of(added, [](T x) { return std::isfinite(x); })) {
      const std::int64_t index = first_head(group), all = plan_.extents.head;
      keys.values.resize(static_cast<std::size_t>(tile.count * width_));
      extend_values(plan_, index,
                    input_.value.tokens(index / all, index % all, all).part(tile.first, tile.count),
                    tile.first, width_, keys.values.data(), keys.non_finite_values);
      std::ranges::fill(added, T(0));
      add({keys.values.data(), tile.count, width_, width_});
    }
    std::transform(added.begin(), added.end(), sums.sums(0), sums.sums(0), std::plus<T>());
  }

  /// Computes the weights of a tile and their sums.
  void attend_tile(const Queries& queries, std::vector<Tiles<S>>& tiles, const KeyRows& keys,
                   RowSums<T>& sums) {
    const FlushSubnormals flush;
    const KeyTile<T>& tile = keys.tile;
    measure(keys.measures, keys);
    for (const std::int64_t query : queries.placed.non_finite) {
      std::fill_n(keys.measures.tile + query * tile.columns, tile.columns,
                  std::numeric_limits<T>::quiet_NaN());
    }
    const auto each = static_cast<int>(plan_.extents.query);
    T row_sum[few_queries], row_maximum[few_queries], reference[few_queries];
    for (int h = 0; h < heads_; ++h) {
      QueryGroup<T> group = query_group(queries.placed, 0, h * each, each);
      group.first = 0;
      T* weights = keys.measures.tile + static_cast<std::ptrdiff_t>(h) * each * tile.columns;
      const Cover cover = tiles[static_cast<std::size_t>(h)].cover(0, each, tile);
      Tiles<S>& own = tiles[static_cast<std::size_t>(h)];
      if (cover == Cover::none || !own.sees_any(group, tile, cover)) {
        std::fill_n(weights, static_cast<std::ptrdiff_t>(each) * tile.columns, T(0));
        continue;
      }
      std::copy_n(sums.references(h * each), each, reference);
      const WeightTile<T> w{own.scored(group, tile, cover, weights), reference, row_sum,
                            row_maximum};
      own.similarity().weight[pair_law(plan_.weights)](w);
      sums.settle(w, h * each, [&](int r) { weigh_again(w, keys, group, r, own); });
      sums.add(w, h * each);
    }
  }

  /// Measures a row of a tile whose weights are lost again, and computes its weights.
  void weigh_again(const WeightTile<T>& w, const KeyRows& keys, const QueryGroup<T>& group, int row,
                   Tiles<S>& tiles) const {
    QueryGroup<T> alone = group.row(row);
    RowTile<T> again = keys.measures;
    again.rows = 1;
    again.query = alone.base;
    again.tile = w.score.tile + row * w.score.stride;
    measure(again, keys);
    const Cover cover = tiles.cover(alone.first, alone.first + 1, keys.tile);
    w.reference[row] = no_reference<T>;
    (void)tiles.sees_any(alone, keys.tile, cover);
    tiles.similarity().weight[pair_law(plan_.weights)](
        {tiles.scored(alone, keys.tile, cover, again.tile), w.reference + row, w.row_sum + row,
         w.row_maximum + row, true});
  }

  void finish(std::int64_t group, Forward<S>& result) {
    RowSums<T>& all = sums_[static_cast<std::size_t>(group * slices_)];
    for (std::int64_t s = 1; s < slices_; ++s) {
      all.join(sums_[static_cast<std::size_t>(group * slices_ + s)]);
    }
    std::vector<std::int64_t> keys;
    for (std::int64_t s = 0; s < slices_; ++s) {
      const auto& own = non_finite_values_[static_cast<std::size_t>(group * slices_ + s)];
      keys.insert(keys.end(), own.begin(), own.end());
    }
    const Extents& e = plan_.extents;
    const std::int64_t first = first_head(group);
    const NonFiniteValues<S> values(
        plan_.aggregate, input_.value.tokens(first / e.head, first % e.head, e.head), keys);
    for (int r = 0; r < rows_; ++r) {
      const std::int64_t index = first + r / e.query, i = r % e.query;
      finish_sums(plan_, all, r, index, i, plan_.sink(input_.tensors, index % e.head), result);
      values.add_seen(mask_, index, i, result.output.row(index / e.head, index % e.head, i));
    }
  }
};

}  // namespace

template <class S>
std::optional<Forward<S>> few_queries_forward(const Plan& plan, const AttentionInput<S>& input,
                                              const Execution& execution) {
  const Extents& e = plan.extents;
  const bool fits = input.dropout.share == 0 && e.query <= few_queries && e.query > 0 &&
                    e.key >= least_keys && e.batch * e.head > 0 &&
                    plan.weights != WeightLaw::softmax_over_queries &&
                    !is_midpoint(plan.aggregate) &&
                    plan.similarity->info.measure != Measure::tanh_sum && !plan.bias->of_queries;
  if constexpr (!std::is_same_v<S, Compute<S>>) {
    if (fits) return FewQueriesPass<S>(plan, input, execution).run();
  }
  return {};
}

#define CONELAB_FEW_QUERIES(S)                                                                  \
  template std::optional<Forward<S>> few_queries_forward(const Plan&, const AttentionInput<S>&, \
                                                         const Execution&);
CONELAB_FEW_QUERIES(float)
CONELAB_FEW_QUERIES(double)
CONELAB_FEW_QUERIES(Float16)
CONELAB_FEW_QUERIES(Bfloat16)

}  // namespace conelab
