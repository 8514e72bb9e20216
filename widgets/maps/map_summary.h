// What one pass over a matrix finds out: pooled cells, limits, entropies, sums.
#pragma once

#include <cstdint>
#include <vector>

#include "core/figure/heat_values.h"
#include "widgets/maps/matrix_source.h"

namespace conelab::desktop {

/// The larger of two, of a difference that of larger magnitude, as levels are built; NaN wins,
/// masked loses. As `figure::pooled` for paper.
[[nodiscard]] float pooled_cell(float a, float b, bool difference);

/// Rows [row_begin, row_end) of a matrix, digested.
struct MapBlock {
  std::int64_t row_begin = 0, row_end = 0;
  std::vector<float> cells;  ///< Pooled to the base level.
  figure::Limits limits, positive_limits;
  std::int64_t masked = 0, nan = 0, zero = 0;
  std::vector<float> row_entropy, row_largest;  ///< [row_end - row_begin]
  std::vector<double> column_sum;               ///< [columns]
  std::vector<float> sample;                    ///< Evenly drawn cells, in their order.
};

/// Computes and digests; cells are pooled by 2^level, of which row_begin is a multiple.
[[nodiscard]] MapBlock map_block(const MatrixSource& source, std::int64_t row_begin,
                                 std::int64_t row_end, int level);

/// What is known of the whole matrix; grows while the pass runs.
struct MapSummary {
  MapSummary() = default;
  MapSummary(std::int64_t rows, std::int64_t columns, bool weights);
  void add(const MapBlock& block);

  figure::Limits limits;           ///< Of all cells that are finite and not masked.
  figure::Limits positive_limits;  ///< Of those above zero, for logarithmic scales.
  std::int64_t masked = 0, nan = 0, zero = 0;
  std::vector<float> row_entropy;    ///< [rows] nats; empty unless weights.
  std::vector<float> row_largest;    ///< [rows] the largest magnitude.
  std::vector<double> column_sum;    ///< [columns]; empty unless weights.
  std::vector<float> sorted_sample;  ///< About 65,536 cells, ascending once complete, for ranks.
};

}  // namespace conelab::desktop
