#include "core/tree/segmentation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace conelab::tree {
namespace {

/// Returns the fraction of the weight that crosses each boundary: adds +w where a pair begins and
/// −w where it ends, then forms the cumulative sum.
class Crossing {
 public:
  explicit Crossing(std::size_t n) : change_(n) {}

  void add(std::size_t i, std::size_t j, double weight) {
    total_ += weight;
    if (i == j) return;
    change_[std::min(i, j)] += weight;
    change_[std::max(i, j)] -= weight;
  }
  [[nodiscard]] std::vector<double> fractions() const {
    std::vector<double> out;
    double open = 0;
    for (std::size_t b = 0; b + 1 < change_.size(); ++b) {
      open += change_[b];
      out.push_back(total_ > 0 ? std::clamp(open / total_, 0.0, 1.0) : 0.0);
    }
    return out;
  }

 private:
  std::vector<double> change_;
  double total_ = 0;
};

}  // namespace

Segmentation segmentation(const std::vector<double>& weights, std::size_t n,
                          const std::vector<std::uint8_t>& allowed) {
  Crossing found(n), uniform(n);
  bool known = true;
  for (std::size_t i = 0; i < n; ++i) {
    const auto may = [&](std::size_t j) { return allowed.empty() || allowed[i * n + j]; };
    double keys = 0;
    for (std::size_t j = 0; j < n; ++j) keys += may(j);
    for (std::size_t j = 0; j < n; ++j) {
      const double weight = weights[i * n + j];
      if (std::isfinite(weight)) {
        found.add(i, j, weight);
      } else if (may(j)) {
        known = false;
      }
      if (may(j)) uniform.add(i, j, 1 / keys);
    }
  }
  Segmentation out{found.fractions(), uniform.fractions(), {}, -1};
  if (!known) {
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

}  // namespace conelab::tree
