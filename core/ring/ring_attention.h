// Attention over several ranks (core/base/ranks.h). Each has the tokens of its blocks
// (core/ring/blocks.h), and memory for these and for two slabs of other ranks.
//
// Let i be a slab of queries and j a slab of keys. A rank visits its own slabs first, then those of
// the ranks after it, in cyclic order, and receives the keys and values of the next slab while it
// computes with this one. For each pair of blocks that sees anything it makes an ordinary call of
// the engine with explicit positions (core/base/positions.h). Sums are in double and in an order
// that does not depend on the ranks:
//
//   output and dq of i   over the slabs of keys j = i, i + 1, ..., cyclic
//   dk, dv of j          over the slabs of queries i = j, j - 1, ..., cyclic: their sums travel
//   from
//                        rank to rank and return to their owner
//   parameters           for each block of queries as dq, then over the blocks in ascending order
//
// So results are the same bits for any number of ranks. They equal those of one call of the engine
// but for the roundings of sums. Blockwise parallel attention: Liu, Zaharia, Abbeel 2023, "Ring
// attention with blockwise transformers", section 3.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/base/ranks.h"
#include "core/operators/operator.h"
#include "core/ring/blocks.h"

namespace conelab {

/// Throws misuse for a call that ranks do not share: a structured operator, a softmax over queries,
/// joined heads, a mask or bias with a number for each pair, masks that list keys, and projections
/// under a mask that stops gradients.
void check_ring(const Plan& plan);

/// The rows of one block of a result, [batch × head × tokens of the block × columns].
template <class T>
struct BlockResult {
  std::int64_t block = 0;
  Forward<T> forward;
  Backward<T> backward;
};

template <class T>
class RingAttention {
 public:
  /// `plan` is that of the whole sequences and `own` has the tokens of this rank's blocks in
  /// ascending order; all must outlive the object. Throws misuse as check_ring does.
  RingAttention(const Plan& plan, const AttentionInput<T>& own, Ranks& ranks);
  ~RingAttention();
  RingAttention(const RingAttention&) = delete;
  RingAttention& operator=(const RingAttention&) = delete;

  /// Computes the outputs of this rank's queries.
  void forward(const Execution& run = {});
  /// Takes dL/doutput of this rank's queries [batch × head × own queries × columns] in the place of
  /// what `own` had.
  void set_output_grad(const StridedTensor4<T>& rows);
  /// Computes the gradients of this rank's tokens, and on rank 0 those of the parameters. May be
  /// called more than once.
  void backward(const Execution& run = {});

  [[nodiscard]] const Blocks& blocks() const { return blocks_; }
  /// Returns the results of this rank's blocks, in ascending order.
  [[nodiscard]] const std::vector<BlockResult<T>>& results() const { return results_; }
  /// Returns the gradients of parameters and tensors, on rank 0; those of tokens are empty.
  [[nodiscard]] const Backward<T>& parameters() const { return parameters_; }
  /// Returns how many slabs of other ranks this one received, in both passes.
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  struct Work;
  const Plan& plan_;
  const AttentionInput<T>& own_;
  Ranks& ranks_;
  Execution run_;
  Blocks blocks_;
  std::unique_ptr<Work> work_;
  std::vector<BlockResult<T>> results_;
  Backward<T> parameters_;
  std::int64_t steps_ = 0;
};

}  // namespace conelab
