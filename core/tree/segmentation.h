// How much attention crosses each boundary between adjacent tokens (Coneheads, figure 5).
//
// Boundary b lies between the tokens b and b + 1. A pair (i, j) with i ≤ b < j crosses it,
// whichever of the two attends to the other. An operator that separates the two halves of a
// sentence into two trees sends little attention across their boundary.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace conelab::tree {

struct Segmentation {
  /// [n − 1] The weight of the pairs that cross, divided by the weight of all pairs; in [0, 1].
  std::vector<double> crossing;
  /// [n − 1] The same for attention that is uniform over the visible keys of each row.
  std::vector<double> uniform;
  /// [n − 1] crossing / uniform. A value below 1 means that the boundary separates. It is 0 if no
  /// pair may cross, and NaN (as is `crossing`) if weights are unknown.
  std::vector<double> relative;
  /// The first boundary with the smallest `relative` among those that a pair may cross; −1 if there
  /// is none or if weights are unknown.
  std::int64_t strongest = -1;

  [[nodiscard]] bool unknown() const { return !relative.empty() && std::isnan(relative.front()); }
};

/// The segmentation of weights that arrive row by row, so that no n × n array is needed.
class SegmentationSums {
 public:
  explicit SegmentationSums(std::size_t n);
  /// Adds the next row: the weights [n] of a query. `allowed` [n] is 1 for the keys that the query
  /// may attend to; null allows all.
  void add_row(const double* weights, const std::uint8_t* allowed);
  /// Returns the segmentation by all n rows.
  [[nodiscard]] Segmentation result() const;

 private:
  /// Weights of pairs as changes from boundary to boundary: plus where a pair begins, minus where
  /// it ends. Their cumulative sum is the weight that crosses.
  struct Crossing {
    std::vector<double> change;
    double total = 0;
    void add(std::size_t i, std::size_t j, double weight);
    [[nodiscard]] std::vector<double> fractions() const;
  };
  Crossing found_, uniform_;
  std::size_t row_ = 0;
  bool known_ = true;
};

/// Computes the segmentation. `weights` is [n × n], rows are queries. `allowed` [n × n] is 1 if a
/// query may attend to a key; an empty one allows all. If an allowed weight is not finite, all sums
/// of weights are unknown. A weight that is not allowed counts as 0.
[[nodiscard]] Segmentation segmentation(const std::vector<double>& weights, std::size_t n,
                                        const std::vector<std::uint8_t>& allowed = {});

}  // namespace conelab::tree
