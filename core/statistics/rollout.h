// Attention rollout: how much of each input token reaches each position after several layers.
//
//   R_0 = I,   R_l = Ã_l R_{l−1},   Ã_l = (A_l + I) / 2 with rows that sum to one,
//
// where A_l is the mean of the attention weights of the heads of layer l, and I stands for the
// residual connection. Source: S. Abnar, W. Zuidema, Quantifying Attention Flow in Transformers,
// ACL 2020, section 3 (arXiv:2005.00928, equation 1).
#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace conelab
