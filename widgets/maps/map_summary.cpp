#include "widgets/maps/map_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace conelab::desktop {
namespace {

constexpr std::int64_t sampled_cells = 65536;

/// Returns the entropy of weights with this sum and this sum of −w log w. Without the excluded ones
/// they do not sum to one any more.
double entropy_of(double sum, double terms, bool excludes) {
  return excludes && sum > 0 ? terms / sum + std::log(sum) : terms;
}

void digest_row(const float* row, std::int64_t columns, const MatrixSource& source,
                MapBlock& block) {
  const bool weights = source.holds_weights();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  float low = infinity, high = -infinity, least = infinity, largest = 0;
  double terms = 0, sum = 0;
  for (std::int64_t c = 0; c < columns; ++c) {
    const float v = row[c];
    if (is_masked(v) || std::isnan(v)) {
      ++(is_masked(v) ? block.masked : block.nan);
      continue;
    }
    block.zero += v == 0 ? 1 : 0;
    largest = std::max(largest, std::abs(v));
    if (std::isinf(v)) continue;
    low = std::min(low, v), high = std::max(high, v);
    if (weights) block.column_sum[static_cast<std::size_t>(c)] += v;
    if (v <= 0) continue;
    least = std::min(least, v);
    sum += v;
    if (weights) terms -= static_cast<double>(v * std::log(v));
  }
  block.limits.include({low, high});
  if (least <= high) block.positive_limits.include({least, high});
  block.row_largest.push_back(largest);
  if (!weights) return;
  block.row_entropy.push_back(static_cast<float>(entropy_of(sum, terms, source.excluded() > 0)));
}

void sample_row(const float* row, std::int64_t r, std::int64_t columns, std::int64_t step,
                MapBlock& block) {
  const std::int64_t first = (step - r * columns % step) % step;
  for (std::int64_t c = first; c < columns; c += step) {
    if (!std::isfinite(row[c])) continue;
    const float largest = block.row_largest.back();
    block.sample.push_back(row[c]);
    block.row_sample.push_back(largest > 0 ? row[c] / largest : 0);
  }
}

}  // namespace

float pooled_cell(float a, float b, bool by_magnitude) {
  if (std::isnan(a) || is_masked(b)) return a;
  if (std::isnan(b) || is_masked(a)) return b;
  return (by_magnitude ? std::abs(b) > std::abs(a) : b > a) ? b : a;
}

MapBlock map_block(const MatrixSource& source, std::int64_t row_begin, std::int64_t row_end,
                   int level) {
  const std::int64_t columns = source.columns(), side = std::int64_t{1} << level;
  const std::int64_t pooled_columns = (columns + side - 1) >> level;
  // An odd step, because an even one would sample only some columns of a square matrix.
  const std::int64_t step = (source.rows() * columns / sampled_cells) | 1;
  MapBlock block;
  block.row_begin = row_begin;
  block.row_end = row_end;
  block.cells.assign(
      static_cast<std::size_t>(((row_end - row_begin + side - 1) >> level) * pooled_columns),
      masked_cell);
  if (source.holds_weights()) block.column_sum.assign(static_cast<std::size_t>(columns), 0);
  std::vector<float> cells(static_cast<std::size_t>((row_end - row_begin) * columns));
  source.cells({row_begin, row_end, 0, columns}, cells.data());
  for (std::int64_t r = 0; r < row_end - row_begin; ++r) {
    const float* row = cells.data() + r * columns;
    float* out = block.cells.data() + (r >> level) * pooled_columns;
    for (std::int64_t c = 0; c < columns; ++c)
      out[c >> level] = pooled_cell(out[c >> level], row[c], source.pools_by_magnitude());
    digest_row(row, columns, source, block);
    sample_row(row, row_begin + r, columns, step, block);
  }
  return block;
}

MapSummary::MapSummary(std::int64_t rows, std::int64_t columns, bool weights)
    : row_entropy(static_cast<std::size_t>(weights ? rows : 0)),
      row_largest(static_cast<std::size_t>(rows)),
      column_sum(static_cast<std::size_t>(weights ? columns : 0)) {}

void MapSummary::add(const MapBlock& block) {
  limits.include(block.limits);
  positive_limits.include(block.positive_limits);
  masked += block.masked, nan += block.nan, zero += block.zero;
  std::copy(block.row_largest.begin(), block.row_largest.end(),
            row_largest.begin() + block.row_begin);
  std::copy(block.row_entropy.begin(), block.row_entropy.end(),
            row_entropy.begin() + block.row_begin);
  for (std::size_t c = 0; c < block.column_sum.size(); ++c) column_sum[c] += block.column_sum[c];
  sorted_sample.insert(sorted_sample.end(), block.sample.begin(), block.sample.end());
  sorted_row_sample.insert(sorted_row_sample.end(), block.row_sample.begin(),
                           block.row_sample.end());
}

}  // namespace conelab::desktop
