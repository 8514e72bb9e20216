// The factorisation norm of a matrix, and its least value among matrices with given signs, each as
// an interval that is certified.
//
//   γ₂(A)   = the least product of the longest row of X and the longest row of Y with A = X Yᵀ
//   γ₂^α(S) = the least γ₂(A) of all A with 1 ≤ A_ij S_ij ≤ α
//
// Both are semidefinite programs. With weights p and q of rows and columns, each summing to 1,
//
//   γ₂(A) = max over p, q of the sum of singular values of diag(√p) A diag(√q),
//
// which is concave in p and q together. The weights are found by p_i ← p_i (|X_i|² / γ)^e with the
// X of the present weights; A, and the dual matrix M with |M| ≤ 1, by the primal-dual method of
// Chambolle and Pock (2011) in the coordinates of the weights. The interval does not depend on how
// well these methods converge. Its ends are those of
//
//   an A in the box, with factors X, Y:  γ₂^α ≤ |X| |Y| + the longest row of A − X Yᵀ,
//   an M and weights:                    γ₂^α ≥ min over the box of Σ √p_i M_ij √q_j A_ij / |M|,
//
// where |M| is bounded by a Cholesky decomposition that succeeds (Rump 2006), and bounds of all
// rounding errors are added. An iteration decomposes an n × n matrix, which takes O(n³).
#pragma once

#include <functional>

#include "core/rank/sign_matrix.h"

namespace conelab::rank {

/// When the search ends; whatever comes first.
struct NormLimits {
  double width = 5e-4;  ///< The interval is at most this wide,
  int iterations = 4000;
  double seconds = 600;                  ///< or this time has passed, after the first iteration.
  std::function<bool()> cancelled = {};  ///< If it returns true, interrupted is thrown.
};

struct NormInterval {
  double value = 0;             ///< The middle of the interval.
  double lower = 0, upper = 0;  ///< The norm lies between these.
  int iterations = 0;
  bool in_time = true;  ///< False if the time ended the search.
};

/// Returns γ₂(A). Throws misuse if A has no numbers or one that is not finite.
[[nodiscard]] NormInterval gamma2(const Matrix& a, const NormLimits& limits = {});

/// Returns γ₂^α(S) of a matrix of signs. Throws misuse as gamma2 does, and unless α is finite and
/// at least 1.
[[nodiscard]] NormInterval gamma2_alpha(const Matrix& signs, double alpha,
                                        const NormLimits& limits = {});

/// Returns eq. 40's lower bound of the rank of a matrix A with 1 ≤ A_ij S_ij ≤ α: γ₂^α(S)² / α²,
/// with the lower end of the interval.
[[nodiscard]] double rank_bound(const NormInterval& norm, double alpha);

}  // namespace conelab::rank
