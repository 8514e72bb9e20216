// The engine's entry point for tensors whose number type is known at run time: one object that is
// made from a call and the sizes of its tensors, and then serves the output, the gradients and any
// rectangle of the maps, on views of the caller's memory.
//
//   const auto call = prepare(call_from_text("penumbral:gamma=2"), {q, k, v});
//   call->forward({q, k, v}, {output, lse});
//   call->backward({q, k, v, output_grad}, {dq, dgamma});
//
// Inputs, by name: "q", "k", "v", "output_grad" [.. x head x n x d]; the tensors that are
// parameters, as "W"; "mask" [.. x head x n_q x n_k] of u8, which applies if it is given and any of
// whose axes may have the size 1; "lengths" [batch] and "edge" [m x 2] of i64; "dropout" [2] of
// f64, the share and the seed of a Dropout, which maps ignore. The tokens may have
// any strides, with contiguous features. Leading axes count as one axis of batch elements. Without
// "k", q takes its place, and without "v", k does.
//
// The tensor "bias" [.. x head x n_q x n_k] is read where it lies, with any strides; any of its
// axes may have the size 1.
//
// Nothing is converted: q has the type of the call, and k, v, output_grad and the parameters must
// have it too. Results are computed in memory of the engine and copied to the caller's views once.
// Several threads may use one object at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/base/half.h"
#include "core/base/tensor_view.h"
#include "core/operators/operator.h"

namespace conelab {

/// Returns use(T()) for the type T of numbers in memory that `dtype` names.
template <class Use>
auto with_type(Dtype dtype, const Use& use) {
  return dtype == Dtype::f64   ? use(double())
         : dtype == Dtype::f32 ? use(float())
         : dtype == Dtype::f16 ? use(Float16())
                               : use(Bfloat16());
}

using Views = std::span<const TensorView>;

class PreparedCall {
 public:
  virtual ~PreparedCall() = default;
  [[nodiscard]] const Plan& plan() const { return *plan_; }

  /// Returns the results of a pass: their names, types and sizes, without memory.
  ///
  ///   forward    output [batch x head x n_q x d_v]; if the operator has logits,
  ///              lse [batch x head x n_q]
  ///              and further tensors that the backward pass reads
  ///   backward   q, k, v as far as the operator reads them, and in f64 each differentiable
  ///              parameter by its key: [1], [head], or the sizes of the tensor
  [[nodiscard]] const std::vector<TensorView>& results(Pass pass) const {
    return pass == Pass::forward ? forward_results_ : backward_results_;
  }
  /// Computes those results that `results` names. Throws misuse for a view that no input or result
  /// has, for one of a wrong type or of wrong sizes, and as conelab::forward does.
  /// Returns how sums over pairs were computed: "pairs" or "intervals", or "" if the call has no
  /// such choice.
  virtual const char* forward(Views inputs, Views results, const Execution& run) const = 0;
  /// Does the same for gradients. `inputs` may hold the results of `forward`; unless all are there,
  /// the forward pass is computed once more.
  virtual void backward(Views inputs, Views results, const Execution& run) const = 0;
  /// Computes a rectangle of weights or logits into `out` [rows x columns] of f64, if that is the
  /// type of the call, else of f32. `inputs` may hold results of `forward`, of which "lse" alone
  /// gives the weights of a softmax over keys; otherwise weights need a forward pass. Throws misuse
  /// if the operator has no such map, and a failure if the tile lies outside of it.
  virtual void tile(Views inputs, Map2d which, const MapTile& tile, const TensorView& out,
                    const Execution& run) const = 0;

 protected:
  std::shared_ptr<const Plan> plan_;
  std::vector<TensorView> forward_results_, backward_results_;
};

/// Returns tokens [.. x head x n x d] as a tensor of the engine, in the same memory, which is not
/// looked at. The axes before the heads become one. Throws misuse if they do not lie in one
/// sequence, or if features are not contiguous.
template <class T>
[[nodiscard]] StridedTensor4<T> tokens_of(const TensorView& view);

/// Returns the input that named views hold, of which tokens and the bias stay where they lie.
/// Throws misuse for views of another type than q's.
template <class T>
[[nodiscard]] AttentionInput<T> input_of(Views inputs);
/// Copies a result to the caller's memory.
template <class T>
void copy_to(const TensorView& view, const std::vector<T>& numbers);
/// Copies the gradient of the tensor or parameter that the view names; zeros if there is none.
template <class T>
void copy_gradient(const TensorView& view, const Backward<T>& done);

/// Resolves the call for inputs of which only names, types and sizes are looked at, and draws
/// the tensors that it sets to `random`. Throws as `resolve` does, and misuse for views that do not
/// fit.
[[nodiscard]] std::unique_ptr<const PreparedCall> prepare(const Call& call, Views inputs);

}  // namespace conelab
