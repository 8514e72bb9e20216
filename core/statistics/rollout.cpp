#include "core/statistics/rollout.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace conelab {

Rollout::Rollout(std::size_t n) : n_(n), matrix_(n * n) {
  for (std::size_t i = 0; i < n; ++i) matrix_[i * n + i] = 1;
}

void Rollout::add_layer(const std::vector<double>& weights, const Execution& execution) {
  constexpr std::size_t block = 16;  // Rows that one thread computes at a time.
  std::vector<double> next(n_ * n_);
  const std::size_t blocks = (n_ + block - 1) / block;
  run_tasks(static_cast<std::int64_t>(blocks), execution, [&](std::int64_t task, const auto&) {
    const std::size_t begin = static_cast<std::size_t>(task) * block;
    for (std::size_t i = begin; i < std::min(begin + block, n_); ++i) {
      const double* row = weights.data() + i * n_;
      const double half = 1 / (std::accumulate(row, row + n_, 0.0) + 1);  // Ã = (A + I) · half.
      double* out = next.data() + i * n_;
      for (std::size_t j = 0; j < n_; ++j) {
        const double factor = (row[j] + (i == j ? 1 : 0)) * half;
        if (factor == 0) continue;
        const double* below = matrix_.data() + j * n_;
        for (std::size_t c = 0; c < n_; ++c) out[c] += factor * below[c];
      }
    }
  });
  matrix_ = std::move(next);
}

}  // namespace conelab
