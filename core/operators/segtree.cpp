// SegTree-Transformer. Tokens attend to cells of a binary tree over the sequence, which are larger
// the further away they are. The cells attend to their tokens.
//
//   h_u <- Att(h_u; h_w for every w that u sees),   all cells at once, steps times
//
// Att is that of core/operators/token_list.h, the graph that of core/operators/segment_tree.h.
// Token cells start as x_i, all other cells as 0; the output are the token cells.
// SegTree-Transformer (RLGM workshop, ICLR 2019); the update follows the authors' code,
// segtree-transformer-v0 (modules). BP-Transformer with k = 1 has the same graph without the edges
// of the inner cells to themselves. In the first step an inner cell becomes the mean of its tokens
// and its own zero vector. After two steps every token depends on every other.
//
// Cost: 4 d operations for each edge and step, 12 n d log2 n in each step. This counts the inner
// cells of the last step, about a third of the edges, although nothing reads them and they are not
// computed. Memory is O(n d), in the backward pass for each step. Edges are computed, never stored.
#include <algorithm>
#include <array>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/names.h"
#include "core/operators/list_operator.h"
#include "core/operators/segment_tree.h"

namespace conelab {
namespace {

bool is_causal_tree(const Plan& plan) {
  const auto& masks = plan.call.masks;
  return contains(masks, "causal");
}

/// All cells after a step, and the log-sum-exp of their logits in it. Before the first step the
/// inner cells share one row of zeros. After the last step there are none.
template <class T>
struct TreeState {
  std::int64_t n, d;
  const T* token;           ///< [n x d] The input, the output or the first rows of `own`.
  const T* inner;           ///< [cells - n x d] Its leading dimension is `inner_step`.
  std::int64_t inner_step;  ///< d, or 0 if the rows are the same.
  Buffer<T> own;
  std::vector<double> lse;  ///< [cells]

  [[nodiscard]] const T* row(std::int64_t cell) const {
    return cell < n ? token + cell * d : inner + (cell - n) * inner_step;
  }
};

template <class T>
struct TreeQueries {
  const TreeState<T>&before, &after;
  const Buffer<T>& gradient;             ///< [cells x d]
  const std::vector<double>& at_output;  ///< [cells]
  std::int64_t count;

  [[nodiscard]] QueryRun<T> run(std::int64_t at, std::int64_t size) const {
    return {before.row(at), gradient.data() + at * before.d, after.lse.data() + at,
            at_output.data() + at, size};
  }
};

template <class T>
class SegmentTreeHead {
 public:
  SegmentTreeHead(const Plan& plan, const PartValues& values, const T* x)
      : tree_(plan.extents.query, is_causal_tree(plan)),
        d_(plan.extents.feature),
        steps_{static_cast<std::int64_t>(values.p[list_steps])},
        scale_(values.p[list_scale]),
        x_(x) {}

  void forward(T* output, const Execution& run) const {
    steps_.run(initial(), output, run, step());
  }

  void backward(const T* output_grad, T* dx, PartValues& gradient, const Execution& run) const {
    const std::vector<TreeState<T>> states = steps_.states(initial(), run, step());
    Buffer<T> of_cells(static_cast<std::size_t>(tree_.cells() * d_)), earlier(of_cells.size());
    std::copy_n(output_grad, tree_.tokens() * d_, of_cells.begin());
    for (std::int64_t t = steps_.count - 1; t >= 0; --t) {
      const auto at = static_cast<std::size_t>(t);
      gradient.p[list_scale] +=
          step_back(states[at], states[at + 1], t, of_cells, earlier, quiet(run));
      of_cells.swap(earlier);
    }
    std::copy_n(of_cells.begin(), tree_.tokens() * d_, dx);
  }

 private:
  SegmentTree tree_;
  std::int64_t d_;
  Steps steps_;
  double scale_;
  const T* x_;  ///< [n x d]

  [[nodiscard]] auto step() const {
    return [this](const auto&... arguments) { return next(arguments...); };
  }
  [[nodiscard]] TreeState<T> initial() const {
    TreeState<T> state{tree_.tokens(), d_, x_, nullptr, 0, {}, {}};
    state.own.assign(static_cast<std::size_t>(d_), T(0));
    state.inner = state.own.data();
    return state;
  }
  [[nodiscard]] std::int64_t updated(std::int64_t t) const {
    return t + 1 < steps_.count ? tree_.cells() : tree_.tokens();
  }

  /// Calls `work(task, first, count)` for the cells 0 ... cells - 1: for each large cell alone,
  /// from the root down, then for blocks of smaller cells.
  template <class Work>
  static void for_cells(const SegmentTree& tree, std::int64_t cells, const Execution& run,
                        const Work& work) {
    const std::int64_t small = std::min(cells, tree.first_of(first_large_level));
    const std::int64_t large = cells - small;
    run_tasks(large + blocks_of_rows(small), run, [&](std::int64_t task, const auto&) {
      if (task < large) return work(task, cells - 1 - task, 1);
      const std::int64_t first = (task - large) * block_of_rows;
      work(task, first, std::min(block_of_rows, small - first));
    });
  }
  /// The level of cells with 256 tokens.
  static constexpr int first_large_level = 8;

  void fill(const TreeState<T>& state, std::int64_t number, std::vector<TokenRun<T>>& list) const {
    list.assign(1, {state.row(number), 1});
    if (number < tree_.tokens()) {
      tree_.for_seen(number, [&](std::int64_t seen) { list.push_back({state.row(seen), 1}); });
      return;
    }
    const SegmentTree::Tokens own = tree_.tokens_of(tree_.cell(number));
    list.push_back({state.row(own.first), own.last - own.first});
  }
  void fill(const TreeQueries<T>& all, std::int64_t number, std::vector<QueryRun<T>>& list) const {
    list.clear();
    const auto add = [&](std::int64_t at) {
      if (at < all.count) list.push_back(all.run(at, 1));
    };
    const auto add_tokens = [&](SegmentTree::Tokens t) {
      if (t.first < t.last) list.push_back(all.run(t.first, t.last - t.first));
    };
    add(number);
    add_tokens(tree_.seen_from_left(tree_.cell(number)));
    add_tokens(tree_.seen_from_right(tree_.cell(number)));
    if (number < tree_.tokens()) tree_.for_holders(number, add);
  }

  /// Returns the state after step t, counted from 0. If `place` [n x d] is not null, the tokens are
  /// written to it.
  TreeState<T> next(const TreeState<T>& before, std::int64_t t, T* place,
                    const Execution& run) const {
    TreeState<T> after{tree_.tokens(), d_, place, nullptr, d_, {}, {}};
    after.lse.resize(static_cast<std::size_t>(updated(t)));
    if (place == nullptr) {
      after.own.resize(static_cast<std::size_t>(updated(t) * d_));
      after.token = place = after.own.data();
      after.inner = after.token + tree_.tokens() * d_;
    }
    for_cells(tree_, updated(t), run, [&](std::int64_t, std::int64_t first, std::int64_t count) {
      ListAttention<T> attention(d_, scale_);
      std::vector<TokenRun<T>> list;
      for (std::int64_t u = first; u < first + count; ++u) {
        fill(before, u, list);
        attention.start();
        attention.add(before.row(u), list);
        after.lse[static_cast<std::size_t>(u)] = attention.finish(place + u * d_);
      }
    });
    return after;
  }

  /// Computes the gradient of the cells before step t into `earlier`, given that of the cells which
  /// the step updates, and returns dL/dscale.
  double step_back(const TreeState<T>& before, const TreeState<T>& after, std::int64_t t,
                   const Buffer<T>& of_cells, Buffer<T>& earlier, const Execution& run) const {
    std::vector<double> at_output(static_cast<std::size_t>(updated(t)));
    for_row_blocks(updated(t), run, [&](std::int64_t, std::int64_t first, std::int64_t count) {
      for (std::int64_t u = first; u < first + count; ++u) {
        at_output[static_cast<std::size_t>(u)] =
            row_product(of_cells.data() + u * d_, after.row(u), d_);
      }
    });
    const TreeQueries<T> queries{before, after, of_cells, at_output, updated(t)};
    std::vector<double> of_scale(static_cast<std::size_t>(tree_.cells()));
    for_cells(
        tree_, tree_.cells(), run, [&](std::int64_t task, std::int64_t first, std::int64_t count) {
          of_scale[static_cast<std::size_t>(task)] = cells_back(queries, first, count, earlier);
        });
    double sum = 0;
    for (const double each : of_scale) sum += each;
    return sum;
  }

  /// Computes the gradients of some cells before a step into `earlier` and returns dL/dscale of
  /// their own attention.
  double cells_back(const TreeQueries<T>& queries, std::int64_t first, std::int64_t count,
                    Buffer<T>& earlier) const {
    ListGradient<T> gradient(d_, scale_);
    std::vector<TokenRun<T>> list;
    std::vector<QueryRun<T>> listed_by;
    double of_scale = 0;
    for (std::int64_t u = first; u < first + count; ++u) {
      gradient.start();
      if (u < queries.count) {
        fill(queries.before, u, list);
        gradient.through_query(queries.run(u, 1), list);
      }
      fill(queries, u, listed_by);
      gradient.through_token(queries.before.row(u), listed_by);
      of_scale += gradient.of_scale();
      std::copy(gradient.sum().begin(), gradient.sum().end(), earlier.begin() + u * d_);
    }
    return of_scale;
  }
};

struct SegTree : ListOperator<SegmentTreeHead> {
  static constexpr std::array parameters{list_parameters[list_scale], list_parameters[list_steps]};
  static constexpr const char* masks[] = {"full", "causal"};
  static constexpr OperatorInfo info{
      "segtree",
      "h_u = Att(h_u; cells of a binary tree that u sees), steps times; Att(u; c) = "
      "sum_j softmax_j(scale u.c_j) c_j",
      "SegTree Transformer",
      "n log n",
      parameters,
      masks};

  static double flops(const Plan& plan, Pass pass) {
    const SegmentTree tree(plan.extents.query, is_causal_tree(plan));
    return flops_of_steps(plan, pass, 4 * static_cast<double>(plan.extents.feature) * tree.edges());
  }
};

}  // namespace

OperatorRow segtree_row() { return structured_row<SegTree>(); }

}  // namespace conelab
