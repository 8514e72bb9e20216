#include "core/statistics/paired.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace conelab {

PairedDifference paired_difference(const std::vector<double>& first,
                                   const std::vector<double>& second) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    const double difference = second[i] - first[i];
    if (!std::isnan(difference)) differences.push_back(difference);
  }
  PairedDifference result{t_interval(differences), std::nan("")};
  if (differences.size() < 2) return result;
  const auto n = static_cast<double>(differences.size());
  double square = 0;
  for (const double d : differences) square += std::pow(d - result.mean.value, 2);
  const double error = std::sqrt(square / (n - 1) / n);
  if (error <= 1e-15 * std::abs(result.mean.value)) {
    result.p = result.mean.value == 0 ? 1 : 0;
    return result;
  }
  const boost::math::students_t distribution(n - 1);
  const double t = std::abs(result.mean.value) / error;
  result.p = 2 * boost::math::cdf(boost::math::complement(distribution, t));
  return result;
}

std::vector<double> holm_corrected(const std::vector<double>& p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> corrected = p;
  double largest = 0;
  for (std::size_t j = 0; j < order.size(); ++j) {
    largest = std::max(largest, static_cast<double>(order.size() - j) * p[order[j]]);
    corrected[order[j]] = std::min(1.0, largest);
  }
  return corrected;
}

}  // namespace conelab
