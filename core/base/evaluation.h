// The ways of computing umbral attention at d = 2, of which a call may choose one.
#pragma once

#include "core/base/parameter.h"

namespace conelab {

/// How umbral attention at d = 2 is computed.
enum class Evaluation {
  automatic,  ///< The faster of the two.
  pairs,      ///< Pair by pair, in O(n_q n_k).
  intervals,  ///< Sums over intervals (core/tiles/interval_attention.h), in O(n log n).
};

/// The words of `evaluation_choice`, in the order of Evaluation.
inline constexpr const char* evaluation_words[] = {"auto", "pairs", "intervals"};

inline constexpr ParameterInfo evaluation_choice{
    "evaluation",
    0,
    Domain::choice,
    false,
    "how sums over pairs are computed: pair by pair, or at d = 2 over intervals in O(n log n)",
    "auto|pairs|intervals"};

}  // namespace conelab
