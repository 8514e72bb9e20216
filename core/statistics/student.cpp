#include "core/statistics/student.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace conelab {
namespace {

/// P(|T| <= t) for t >= 0: a finite sum of powers of cos(theta), theta = atan(t / sqrt(degrees)).
double two_sided(double t, int degrees) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine2 = std::cos(theta) * std::cos(theta);
  const bool odd = degrees % 2 == 1;
  double term = odd ? std::cos(theta) : 1;
  double sum = degrees == 1 ? 0 : term;
  for (int k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= cosine2 * (k - 1) / k;
    sum += term;
  }
  if (odd) return 2 / std::numbers::pi * (theta + std::sin(theta) * sum);
  return std::sin(theta) * sum;
}

}  // namespace

double t_cdf(double t, int degrees) {
  const double half = 0.5 * two_sided(std::abs(t), degrees);
  return t >= 0 ? 0.5 + half : 0.5 - half;
}

double t_quantile(double p, int degrees) {
  if (p < 0.5) return -t_quantile(1 - p, degrees);
  double low = 0, high = 1;
  while (t_cdf(high, degrees) < p && high < 1e300) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (t_cdf(middle, degrees) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

Interval t_interval(const std::vector<double>& samples, double level) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  if (samples.empty()) return {unknown, unknown, unknown, unknown};
  const auto n = static_cast<double>(samples.size());
  double mean = 0, squares = 0;
  for (const double x : samples) mean += x / n;
  for (const double x : samples) squares += (x - mean) * (x - mean);
  if (samples.size() < 2) return {mean, unknown, unknown, unknown};
  const int degrees = static_cast<int>(samples.size()) - 1;
  const double half = t_quantile(0.5 + 0.5 * level, degrees) * std::sqrt(squares / degrees / n);
  return {mean, mean - half, mean + half, level};
}

}  // namespace conelab
