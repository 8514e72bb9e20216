// dL/doutput as the backward pass needs it: lifted as the values are (aggregate.h), and set against
// the output that it belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/call/plan.h"
#include "core/tiles/attention.h"

namespace conelab {

/// Of one call; where no dL/doutput is given it is 1, that of the outputs' sum.
template <class S>
class Upstream {
  using T = Compute<S>;

 public:
  Upstream(const Plan& plan, const AttentionInput<S>& input, const Forward<S>& saved)
      : plan_(&plan),
        input_(&input),
        saved_(&saved),
        ones_(static_cast<std::size_t>(plan.extents.value), S(1)) {}

  /// What the backward pass takes from every dL/dw_ij of a row: sum_j w_ij dL/dw_ij = dO.o for a
  /// softmax over keys, else 0. Also 0 under the midpoint, whose lifted sums are scale-free.
  [[nodiscard]] T delta(std::int64_t b, std::int64_t h, std::int64_t query) const;
  /// By what exp(logit - m) of a row is multiplied in the backward pass.
  [[nodiscard]] T scale(std::int64_t b, std::int64_t h, std::int64_t query) const;
  /// A weight of a row over what stands for it in the backward pass: dL/d(the latter) is `unit`
  /// times dL/dweight.
  [[nodiscard]] T unit(std::int64_t b, std::int64_t h, std::int64_t query) const;
  /// Lifted rows of queries [first, first + rows), padded to [rows × stride]: in `room`, or where
  /// they lie.
  [[nodiscard]] const T* lifted(std::int64_t b, std::int64_t h, std::int64_t first, int rows,
                                std::ptrdiff_t stride, T* room) const;

 private:
  const Plan* plan_;
  const AttentionInput<S>* input_;
  const Forward<S>* saved_;
  std::vector<S> ones_;  ///< [d_v]

  [[nodiscard]] const S* row(std::int64_t b, std::int64_t h, std::int64_t query) const {
    return input_->output_grad.empty() ? ones_.data() : input_->output_grad.row(b, h, query);
  }
};

}  // namespace conelab
