// Balanced random orders, in which the cases of a round run.
//
// Rounds are rows of a Williams square (Australian Journal of Scientific Research A2, 1949) with
// shuffled cases. Over as many rounds as cases, each case occurs once in each position and, for an
// even number of cases, follows each other case once. Fewer rounds use rows that are spread evenly
// over the square, so that the mean position of every case is near the middle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace conelab {

/// Returns the orders as [round][position] = case. Over all rounds each case occurs in each
/// position floor or ceil of rounds / cases times. Equal seeds give equal orders on every platform.
/// Without cases the rounds are empty. Throws misuse for negative numbers.
[[nodiscard]] std::vector<std::vector<int>> balanced_orders(int cases, int rounds,
                                                            std::uint64_t seed);

// Notes on disturbances of the machine during a benchmark, for the reader. They are derived from
// what was measured along with the times: the multiply-add peak next to each sample, and the load
// and the clock of each round.
//
// A note never removes a sample: leaving out slow samples would bias the medians.

/// Holds what was measured along with the samples of one run; NaN if not measured.
struct MachineRecord {
  std::vector<double> peaks;  ///< [sample] Peak next to a sample, relative to the best of its case.
  std::vector<double> loads;  ///< [round] Load average over 1 minute.
  std::vector<double> clocks;  ///< [round] Clock in Hz.
  int threads = 1;             ///< The largest number of threads that a case used.
};

/// Returns the 90 % quantile of the peaks, which the machine reached repeatedly; a single high
/// measurement does not count. Returns NaN for no peaks.
[[nodiscard]] double repeated_peak(const std::vector<double>& peaks);

/// Returns the indices of the samples whose peak is more than 10 % below `repeated_peak`.
[[nodiscard]] std::vector<std::size_t> slowed_samples(const std::vector<double>& peaks);

/// Returns one line for each of: slowed samples, a load above the threads in use, a clock that
/// changed by more than 10 %. Returns nothing for an undisturbed machine.
[[nodiscard]] std::vector<std::string> machine_notes(const MachineRecord& record);

}  // namespace conelab
