// Balanced random orders, in which the cases of a round run.
//
// Rounds are rows of a Williams square (Australian Journal of Scientific Research A2, 1949) with
// shuffled cases. Over as many rounds as cases, each case occurs once in each position and, for an
// even number of cases, follows each other case once. Fewer rounds use rows that are spread evenly
// over the square, so that the mean position of every case is near the middle.
#pragma once

#include <cstdint>
#include <vector>

namespace conelab {

/// Returns the orders as [round][position] = case. Over all rounds each case occurs in each
/// position floor or ceil of rounds / cases times. Equal seeds give equal orders on every platform.
/// Without cases the rounds are empty. Throws misuse for negative numbers.
[[nodiscard]] std::vector<std::vector<int>> balanced_orders(int cases, int rounds,
                                                            std::uint64_t seed);

}  // namespace conelab
