// The summary that one pass over a matrix computes: pooled cells, limits, entropies and sums.
#pragma once

#include <cstdint>
#include <vector>

#include "core/figure/heat_values.h"
#include "widgets/maps/matrix_source.h"

namespace conelab::desktop {

/// Returns the larger of two cells, or in a difference that of larger magnitude. NaN takes
/// precedence, masked cells are ignored. This is the rule of `figure::pooled`.
[[nodiscard]] float pooled_cell(float a, float b, bool difference);

/// The summary of the rows [row_begin, row_end) of a matrix.
struct MapBlock {
  std::int64_t row_begin = 0, row_end = 0;
  std::vector<float> cells;  ///< Pooled to the base level.
  figure::Limits limits, positive_limits;
  std::int64_t masked = 0, nan = 0, zero = 0;
  std::vector<float> row_entropy, row_largest;  ///< [row_end - row_begin]
  std::vector<double> column_sum;               ///< [columns]
  std::vector<float> sample;                    ///< Evenly spaced cells, in their order.
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
  std::vector<float> row_entropy;    ///< [rows] in nats; empty if cells are no weights.
  std::vector<float> row_largest;    ///< [rows] The largest magnitude.
  std::vector<double> column_sum;    ///< [columns]; empty if cells are no weights.
  std::vector<float> sorted_sample;  ///< About 65,536 cells for ranks; sorted when complete.
};

}  // namespace conelab::desktop
