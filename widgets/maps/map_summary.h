// The summary that one pass over a matrix computes: pooled cells, limits, entropies and sums.
#pragma once

#include <cstdint>
#include <vector>

#include "core/figure/heat_values.h"
#include "core/trace/matrix_source.h"

namespace conelab::desktop {

/// Returns the larger of two cells, or that of larger magnitude. NaN takes precedence, masked cells
/// are ignored. This is the rule of `figure::pooled`.
[[nodiscard]] float pooled_cell(float a, float b, bool by_magnitude);

/// The summary of the rows [row_begin, row_end) of a matrix.
struct MapBlock {
  std::int64_t row_begin = 0, row_end = 0;
  std::vector<float> cells;  ///< Pooled to the base level.
  figure::Limits limits, positive_limits;
  std::int64_t masked = 0, nan = 0, zero = 0;
  std::vector<float> row_entropy, row_largest;  ///< [row_end - row_begin]
  std::vector<double> column_sum;               ///< [columns]
  std::vector<float> sample;                    ///< Evenly spaced cells, in their order.
  std::vector<float> row_sample;  ///< The same cells, divided by the largest of their row.
};

/// Computes and summarises rows. Cells are pooled by 2^level, of which row_begin must be a
/// multiple.
[[nodiscard]] MapBlock map_block(const MatrixSource& source, std::int64_t row_begin,
                                 std::int64_t row_end, int level);

/// The summary of a whole matrix. It grows during the pass.
struct MapSummary {
  MapSummary() = default;
  MapSummary(std::int64_t rows, std::int64_t columns, bool weights);
  void add(const MapBlock& block);

  figure::Limits limits;           ///< Over all cells that are finite and not masked.
  figure::Limits positive_limits;  ///< Over those above zero, for logarithmic scales.
  std::int64_t masked = 0, nan = 0, zero = 0;
  /// [rows] In nats; empty if cells are no weights. If special tokens are excluded, the entropy of
  /// the weights of the others, divided by their sum.
  std::vector<float> row_entropy;
  std::vector<float> row_largest;  ///< [rows] The largest magnitude.
  std::vector<double> column_sum;  ///< [columns]; empty if cells are no weights.
  /// About 65,536 cells for ranks, percentiles and histograms, and the same divided by the largest
  /// magnitude of their row; sorted when complete.
  std::vector<float> sorted_sample, sorted_row_sample;
  std::int64_t excluded = 0;  ///< Cells of special tokens; they count as masked.

  /// Returns whether weights have signs, so that they are no shares and have no entropy.
  [[nodiscard]] bool is_signed() const { return !row_entropy.empty() && limits.low < 0; }
};

}  // namespace conelab::desktop
