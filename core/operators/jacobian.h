// Computes the determinant of an operator's Jacobian: the factor by which it changes volumes of
// tokens.
//
//   J = d(output) / dq  [n d × n d],  for one head of one batch element
//
// Each row of J is the gradient of one number of the output, computed by `backward` in float64; an
// LU decomposition follows. This takes O((nd)^3) operations and (nd)^2 memory. It serves to check
// volume-preserving attention (manual of GeometricMachineLearning).
#pragma once

#include <vector>

#include "core/operators/operator.h"

namespace conelab {

/// The largest nd of a head for which a Jacobian is computed.
constexpr std::int64_t most_jacobian_rows = 4096;

/// A determinant whose magnitude may be outside the range of double.
struct Determinant {
  double log_magnitude = 0;  ///< Natural logarithm; -inf for 0, NaN if the Jacobian contains NaN.
  int sign = 1;
  [[nodiscard]] double value() const;  ///< 0 or +-inf outside the range of double.
};

/// Which tensors of an input, besides q, are the tokens with respect to which J is taken. It has no
/// effect on a structured operator that reads q alone.
struct TokenRoles {
  bool key = true, value = true;
};

/// Returns whether the Jacobian is square, which is so if the output has the sizes of q.
[[nodiscard]] bool has_determinant(const Plan& plan);

/// Returns the determinants [batch * head]. `input.output_grad` is not read. Throws misuse as
/// check_determinant does.
template <class T>
[[nodiscard]] std::vector<Determinant> jacobian_determinants(const Plan& plan,
                                                             const AttentionInput<T>& input,
                                                             TokenRoles roles = {},
                                                             const Execution& run = {});
/// Throws misuse if the Jacobian is not square or nd exceeds `most_jacobian_rows`.
void check_determinant(const Plan& plan);

}  // namespace conelab
