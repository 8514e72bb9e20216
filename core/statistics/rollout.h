// Attention rollout: how much of each input token reaches each position after several layers.
//
//   R_0 = I,   R_l = Ã_l R_{l−1},   Ã_l = (A_l + I) / 2 with rows that sum to one,
//
// where A_l is the mean of the attention weights of the heads of layer l, and I stands for the
// residual connection. Source: S. Abnar, W. Zuidema, Quantifying Attention Flow in Transformers,
// ACL 2020, section 3 (arXiv:2005.00928, equation 1).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/parallel.h"

namespace conelab {

/// The most tokens for which it is computed: it takes O(n³) for each layer.
inline constexpr std::int64_t most_rollout_tokens = 2048;

class Rollout {
 public:
  /// The rollout before the first layer, of n tokens: I.
  explicit Rollout(std::size_t n);
  /// Adds the next layer, in O(n³). `weights` [n × n], row-major, is the mean of the heads; rows
  /// are queries. Throws interrupted if `execution` is cancelled; the rollout is then unchanged.
  void add_layer(const std::vector<double>& weights, const Execution& execution = {});
  /// Returns R [n × n], row-major.
  [[nodiscard]] const std::vector<double>& matrix() const { return matrix_; }

 private:
  std::size_t n_;
  std::vector<double> matrix_;
};

// Attention of all heads of a layer as one matrix, the mean or the maximum over the heads:
//
//   mean_ij = (1/H) Σ_h w^h_ij,   maximum_ij = max_h w^h_ij
//
// A cell of −∞ is masked. A pair is masked if every head masks it; otherwise the weight of a head
// that masks it is 0. Of logits, only the heads that see the pair count.

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
