#include "core/statistics/machine_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace conelab {
namespace {

std::vector<double> known(const std::vector<double>& values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double x) { return std::isfinite(x); });
  std::sort(finite.begin(), finite.end());
  return finite;
}

}  // namespace

double repeated_peak(const std::vector<double>& peaks) {
  const std::vector<double> sorted = known(peaks);
  return sorted.empty() ? std::nan("") : sorted[(sorted.size() - 1) * 9 / 10];
}

std::vector<std::size_t> slowed_samples(const std::vector<double>& peaks, double tolerance) {
  std::vector<std::size_t> slowed;
  const double standard = repeated_peak(peaks);
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    if (peaks[i] < (1 - tolerance) * standard) slowed.push_back(i);
  }
  return slowed;
}

std::vector<std::string> machine_notes(const MachineRecord& record) {
  std::vector<std::string> notes;
  const std::size_t slowed = slowed_samples(record.peaks).size();
  if (slowed > 0) {
    notes.push_back(
        fmt::format("{} of {} samples were taken while the machine was over 10 % below its "
                    "peak (throttled or shared)",
                    slowed, record.peaks.size()));
  }
  const std::vector<double> loads = known(record.loads);
  // The benchmark adds one for each thread; another half is noise of the average.
  if (!loads.empty() && loads.back() > record.threads + 0.5) {
    notes.push_back(fmt::format("the load average reached {:.1f} with {} thread{} of our own",
                                loads.back(), record.threads, record.threads == 1 ? "" : "s"));
  }
  const std::vector<double> clocks = known(record.clocks);
  if (!clocks.empty() && clocks.front() < 0.9 * clocks.back()) {
    notes.push_back(fmt::format("the clock moved between {:.2f} and {:.2f} GHz",
                                clocks.front() * 1e-9, clocks.back() * 1e-9));
  }
  return notes;
}

}  // namespace conelab
