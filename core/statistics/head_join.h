// Attention of all heads of a layer as one matrix, the mean or the maximum over the heads:
//
//   mean_ij = (1/H) Σ_h w^h_ij,   maximum_ij = max_h w^h_ij
//
// A cell of −∞ is masked. A pair is masked if every head masks it; otherwise the weight of a head
// that masks it is 0. Of logits, only the heads that see the pair count.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace conelab {

/// Combines the cells of heads that arrive one after the other.
template <class T>
class HeadJoin {
 public:
  HeadJoin(std::size_t cells, bool mean, bool weights)
      : mean_(mean), weights_(weights), cells_(cells), seen_(cells) {}

  void add(const T* cells) {
    ++heads_;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (std::isinf(cells[i]) && cells[i] < 0) continue;
      const bool first = seen_[i]++ == 0;
      if (mean_) {
        cells_[i] += cells[i];
      } else if (first || !(cells[i] <= cells_[i])) {  // NaN takes precedence.
        if (!std::isnan(cells_[i])) cells_[i] = cells[i];
      }
    }
  }
  [[nodiscard]] std::vector<T> result() {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (seen_[i] == 0) {
        cells_[i] = -std::numeric_limits<T>::infinity();
      } else if (mean_) {
        cells_[i] /= static_cast<T>(weights_ ? heads_ : seen_[i]);
      }
    }
    return std::move(cells_);
  }

 private:
  bool mean_, weights_;
  std::int32_t heads_ = 0;
  std::vector<T> cells_;
  std::vector<std::int32_t> seen_;
};

}  // namespace conelab
