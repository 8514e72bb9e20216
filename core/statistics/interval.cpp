#include "core/statistics/interval.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

namespace conelab {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::vector<double> sorted(std::vector<double> samples) {
  std::erase_if(samples, [](double x) { return std::isnan(x); });
  std::ranges::sort(samples);
  return samples;
}

double median_of_sorted(const std::vector<double>& x) {
  if (x.empty()) return unknown;
  const std::size_t middle = x.size() / 2;
  return x.size() % 2 == 1 ? x[middle] : 0.5 * (x[middle - 1] + x[middle]);
}

/// gamma_d: coverage of [x_d, x_(n+1-d)].
double coverage(int d, int n) { return 1 - 2 * cdf(boost::math::binomial(n, 0.5), d - 1); }

/// Returns the largest d >= 1 whose interval covers at least `usual_level`, or 1 if none does.
int depth_for(int n) {
  int d = 1;
  while (2 * (d + 1) <= n && coverage(d + 1, n) >= usual_level) ++d;
  return d;
}

/// Sorted samples and the order statistics of their interval, counted from 1 on either side.
struct Ordered {
  std::vector<double> x;
  int n = 0, depth = 0;

  explicit Ordered(std::vector<double> samples)
      : x(sorted(std::move(samples))), n(static_cast<int>(x.size())), depth(depth_for(n)) {}
  [[nodiscard]] double low(int d) const { return x[static_cast<std::size_t>(d - 1)]; }
  [[nodiscard]] double high(int d) const { return x[static_cast<std::size_t>(n - d)]; }
  [[nodiscard]] Interval interval() const {
    if (n == 0) return lone(unknown);
    return {median_of_sorted(x), low(depth), high(depth), std::max(0.0, coverage(depth, n))};
  }
};

}  // namespace

int samples_to_cover() {
  int n = 1;
  while (coverage(1, n) < usual_level) ++n;
  return n;
}

double median(std::vector<double> samples) { return median_of_sorted(sorted(std::move(samples))); }

Interval sign_test_interval(std::vector<double> samples) {
  return Ordered(std::move(samples)).interval();
}

Interval median_interval(std::vector<double> samples) {
  const Ordered o(std::move(samples));
  const Interval wide = o.interval();
  const int d = o.depth;
  if (wide.coverage <= usual_level || 2 * (d + 1) > o.n) return wide;
  const double part = (wide.coverage - usual_level) / (wide.coverage - coverage(d + 1, o.n));
  const double weight = (o.n - d) * part / (d + (o.n - 2 * d) * part);
  return {wide.value, (1 - weight) * o.low(d) + weight * o.low(d + 1),
          (1 - weight) * o.high(d) + weight * o.high(d + 1), usual_level};
}

Interval t_interval(const std::vector<double>& samples, double level) {
  if (samples.empty()) return lone(unknown);
  const auto n = static_cast<double>(samples.size());
  double mean = 0, squares = 0;
  for (const double x : samples) mean += x / n;
  for (const double x : samples) squares += (x - mean) * (x - mean);
  if (samples.size() < 2) return lone(mean);
  const int degrees = static_cast<int>(samples.size()) - 1;
  const double half = quantile(boost::math::students_t(degrees), 0.5 + 0.5 * level) *
                      std::sqrt(squares / degrees / n);
  return {mean, mean - half, mean + half, level};
}

}  // namespace conelab
