#include "core/operators/joined_heads.h"

#include <Eigen/Core>
#include <algorithm>
#include <utility>

#include "core/token/eigen_products.h"

namespace conelab {
namespace {

template <class T>
Tensor4<T> concatenated(const Tensor4<T>& of_heads) {
  const Shape4& s = of_heads.shape;
  Tensor4<T> out({s.batch, 1, s.token, s.head * s.feature});
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.head; ++h) {
      for (std::int64_t i = 0; i < s.token; ++i) {
        std::copy_n(of_heads.row(b, h, i), s.feature, out.row(b, 0, i) + h * s.feature);
      }
    }
  }
  return out;
}

/// Reorders [batch x 1 x n x heads*d] to [batch x heads x n x d].
template <class T>
Tensor4<T> separated(const Tensor4<T>& joined, std::int64_t heads) {
  const Shape4& s = joined.shape;
  Tensor4<T> out({s.batch, heads, s.token, s.feature / heads});
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t i = 0; i < s.token; ++i) {
        const T* from = joined.row(b, 0, i) + h * out.shape.feature;
        std::copy_n(from, out.shape.feature, out.row(b, h, i));
      }
    }
  }
  return out;
}

/// Returns all tokens [batch*n x columns] of a tensor with one head.
template <class T>
RowMatrixView<T> rows_of(const Tensor4<T>& joined) {
  return {joined.data.data(), joined.shape.batch * joined.shape.token, joined.shape.feature};
}

/// Returns P_output [d_o x head*d_v]; empty if it is absent.
template <class T>
RowMatrixView<T> output_matrix(const Plan& plan, const std::map<std::string, Array<T>>& tensors) {
  const std::span<const T> p = plan.tensors_of(plan.output_parameters, 0, tensors)[0];
  const std::int64_t rows = p.empty() ? 0 : plan.output.feature;
  return {p.data(), rows, p.empty() ? 0 : std::ssize(p) / rows};
}

/// Returns dL/d(output), which is 1 if it is not given.
template <class T>
Tensor4<T> given_or_ones(const Plan& plan, Tensor4<T> output_grad) {
  return output_grad.empty() ? Tensor4<T>(plan.output, T(1)) : std::move(output_grad);
}

}  // namespace

template <class T>
Forward<T> join_heads(const Plan& plan, const std::map<std::string, Array<T>>& tensors,
                      Forward<T> of_heads) {
  if (!plan.joins_heads) return of_heads;
  const RowMatrixView<T> p = output_matrix(plan, tensors);
  Tensor4<T> output = concatenated(of_heads.output);
  of_heads.heads_output = std::move(of_heads.output);
  of_heads.output = std::move(output);
  if (p.size() == 0) return of_heads;
  Tensor4<T> projected(plan.output);
  set_product(Eigen::Map<RowMatrix<T>>(projected.data.data(), plan.output.batch * plan.output.token,
                                       plan.output.feature),
              rows_of(of_heads.output), p.transpose());
  of_heads.output = std::move(projected);
  return of_heads;
}

template <class T>
Forward<T> outputs_of_heads(const Plan& plan, Forward<T> joined) {
  if (plan.joins_heads) joined.output = std::move(joined.heads_output);
  return joined;
}

template <class T>
Tensor4<T> output_grad_of_heads(const Plan& plan, const std::map<std::string, Array<T>>& tensors,
                                Tensor4<T> output_grad) {
  if (!plan.joins_heads) return output_grad;
  const Tensor4<T> joined = given_or_ones(plan, std::move(output_grad));
  const RowMatrixView<T> p = output_matrix(plan, tensors);
  if (p.size() == 0) return separated(joined, plan.extents.head);
  Tensor4<T> wide({joined.shape.batch, 1, joined.shape.token, p.cols()});
  set_product(
      Eigen::Map<RowMatrix<T>>(wide.data.data(), joined.shape.batch * joined.shape.token, p.cols()),
      rows_of(joined), p);
  return separated(wide, plan.extents.head);
}

template <class T>
void add_output_gradient(const Plan& plan, const AttentionInput<T>& input,
                         const Forward<T>& of_heads, Backward<T>& result) {
  if (!plan.joins_heads || plan.parameters[plan.output_parameters.front()].extents.empty()) return;
  const Tensor4<T> grad = given_or_ones(plan, input.output_grad.dense());
  const Tensor4<T> wide = concatenated(of_heads.output);
  const RowMatrix<T> dp = product_of(rows_of(grad).transpose(), rows_of(wide));
  PartValues own = plan.zeros(plan.output_parameters);
  std::copy_n(dp.data(), dp.size(), own.tensor[0].begin());
  add_gradients(plan, plan.output_parameters, std::span<const PartValues>(&own, 1), result);
}

template <class T>
Tensor4<T> sum_over_heads(Tensor4<T> of_heads, std::int64_t heads) {
  const Shape4 s = of_heads.shape;
  if (s.head == heads) return of_heads;
  Tensor4<T> sum({s.batch, heads, s.token, s.feature});
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.head; ++h) {
      T* to = sum.row(b, shared_head(h, heads, s.head), 0);
      const T* from = of_heads.row(b, h, 0);
      for (std::int64_t i = 0; i < s.token * s.feature; ++i) to[i] += from[i];
    }
  }
  return sum;
}

#define CONELAB_JOINED(T)                                                                          \
  template Forward<T> join_heads(const Plan&, const std::map<std::string, Array<T>>&, Forward<T>); \
  template Forward<T> outputs_of_heads(const Plan&, Forward<T>);                                   \
  template Tensor4<T> output_grad_of_heads(const Plan&, const std::map<std::string, Array<T>>&,    \
                                           Tensor4<T>);                                            \
  template void add_output_gradient(const Plan&, const AttentionInput<T>&, const Forward<T>&,      \
                                    Backward<T>&);                                                 \
  template Tensor4<T> sum_over_heads(Tensor4<T>, std::int64_t);
CONELAB_JOINED(float)
CONELAB_JOINED(double)

}  // namespace conelab
