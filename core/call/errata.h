// Errata of the papers that affect what a part computes, with numerical examples.
//
// `conelab list` shows each with the part that it concerns. tests/core/operators/errata_test.cpp
// computes every number below.
#pragma once

#include <span>

namespace conelab {

struct Erratum {
  const char* part;     ///< The operator, bias, mask or other part that it concerns.
  const char* where;    ///< The paper and the equation.
  const char* printed;  ///< What is printed there.
  const char* correct;  ///< What is computed instead, and why.
  const char* check;    ///< An example with its numbers.
};

inline constexpr Erratum errata_table[] = {
    {"penumbral", "Coneheads eq. 7",
     "a common ancestor exists iff (D - a)^2 + v_d^2 < h^2, a = sqrt(h^2 - u_d^2)",
     "it exists iff D <= s_u + s_v, s = sqrt(h^2 - x_d^2): as printed, pairs are lost where v is "
     "an ancestor of u",
     "h = 1, D = 0.1, u_d = 0.2, v_d = 0.9: v is an ancestor of u (s_u - s_v = 0.543906 >= D), but "
     "(D - a)^2 + v_d^2 = 1.58404 >= 1"},
    {"volume-preserving", "GeometricMachineLearning, manual",
     "weights that are Cayley transforms of a skew-symmetric matrix preserve volume",
     "with weighting = arbitrary they preserve the Frobenius norm only; weighting = skew has "
     "determinant 1",
     "d = 1, two tokens 1 and 0, A = 1, weighting = arbitrary: the Jacobian's determinant is 3"},
    {"hype", "HyPE eq. 5 and 14", "tau = 1",
     "tau = -1 is the default: under the mask causal, tau = 1 favours distant tokens",
     "mu = ln 2, zero scores, causal, row 1: alibi with slope ln 2 (0.333, 0.667), tau = 1 (0.679, "
     "0.321), tau = -1 (0.321, 0.679)"}};

[[nodiscard]] inline std::span<const Erratum> errata() { return errata_table; }

}  // namespace conelab
