// The determinant of an operator's Jacobian: how it changes volumes of tokens.
//
//   J = d output / d q  [n d x n d],  one head of one batch element
//
// Each row of J is the gradient of one number of the output, by `backward` in float64; then an LU.
// O((nd)^3) operations, (nd)^2 memory. For volume-preserving attention: GeometricMachineLearning,
// manual.
#pragma once

#include <vector>

#include "core/operators/operator.h"

namespace conelab {

/// The most numbers nd of a head's tokens that Jacobians are computed for.
constexpr std::int64_t most_jacobian_rows = 4096;

/// A determinant whose magnitude may lie outside the range of double.
struct Determinant {
  double log_magnitude = 0;  ///< Natural logarithm; -inf for 0, NaN where the Jacobian has NaN.
  int sign = 1;
  [[nodiscard]] double value() const;  ///< 0 or +-inf beyond the range of double.
};

/// Which tensors of an input are its tokens q, and move with them. A structured operator that reads
/// q alone has no others.
struct TokenRoles {
  bool key = true, value = true;
};

/// Whether the Jacobian is square: the output has the sizes of q.
[[nodiscard]] bool has_determinant(const Plan& plan);

/// The determinants [batch * head]. Throws misuse for a plan without, and where nd exceeds
/// `most_jacobian_rows`. `input.output_grad` is not read.
template <class T>
[[nodiscard]] std::vector<Determinant> jacobian_determinants(const Plan& plan,
                                                             const AttentionInput<T>& input,
                                                             TokenRoles roles = {},
                                                             const Execution& run = {});
/// The check of sizes alone.
void check_determinant(const Plan& plan);

}  // namespace conelab
