// Was the machine itself when a sample was taken? Notes for people, from what was measured beside
// the times: the multiply-add peak around each sample, the load and the clock of each round.
//
// Nothing is discarded because of a note: leaving out slow samples would bias the medians.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace conelab {

/// What was seen beside the samples of one run; NaN where not measured.
struct MachineRecord {
  std::vector<double> peaks;   ///< Beside each sample, over the best of its kind of case.
  std::vector<double> loads;   ///< 1-minute load average, [round].
  std::vector<double> clocks;  ///< Hz, [round].
  int threads = 1;             ///< That the cases used at most.
};

/// The best that the machine reached repeatedly: the 90 % quantile, so that one lucky measurement
/// sets no standard; NaN for none.
[[nodiscard]] double repeated_peak(const std::vector<double>& peaks);

/// The indices of the samples beside which the peak was more than `tolerance` below that.
[[nodiscard]] std::vector<std::size_t> slowed_samples(const std::vector<double>& peaks,
                                                      double tolerance = 0.1);

/// One line each for: slowed samples, load beyond the threads in use, clocks that moved by over 10
/// %. Empty for a quiet machine.
[[nodiscard]] std::vector<std::string> machine_notes(const MachineRecord& record);

}  // namespace conelab
