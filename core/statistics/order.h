// Balanced random orders: in which order the cases of a round run.
//
// Rounds are rows of a Williams square (Australian Journal of Scientific Research A2, 1949) with
// shuffled cases: over as many rounds as cases, each case stands once in each position and, for an
// even number of cases, follows each other case once. Fewer rounds take rows evenly spread over the
// square, so that the mean position of every case stays near the middle.
#pragma once

#include <cstdint>
#include <vector>

namespace conelab {

/// [round][position] = case. Over all rounds each case stands in each position floor or ceil of
/// rounds / cases times. Equal seeds give equal orders on every platform. No cases: empty rounds.
/// Throws misuse for negative numbers.
[[nodiscard]] std::vector<std::vector<int>> balanced_orders(int cases, int rounds,
                                                            std::uint64_t seed);

}  // namespace conelab
