#include "core/statistics/control.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace conelab {
namespace {

/// Returns P(B <= k) for B binomial (n, p).
double binomial_cdf(int k, int n, double p) {
  double sum = 0;
  for (int i = 0; i <= k; ++i) {
    sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) +
                    i * std::log(p) + (n - i) * std::log1p(-p));
  }
  return sum;
}

/// Returns the p in (0, 1) at which P(B <= k), which decreases with p, equals `target`.
double rate_where(int k, int n, double target) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (binomial_cdf(k, n, middle) > target ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

ControlResult control_rate(const std::vector<std::vector<double>>& first,
                           const std::vector<std::vector<double>>& second, double margin) {
  ControlResult result;
  int wrong = 0;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    result.comparisons.push_back(compare_paired(first[i], second[i], margin));
    const Verdict verdict = result.comparisons.back().verdict;
    wrong += verdict == Verdict::faster || verdict == Verdict::slower;
  }
  const int n = static_cast<int>(result.comparisons.size());
  result.false_positive_rate =
      n == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(wrong) / n;
  if (wrong > 0) result.rate_low = rate_where(wrong - 1, n, 0.975);
  if (wrong < n) result.rate_high = rate_where(wrong, n, 0.025);
  return result;
}

}  // namespace conelab
