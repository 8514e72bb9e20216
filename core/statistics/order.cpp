#include "core/statistics/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/random.h"

namespace conelab {
namespace {

/// Returns 0, 1, n-1, 2, n-2, ...: for even n, neighbours differ by every amount once (modulo n).
std::vector<int> zigzag(int n) {
  std::vector<int> row;
  for (int i = 0; i < n; ++i) row.push_back(i % 2 == 1 ? (i + 1) / 2 : (n - i / 2) % n);
  return row;
}

/// Returns `count` <= n different rows of a Williams square over shuffled cases, in random order.
void add_square(int n, int count, Random& random, std::vector<std::vector<int>>& orders) {
  std::vector<int> names(static_cast<std::size_t>(n));
  std::iota(names.begin(), names.end(), 0);
  random.shuffle(names);
  std::vector<int> shifts;
  for (int i = 0; i < count; ++i) {
    shifts.push_back(static_cast<int>(static_cast<std::int64_t>(i) * n / count));
  }
  random.shuffle(shifts);
  const std::vector<int> first = zigzag(n);
  for (const int shift : shifts) {
    std::vector<int> order;
    for (const int value : first)
      order.push_back(names[static_cast<std::size_t>((value + shift) % n)]);
    orders.push_back(std::move(order));
  }
}

}  // namespace

std::vector<std::vector<int>> balanced_orders(int cases, int rounds, std::uint64_t seed) {
  if (cases < 0 || rounds < 0) misuse("order: {} cases in {} rounds", cases, rounds);
  std::vector<std::vector<int>> orders;
  if (cases == 0) orders.resize(static_cast<std::size_t>(rounds));
  Random random(seed);
  while (static_cast<int>(orders.size()) < rounds) {
    const int left = rounds - static_cast<int>(orders.size());
    add_square(cases, std::min(cases, left), random, orders);
  }
  return orders;
}

namespace {

std::vector<double> known(const std::vector<double>& values) {
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite),
                       [](double x) { return std::isfinite(x); });
  std::ranges::sort(finite);
  return finite;
}

}  // namespace

double repeated_peak(const std::vector<double>& peaks) {
  const std::vector<double> sorted = known(peaks);
  return sorted.empty() ? std::nan("") : sorted[(sorted.size() - 1) * 9 / 10];
}

std::vector<std::size_t> slowed_samples(const std::vector<double>& peaks) {
  std::vector<std::size_t> slowed;
  const double standard = repeated_peak(peaks);
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    if (peaks[i] < 0.9 * standard) slowed.push_back(i);
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
    notes.push_back(fmt::format("the load average reached {:.1f} with {} of our own", loads.back(),
                                counted(record.threads, "thread")));
  }
  const std::vector<double> clocks = known(record.clocks);
  if (!clocks.empty() && clocks.front() < 0.9 * clocks.back()) {
    notes.push_back(fmt::format("the clock moved between {:.2f} and {:.2f} GHz",
                                clocks.front() * 1e-9, clocks.back() * 1e-9));
  }
  return notes;
}

}  // namespace conelab
