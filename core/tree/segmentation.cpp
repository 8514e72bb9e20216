#include "core/tree/segmentation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace conelab::tree {

void SegmentationSums::Crossing::add(std::size_t i, std::size_t j, double weight) {
  total += weight;
  if (i == j) return;
  change[std::min(i, j)] += weight;
  change[std::max(i, j)] -= weight;
}

std::vector<double> SegmentationSums::Crossing::fractions() const {
  std::vector<double> out;
  double open = 0;
  for (std::size_t b = 0; b + 1 < change.size(); ++b) {
    open += change[b];
    out.push_back(total > 0 ? std::clamp(open / total, 0.0, 1.0) : 0.0);
  }
  return out;
}

SegmentationSums::SegmentationSums(std::size_t n)
    : found_{std::vector<double>(n)}, uniform_{std::vector<double>(n)} {}

void SegmentationSums::add_row(const double* weights, const std::uint8_t* allowed) {
  const std::size_t n = found_.change.size(), i = row_++;
  const auto may = [&](std::size_t j) { return allowed == nullptr || allowed[j] != 0; };
  double keys = 0;
  for (std::size_t j = 0; j < n; ++j) keys += may(j);
  for (std::size_t j = 0; j < n; ++j) {
    if (std::isfinite(weights[j])) {
      found_.add(i, j, weights[j]);
    } else if (may(j)) {
      known_ = false;
    }
    if (may(j)) uniform_.add(i, j, 1 / keys);
  }
}

Segmentation SegmentationSums::result() const {
  Segmentation out{found_.fractions(), uniform_.fractions(), {}, -1};
  if (!known_) {
    out.crossing.assign(out.crossing.size(), std::numeric_limits<double>::quiet_NaN());
    out.relative = out.crossing;
    return out;
  }
  for (std::size_t b = 0; b < out.crossing.size(); ++b) {
    out.relative.push_back(out.uniform[b] > 0 ? out.crossing[b] / out.uniform[b] : 0.0);
  }
  for (std::size_t b = 0; b < out.relative.size(); ++b) {
    const bool less = out.strongest < 0 ||
                      out.relative[b] < out.relative[static_cast<std::size_t>(out.strongest)];
    if (out.uniform[b] > 0 && less) out.strongest = static_cast<std::int64_t>(b);
  }
  return out;
}

Segmentation segmentation(const std::vector<double>& weights, std::size_t n,
                          const std::vector<std::uint8_t>& allowed) {
  SegmentationSums sums(n);
  for (std::size_t i = 0; i < n; ++i) {
    sums.add_row(weights.data() + i * n, allowed.empty() ? nullptr : allowed.data() + i * n);
  }
  return sums.result();
}

}  // namespace conelab::tree
