// How much attention crosses each boundary between adjacent tokens (Coneheads, figure 5).
//
// A pair (i, j) with i ≤ b < j crosses boundary b, which lies between tokens b and b + 1, whichever
// of the two attends to the other. An operator that sees the two halves of a sentence as separate
// trees sends little attention across.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace conelab::tree {

struct Segmentation {
  /// [n − 1] Weight of the pairs that cross, over the weight of all pairs; in [0, 1].
  std::vector<double> crossing;
  /// [n − 1] The same for attention that is uniform over the allowed keys of each row.
  std::vector<double> uniform;
  /// [n − 1] crossing / uniform: below 1 the boundary separates; 0 where nothing may cross.
  /// Where weights are unknown: NaN, as is `crossing`.
  std::vector<double> relative;
  /// The boundary with the smallest `relative`, the first of them, among those that a pair may
  /// cross; −1 where there is none, and where weights are unknown.
  std::int64_t strongest = -1;

  [[nodiscard]] bool unknown() const { return !relative.empty() && std::isnan(relative.front()); }
};

/// `weights` [n × n], rows are queries. `allowed` [n × n], 1 where a query may see a key; empty:
/// all. An allowed weight that is not finite leaves every sum over the weights unknown; one that is
/// not allowed counts as 0.
[[nodiscard]] Segmentation segmentation(const std::vector<double>& weights, std::size_t n,
                                        const std::vector<std::uint8_t>& allowed = {});

}  // namespace conelab::tree
