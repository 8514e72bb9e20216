// One call of attention that several ranks share, of which each has consecutive tokens of the
// sequences, in views of the caller's memory (core/base/tensor_view.h).
//
// The ranks send their tokens to those that have their blocks (core/ring/blocks.h), compute as
// core/ring/ring_attention.h says, and send the results back. So all are equally busy under a
// causal mask, and results are the same bits for any number of ranks and any shares of the tokens.
#pragma once

#include <memory>
#include <vector>

#include "core/operators/prepared_call.h"
#include "core/ring/ring_attention.h"

namespace conelab {

/// How many tokens each rank has: [ranks]. Those of rank r follow those of the ranks before it.
struct Shares {
  std::vector<std::int64_t> queries, keys;
};

/// All ranks call the same functions in the same order.
class SharedCall {
 public:
  virtual ~SharedCall() = default;
  /// Computes "output" [.. × head × own queries × d_v] and, if it is among the results, "lse" [.. ×
  /// head × own queries].
  virtual void forward(Views results, const Execution& run) = 0;
  /// Computes the gradients of own tokens, "q", "k" and "v", and of parameters by their keys: on
  /// rank 0 those of the whole call, on others zeros, so that the sum over ranks is the gradient.
  /// May be called more than once, after `forward`.
  virtual void backward(const TensorView& output_grad, Views results, const Execution& run) = 0;
};

/// `inputs` are named as in core/operators/prepared_call.h, with "q", "k" and "v" of this rank;
/// they and `ranks` must outlive the call. Parameters, lengths and `shares` must be the same on all
/// ranks. Throws misuse as check_ring and resolve do, before anything is sent.
[[nodiscard]] std::unique_ptr<SharedCall> share(const Call& call, Views inputs,
                                                const Shares& shares, Ranks& ranks);

}  // namespace conelab
