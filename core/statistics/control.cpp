#include "core/statistics/control.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <limits>

namespace conelab {
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
  if (n == 0) return result;
  using boost::math::binomial;
  result.rate_low = binomial::find_lower_bound_on_p(n, wrong, 0.025);
  result.rate_high = binomial::find_upper_bound_on_p(n, wrong, 0.025);
  return result;
}

}  // namespace conelab
