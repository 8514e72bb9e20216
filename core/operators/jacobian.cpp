#include "core/operators/jacobian.h"

#include <Eigen/LU>
#include <cmath>

#include "core/base/error.h"

namespace conelab {
namespace {

Determinant determinant_of(const Eigen::MatrixXd& matrix) {
  const Eigen::PartialPivLU<Eigen::MatrixXd> lu(matrix);
  Determinant result;
  result.sign = static_cast<int>(lu.permutationP().determinant());
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    const double pivot = lu.matrixLU()(i, i);
    if (pivot < 0) result.sign = -result.sign;
    result.log_magnitude += std::log(std::abs(pivot));
  }
  return result;
}

/// Adds the gradient of a tensor to a row of the Jacobian. It is empty if the operator does not
/// read the tensor.
void add_row(const Tensor4<double>& gradient, Eigen::Ref<Eigen::RowVectorXd> row) {
  for (std::size_t i = 0; i < gradient.data.size(); ++i) {
    row(static_cast<Eigen::Index>(i)) += gradient.data[i];
  }
}

/// Returns the Jacobian of one head. The threads share its rows.
Eigen::MatrixXd jacobian(const Plan& plan, const AttentionInput<double>& input, TokenRoles roles,
                         const Execution& run) {
  const Forward<double> saved = forward(plan, input, quiet(run));
  const auto size = static_cast<Eigen::Index>(saved.output.data.size());
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(size, size);
  Execution alone = quiet(run);
  alone.threads = 1;
  run_tasks(size, run, [&](std::int64_t i, const auto&) {
    AttentionInput<double> own = input;
    Tensor4<double> one(saved.output.shape);
    one.data[static_cast<std::size_t>(i)] = 1;
    own.output_grad = std::move(one);
    const Backward<double> gradient = backward(plan, own, saved, alone);
    Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(size);
    add_row(gradient.query, row);
    if (roles.key) add_row(gradient.key, row);
    if (roles.value) add_row(gradient.value, row);
    rows.row(i) = row;
  });
  return rows;
}

}  // namespace

double Determinant::value() const { return sign * std::exp(log_magnitude); }

bool has_determinant(const Plan& plan) {
  const Extents& e = plan.extents;
  return plan.output == Shape4{e.batch, e.head, e.query, e.feature};
}

void check_determinant(const Plan& plan) {
  const Extents& e = plan.extents;
  if (!has_determinant(plan)) {
    misuse("the Jacobian of {} is not square (expected an output of the sizes {} of q, found {})",
           operator_name(plan.call), to_string({e.batch, e.head, e.query, e.feature}),
           to_string(plan.output));
  }
  if (e.query * e.feature > most_jacobian_rows) {
    misuse("the determinant of a Jacobian needs at most {} numbers of q in a head (found {} x {})",
           most_jacobian_rows, e.query, e.feature);
  }
}

template <class T>
std::vector<Determinant> jacobian_determinants(const Plan& plan, const AttentionInput<T>& input,
                                               TokenRoles roles, const Execution& run) {
  check_determinant(plan);
  const Extents& e = plan.extents;
  const auto wide = convert<double>(input);
  if (e.batch * e.head == 1) return {determinant_of(jacobian(plan, wide, roles, run))};
  const std::vector<ParameterInfo> infos = call_parameters(plan.call);
  std::vector<Determinant> all;
  for (std::int64_t b = 0; b < e.batch; ++b) {
    for (std::int64_t h = 0; h < e.head; ++h) {
      const AttentionInput<double> one = input_of_head(wide, b, h, infos);
      const auto own = resolve(call_of_head(plan.call, e, h), check_extents(one));
      const auto done = static_cast<double>(b * e.head + h);
      const auto heads = static_cast<double>(e.batch * e.head);
      const Execution part = stage(run, done / heads, (done + 1) / heads);
      all.push_back(determinant_of(jacobian(*own, one, roles, part)));
    }
  }
  return all;
}

#define CONELAB_JACOBIANS(T)                                                                     \
  template std::vector<Determinant> jacobian_determinants(const Plan&, const AttentionInput<T>&, \
                                                          TokenRoles, const Execution&);
CONELAB_EACH_TYPE(CONELAB_JACOBIANS)

}  // namespace conelab
