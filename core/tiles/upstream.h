// dL/d(output) in the form that the backward pass needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/call/plan.h"
#include "core/tiles/attention.h"

namespace conelab {

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
  /// the scale of the weights.
  [[nodiscard]] T delta(std::int64_t b, std::int64_t h, std::int64_t query) const;
  /// Returns the factor of exp(logit - m) in the backward pass.
  [[nodiscard]] T scale(std::int64_t b, std::int64_t h, std::int64_t query) const;
  /// Returns the ratio w / p of a weight w of a row to the number p that replaces it in the
  /// backward pass (scale_law in row_weights.h), so that dL/dp = unit * dL/dw.
  [[nodiscard]] T unit(std::int64_t b, std::int64_t h, std::int64_t query) const;
  /// Returns dL/d(lifted sums) of queries [first, first + rows), padded to [rows × stride]. The
  /// result is in `room`, or in the input if that has this form already.
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
