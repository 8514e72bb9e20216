// Holds what an operator computes, forward and backward.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/evaluation.h"
#include "core/base/half.h"
#include "core/base/tensor.h"

namespace conelab {

enum class Pass { forward, backward };

/// The output, and what the backward pass needs to recompute the rest. T is the type of the
/// tensors.
template <class T>
struct Forward {
  Tensor4<T> output;  ///< [batch x head x n_q x columns]
  /// [batch x head x n_q x 1] The logarithm of a row's sum of weights before normalisation: the
  /// log-sum-exp of the logits for softmax and exp; -inf for a masked row. It is empty for a
  /// structured operator, as are all tensors below.
  Tensor4<Compute<T>> lse;
  /// [batch x head x n_q x 1] The reference m of a row, often 0, and the row's sum of exp(logit -
  /// m), so that lse = m + log(sum). For the softmax over queries the logits here are those minus
  /// column_lse.
  Tensor4<Compute<T>> row_reference, row_sum;
  /// [batch x head x n_q x 1] For the Einstein midpoint only: the sum of weight * Lorentz factor,
  /// by which the sums are divided.
  Tensor4<Compute<T>> midpoint_sum = {};
  /// [batch x head x n_k x 1] For the softmax over queries only: the log-sum-exp of a key's logits
  /// over the queries that see it; -inf if none does.
  Tensor4<Compute<T>> column_lse = {};
  /// [batch x head x n_q x d_v] The outputs of the heads, if they are joined.
  Tensor4<Compute<T>> heads_output = {};
  Evaluation evaluation = Evaluation::pairs;  ///< The way that was taken.
};

/// The gradients of L = sum(output * output_grad), including derivatives through maps of tokens.
template <class T>
struct Backward {
  /// They have the shapes of the inputs, also where heads share memory. They are empty if the
  /// operator does not read them.
  Tensor4<T> query, key, value;
  /// By key, for every differentiable number: [1], summed over batch and heads, or [head] if it was
  /// given as a list.
  std::map<std::string, std::vector<double>> parameters;
  /// By name, for every differentiable tensor, in its own shape.
  std::map<std::string, Array<double>> tensors = {};
};

}  // namespace conelab
