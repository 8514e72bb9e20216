// Agglomerative attention: every token is softly assigned to a few classes, and attends to the
// classes' averages instead of to tokens.
//
//   c = softmax over classes of (x W + b), once for references (r) and once for queries (q)
//   Mean_ik = sum_t c^r_tk (x P)_tk / sum_t c^r_tk,  t over all tokens, or t <= i under mask causal
//   output_i = [c^q_i0 Mean_i0, ..., c^q_i,m-1 Mean_i,m-1] Q
//
// Class k owns columns [k d/m, (k+1) d/m) of x P. Agglomerative Attention, section Methods.
// convention=paper divides by the sum of c as it is, by way of logarithms, so that a class that
// hardly any token belongs to has its exact mean; convention=reference divides by
// max(sum of c, 1e-3), as the published code does.
//
// Cost: full 8 n d m + 4 d^2, causal 4 n d^2 + 4 n d m operations forward; memory O(n m + d m), and
// on the way back O(n d) for the causal means of one block of tokens at a time.
#pragma once

#include <array>
#include <limits>

#include "core/operators/operator.h"

namespace conelab {

struct Agglomerative {
  static constexpr double needed = std::numeric_limits<double>::quiet_NaN();
  static constexpr std::array parameters{
      ParameterInfo{"P", needed, Domain::tensor, true, "projection of the tokens", "", "d,d"},
      ParameterInfo{"Q", needed, Domain::tensor, true, "projection of the classes' averages", "",
                    "d,d"},
      ParameterInfo{"W_reference", needed, Domain::tensor, true, "classes of references", "",
                    "d,classes"},
      ParameterInfo{"W_query", needed, Domain::tensor, true, "classes of queries", "", "d,classes"},
      ParameterInfo{"b_reference", 0, Domain::tensor, true, "offsets of W_reference; absent: 0", "",
                    "classes"},
      ParameterInfo{"b_query", 0, Domain::tensor, true, "offsets of W_query; absent: 0", "",
                    "classes"},
      ParameterInfo{"classes", needed, Domain::whole, false,
                    "m; default the columns of W_reference; must divide d"},
      convention};
  static constexpr const char* masks[] = {"full", "causal"};
  static constexpr OperatorInfo info{"agglomerative",
                                     "[c^q_ik Mean_ik]_k Q, Mean_ik the average of class k of x P "
                                     "weighted by c^r; c = softmax over "
                                     "classes of (x W + b) (Agglomerative Attention, Methods)",
                                     "n", parameters, masks};

  /// Throws misuse unless m divides d.
  static void check(const Plan& plan);
  static double flops(const Plan& plan, Pass pass);
  template <class T>
  static Forward<T> forward(const Plan& plan, const AttentionInput<T>& input, const Execution& run);
  template <class T>
  static Backward<T> backward(const Plan& plan, const AttentionInput<T>& input,
                              const Forward<T>& saved, const Execution& run);
};

}  // namespace conelab
