#include "core/ring/shared_call.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/ring/own_rows.h"

namespace conelab {
namespace {

Layout consecutive(const std::vector<std::int64_t>& shares) {
  return [&shares](int rank) {
    const std::int64_t first =
        std::accumulate(shares.begin(), shares.begin() + rank, std::int64_t{0});
    return std::vector{Rows{first, first + shares[static_cast<std::size_t>(rank)]}};
  };
}

template <class T>
class Shared final : public SharedCall {
 public:
  Shared(const Call& call, Views inputs, const Shares& shares, Ranks& ranks)
      : shares_(shares), ranks_(ranks), input_(input_of<T>(inputs)) {
    const auto total = [](const std::vector<std::int64_t>& each) {
      return std::accumulate(each.begin(), each.end(), std::int64_t{0});
    };
    AttentionInput<T> own = take_rows(input_, total(shares_.queries), total(shares_.keys));
    plan_ = draw_tensors(call, input_);
    check_ring(*plan_);
    own_ = std::move(own);
    own_.tensors = input_.tensors, own_.key_lengths = input_.key_lengths;
  }

  void forward(Views results, const Execution& run) override {
    const Blocks blocks(plan_->extents.query, plan_->extents.key, ranks_.size());
    const auto in_blocks = [&](StridedTensor4<T>& tokens, bool of_queries) {
      tokens =
          exchange(ranks_, tokens, given(of_queries), in_ring(blocks, of_queries), run.cancelled);
    };
    in_blocks(own_.query, true), in_blocks(own_.key, false), in_blocks(own_.value, false);
    ring_ = std::make_unique<RingAttention<T>>(*plan_, own_, ranks_);
    ring_->forward(run);
    for (const TensorView& view : results) {
      if (view.name == "lse") {
        copy_to(view, returned<Compute<T>>(
                          [](const BlockResult<T>& r) -> auto& { return r.forward.lse; },
                          {plan_->extents.batch, plan_->extents.head, 0, 1}, true, run)
                          .data);
      } else {
        copy_to(view, returned<T>(
                          [](const BlockResult<T>& r) -> auto& { return r.forward.output; },
                          plan_->output, true, run)
                          .data);
      }
    }
  }

  void backward(const TensorView& output_grad, Views results, const Execution& run) override {
    const Extents& e = plan_->extents;
    ring_->set_output_grad(exchange(ranks_, tokens_of<T>(output_grad), given(true),
                                    in_ring(ring_->blocks(), true), run.cancelled));
    ring_->backward(run);
    using Result = const BlockResult<T>&;
    Backward<T> done{returned<T>(
                         [](Result r) -> auto& { return r.backward.query; },
                         {e.batch, e.head, 0, e.feature}, true, run),
                     returned<T>(
                         [](Result r) -> auto& { return r.backward.key; },
                         {e.batch, e.key_heads(), 0, e.feature}, false, run),
                     returned<T>(
                         [](Result r) -> auto& { return r.backward.value; },
                         {e.batch, e.value_heads(), 0, e.value}, false, run),
                     ring_->parameters().parameters, ring_->parameters().tensors};
    for (const TensorView& view : results) copy_gradient(view, done);
  }

 private:
  Shares shares_;
  Ranks& ranks_;
  AttentionInput<T> input_;  ///< Of the tokens it has the sizes of the whole sequences alone.
  std::shared_ptr<const Plan> plan_;
  AttentionInput<T> own_;
  std::unique_ptr<RingAttention<T>> ring_;

  [[nodiscard]] Layout given(bool of_queries) const {
    return consecutive(of_queries ? shares_.queries : shares_.keys);
  }
  [[nodiscard]] Layout in_ring(const Blocks& blocks, bool of_queries) const {
    const std::int64_t tokens = of_queries ? plan_->extents.query : plan_->extents.key;
    return [&blocks, tokens](int rank) { return blocks.tokens_of_rank(rank, tokens); };
  }

  /// Returns the given tokens' rows of a result. `sizes` are its sizes but for the tokens.
  template <class N, class Part>
  Tensor4<N> returned(const Part& part, Shape4 sizes, bool of_queries, const Execution& run) {
    const Layout layout = in_ring(ring_->blocks(), of_queries);
    sizes.token = tokens_in(layout(ranks_.rank()));
    Tensor4<N> own(sizes);
    std::int64_t first = 0;
    for (const BlockResult<T>& result : ring_->results()) {
      const Tensor4<N>& rows = part(result);
      for (std::int64_t h = 0; h < sizes.batch * sizes.head; ++h) {
        const std::int64_t b = h / sizes.head, in_b = h % sizes.head;
        std::copy_n(rows.row(b, in_b, 0), rows.shape.token * sizes.feature,
                    own.row(b, in_b, first));
      }
      first += rows.shape.token;
    }
    return exchange(ranks_, StridedTensor4<N>(std::move(own)), layout, given(of_queries),
                    run.cancelled);
  }
};

}  // namespace

std::unique_ptr<SharedCall> share(const Call& call, Views inputs, const Shares& shares,
                                  Ranks& ranks) {
  const auto q = std::ranges::find(inputs, "q", &TensorView::name);
  if (q == inputs.end()) misuse("there is no q among the tensors of the call");
  return with_type(dtype_of(*q), [&](auto number) -> std::unique_ptr<SharedCall> {
    return std::make_unique<Shared<decltype(number)>>(call, inputs, shares, ranks);
  });
}

}  // namespace conelab
