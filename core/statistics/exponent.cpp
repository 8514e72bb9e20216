#include "core/statistics/exponent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace conelab {
namespace {

constexpr double no_exponent = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t rounds_needed = 3;

using Table = std::vector<std::vector<double>>;

void check_shapes(const std::vector<double>& lengths, const Table& times) {
  if (lengths.size() != times.size()) {
    misuse("exponent: {} lengths, but times of {}", lengths.size(), times.size());
  }
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (!(lengths[i] > (i == 0 ? 0 : lengths[i - 1]))) {
      misuse("exponent: lengths must ascend from above 0 (found {} at {})", lengths[i], i);
    }
  }
}

/// Returns the logarithms [length][round] of the rounds in which no length is missing.
Table complete_rounds(const Table& times) {
  std::size_t rounds = times.empty() ? 0 : times.front().size();
  for (const auto& row : times) rounds = std::min(rounds, row.size());
  Table logs(times.size());
  for (std::size_t r = 0; r < rounds; ++r) {
    if (!std::ranges::all_of(times, [&](const auto& row) { return row[r] > 0; })) {
      continue;
    }
    for (std::size_t i = 0; i < times.size(); ++i) logs[i].push_back(std::log(times[i][r]));
  }
  return logs;
}

Interval slope_over(const std::vector<double>& log_length, const Table& log_time, std::size_t first,
                    std::size_t last) {
  std::vector<double> slopes;
  for (std::size_t r = 0; r < log_time.front().size(); ++r) {
    std::vector<double> x, y;
    for (std::size_t i = first; i <= last; ++i) {
      x.push_back(log_length[i]);
      y.push_back(log_time[i][r]);
    }
    slopes.push_back(least_squares_slope(x, y));
  }
  return t_interval(slopes);
}

/// Returns the first length of the octave that ends at `last`; at most last - 1.
std::size_t octave_begin(const std::vector<double>& lengths, std::size_t last) {
  std::size_t first = last - 1;
  while (first > 0 && lengths[first - 1] >= 0.5 * lengths[last]) --first;
  return first;
}

std::string why_not_resolved(const std::vector<double>& lengths, std::size_t rounds) {
  const double octaves = lengths.size() < 2 ? 0 : std::log2(lengths.back() / lengths.front());
  if (octaves < octaves_needed - 1e-9) {
    const std::string count = fmt::format("{:.3g}", octaves);
    return fmt::format("not resolved: {} octave{} of n (needs {})", count, count == "1" ? "" : "s",
                       octaves_needed);
  }
  if (rounds < rounds_needed) {
    return fmt::format("not resolved: {} complete rounds (needs {})", rounds, rounds_needed);
  }
  return "";
}

}  // namespace

double least_squares_slope(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xx > 0 ? xy / xx : no_exponent;
}

ExponentFit fit_exponent(const std::vector<double>& lengths,
                         const std::vector<std::vector<double>>& times) {
  check_shapes(lengths, times);
  ExponentFit fit;
  fit.exponent = lone(no_exponent);
  const Table logs = complete_rounds(times);
  const std::size_t rounds = logs.empty() ? 0 : logs.front().size();
  fit.why_not = why_not_resolved(lengths, rounds);
  fit.resolved = fit.why_not.empty();
  if (rounds == 0) return fit;
  std::vector<double> log_length;
  for (const double n : lengths) log_length.push_back(std::log(n));
  for (std::size_t i = 1; i < lengths.size(); ++i) {
    const std::size_t first = octave_begin(lengths, i);
    fit.local.push_back(slope_over(log_length, logs, first, i));
  }
  if (fit.resolved) fit.exponent = slope_over(log_length, logs, 0, lengths.size() - 1);
  return fit;
}

}  // namespace conelab
