// dL/d(output) in the form that the backward pass needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/call/plan.h"
#include "core/tiles/attention.h"

namespace conelab {

/// Returns plan.without_stopped_pairs(). Throws misuse if the weights are a softmax over queries,
/// which has no gradients where some are stopped.
[[nodiscard]] std::shared_ptr<const Plan> flowing_plan(const Plan& plan);

/// Returns the gradients of a call, given those over the pairs that a plan's masks admit:
/// over(plan, begin, end), where the work is the part [begin, end) of the whole. dL/dlogit of a
/// pair depends on the other pairs only through the sums of the row. The part of some pairs in the
/// gradients is therefore computed over these pairs, with the sums of all.
template <class Over>
[[nodiscard]] auto gradients_by(const Plan& plan, const Over& over) {
  const auto flowing = flowing_plan(plan);
  if (!flowing) return over(plan, 0.0, 1.0);
  auto result = over(plan, 0.0, 0.5);
  auto of_flowing = over(*flowing, 0.5, 1.0);
  result.key = std::move(of_flowing.key);
  result.value = std::move(of_flowing.value);
  return result;
}

/// Serves one call. If no dL/d(output) is given, it is 1, so that L is the sum of the outputs.
template <class S>
class Upstream {
  using T = Compute<S>;

 public:
  Upstream(const Plan& plan, const AttentionInput<S>& input, const Forward<S>& saved)
      : plan_(&plan),
        input_(&input),
        saved_(&saved),
        ones_(static_cast<std::size_t>(plan.extents.value), S(1)) {}

  /// Returns the number that is subtracted from every dL/dw_ij of a row: sum_j w_ij dL/dw_ij = dO.o
  /// for a softmax over keys, otherwise 0. It is also 0 for the midpoint, which does not depend on
  /// the scale of the weights. For a sigmoid it is `unit` instead, which the kernels need there.
  [[nodiscard]] T delta(std::int64_t b, std::int64_t h, std::int64_t query) const;
  /// Returns the factor of exp(logit - m), or of sigmoid(logit) e^-m, in the backward pass.
  [[nodiscard]] T scale(std::int64_t b, std::int64_t h, std::int64_t query) const;
  /// Returns the ratio w / p of a weight w of a row to the number p that replaces it in the
  /// backward pass (scale_law in row_weights.h), so that dL/dp = unit * dL/dw.
  [[nodiscard]] T unit(std::int64_t b, std::int64_t h, std::int64_t query) const;
  /// Returns dL/d(sink) of a head: -sum_i p_i dO_i.o_i, where p_i is the sink's share of a row's
  /// sum.
  [[nodiscard]] double sink_slope(std::int64_t b, std::int64_t h) const;
  /// Returns dL/d(sums of extended values) of queries [first, first + rows), padded to [rows ×
  /// stride]. The result is in `room`, or in the input if that has this form already.
  [[nodiscard]] const T* extended(std::int64_t b, std::int64_t h, std::int64_t first, int rows,
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
