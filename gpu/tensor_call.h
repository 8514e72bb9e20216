// Attention on tensors in the device's memory, on a stream of the caller: nothing is copied to the
// host, and no device memory is allocated here.
//
//   const TensorPlan<float> plan(call, {q, k, v});      // Of the tensors the sizes are looked at.
//   launch(plan, plan.call(Pass::forward, {q, k, v}, {output, lse}, structure, workspace), stream);
//
// `structure` is a copy of plan.structure() in device memory, and `workspace` device memory of
// plan.workspace(pass) bytes. The names of tensors are those of core/operators/prepared_call.h.
//
// It serves similarities of tokens, with their maps, under any mask that reads no tensor, with
// softmax weights, means and heads of k and v that are shared. The CPU computes everything else.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/operators/prepared_call.h"
#include "gpu/operands.h"
#include "gpu/tile/tensors.h"

namespace conelab::gpu {

template <class N>
class TensorPlan {
 public:
  /// Throws as conelab::prepare does, and misuse for a part of the call that only the CPU computes.
  TensorPlan(const Call& call, Views inputs);

  /// Returns the arrays that no token decides, as the device needs them.
  [[nodiscard]] const std::vector<std::byte>& structure() const { return structure_; }
  /// Returns the bytes of memory that a pass works in.
  [[nodiscard]] std::size_t workspace(Pass pass) const;
  /// Returns the call for memory that starts at a multiple of 256 bytes. The backward pass needs
  /// the results of the forward pass and "output_grad" among its inputs.
  [[nodiscard]] TensorCall<N> call(Pass pass, Views inputs, Views results,
                                   const std::byte* structure, std::byte* workspace) const;
  /// Returns the row of the similarity table.
  [[nodiscard]] int similarity() const;

 private:
  std::unique_ptr<const PreparedCall> prepared_;
  Operands<N> operands_;
  std::vector<double> numbers_;  ///< TokenMap::heads
  TokenMap map_;
  std::vector<std::byte> structure_;

  [[nodiscard]] const Plan& plan() const { return prepared_->plan(); }
  void find_numbers();
  [[nodiscard]] Lines lines(Views views, const char* name, std::int64_t heads) const;
  [[nodiscard]] ParameterResult parameter(const TensorView& view) const;
};

/// Launches a call on device number `device` and the cudaStream_t `stream`, and returns at once.
/// Throws a failure if the launch fails, or if the program was built without CUDA.
void launch(const TensorPlan<float>& plan, Pass pass, const TensorCall<float>& call, int device,
            void* stream);

}  // namespace conelab::gpu
