#include "widgets/maps/map_pyramid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"

namespace conelab::desktop {
namespace {

constexpr std::int64_t largest_sample = 512;

std::int64_t shrunk(std::int64_t n, int level) {
  return (n + (std::int64_t{1} << level) - 1) >> level;
}

/// Returns how many rows a pass computes at once: a whole number of base cells, about a million
/// cells.
std::int64_t block_rows(std::int64_t columns, int base_level) {
  const std::int64_t step = std::int64_t{1} << base_level;
  const std::int64_t rows =
      std::clamp<std::int64_t>((1 << 20) / std::max<std::int64_t>(columns, 1), 16, 256);
  return std::max(step, rows / step * step);
}

}  // namespace

MapPyramid::MapPyramid(std::shared_ptr<MatrixSource> source, std::int64_t largest_side)
    : source_(std::move(source)),
      rows_(source_->rows()),
      columns_(source_->columns()),
      by_magnitude_(source_->pools_by_magnitude()) {
  const std::int64_t longest = std::max(rows(), columns());
  while (shrunk(longest, base_level_) > largest_side) ++base_level_;
  for (int level = base_level_;; ++level) {
    Level l{shrunk(rows(), level), shrunk(columns(), level), {}};
    const bool last = l.rows <= 1 && l.columns <= 1;
    coarse_.push_back(std::move(l));
    if (last) break;
  }
  exact_ = MapSummary(rows(), columns(), source_->holds_weights());
  exact_.excluded = source_->excluded();
  summary_ = exact_;
}

// ---- filling ------------------------------------------------------------------------------------

/// Called in the job that fills the pyramid, because allocating tens of megabytes takes time.
void MapPyramid::allocate_levels() {
  std::vector<std::vector<float>> cells;
  for (const Level& l : coarse_) {
    cells.emplace_back(static_cast<std::size_t>(l.rows * l.columns), masked_cell);
  }
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < cells.size(); ++i) coarse_[i].cells = std::move(cells[i]);
}

bool MapPyramid::fill_sample() {
  if (base_level_ == 0) return false;
  int level = base_level_;
  while (shrunk(std::max(rows(), columns()), level) > largest_sample) ++level;
  std::vector<float> cells = source_->sample(std::int64_t{1} << level);
  if (cells.empty()) return false;
  MapSummary found = exact_;  // It is empty at this point.
  for (const float v : cells) {
    if (is_masked(v) || std::isnan(v)) continue;
    found.limits.include({v, v});
    if (v > 0) found.positive_limits.include({v, v});
    found.sorted_sample.push_back(v);
  }
  std::ranges::sort(found.sorted_sample);
  const std::lock_guard lock(mutex_);
  sample_ = {shrunk(rows(), level), shrunk(columns(), level), std::move(cells)};
  sample_level_ = level;
  summary_ = std::move(found);
  ++revision_;
  return true;
}

void MapPyramid::fill(const Execution& execution) {
  allocate_levels();
  source_->prepare(execution);
  const std::int64_t block = block_rows(columns(), base_level_);
  const std::int64_t blocks = (rows() + block - 1) / block;
  // Blocks are computed in parallel and added in order.
  constexpr std::int64_t wide = 4;
  Execution quiet = execution;
  quiet.progress = nullptr;
  for (std::int64_t first = 0; first < blocks; first += wide) {
    const std::int64_t count = std::min(wide, blocks - first);
    std::vector<MapBlock> done(static_cast<std::size_t>(count));
    run_tasks(count, quiet, [&](std::int64_t task, const auto&) {
      const std::int64_t begin = (first + task) * block;
      done[static_cast<std::size_t>(task)] =
          map_block(*source_, begin, std::min(begin + block, rows()), base_level_);
    });
    for (const MapBlock& part : done) take(part);
    if (execution.progress) {
      execution.progress(static_cast<double>(rows_done_) / static_cast<double>(rows()));
    }
  }
}

/// Work on data of the job alone is done before the lock is taken, because the window waits for it.
void MapPyramid::take(const MapBlock& block) {
  exact_.add(block);
  const bool whole = block.row_end == rows();
  for (auto* sample : {&exact_.sorted_sample, &exact_.sorted_row_sample}) {
    if (whole) std::ranges::sort(*sample);
  }
  const std::lock_guard lock(mutex_);
  Level& base = coarse_.front();
  std::copy(block.cells.begin(), block.cells.end(),
            base.cells.begin() + (block.row_begin >> base_level_) * base.columns);
  pool_upwards(block.row_begin >> base_level_, shrunk(block.row_end, base_level_));
  summary_.row_entropy = exact_.row_entropy;
  summary_.row_largest = exact_.row_largest;
  summary_.column_sum = exact_.column_sum;
  summary_.limits.include(exact_.limits);
  summary_.positive_limits.include(exact_.positive_limits);
  rows_done_ = block.row_end;
  if (whole) summary_ = exact_;
  ++revision_;
}

void MapPyramid::pool_upwards(std::int64_t begin, std::int64_t end) {
  for (std::size_t l = 1; l < coarse_.size(); ++l) {
    const Level& below = coarse_[l - 1];
    Level& level = coarse_[l];
    begin >>= 1, end = (end + 1) >> 1;
    for (std::int64_t r = begin; r < end; ++r) {
      for (std::int64_t c = 0; c < level.columns; ++c) {
        float cell = masked_cell;
        for (std::int64_t i = 2 * r; i < std::min(2 * r + 2, below.rows); ++i) {
          for (std::int64_t k = 2 * c; k < std::min(2 * c + 2, below.columns); ++k) {
            cell = pooled_cell(cell, below.cells[static_cast<std::size_t>(i * below.columns + k)],
                               by_magnitude_);
          }
        }
        level.cells[static_cast<std::size_t>(r * level.columns + c)] = cell;
      }
    }
  }
}

// ---- tiles --------------------------------------------------------------------------------------

void MapPyramid::compute_tile(const TileKey& key) {
  const std::int64_t step = std::int64_t{1} << key.level;
  const std::int64_t first_row = key.row * tile_side * step;
  const std::int64_t column = key.column * tile_side * step;
  const std::int64_t column_end = std::min(column + tile_side * step, columns());
  std::vector<float> cells(tile_side * tile_side, masked_cell);
  std::vector<float> strip;
  // Strips of 256 rows keep the memory small at every level.
  for (std::int64_t begin = first_row; begin < std::min(first_row + tile_side * step, rows());
       begin += tile_side) {
    const std::int64_t end = std::min({begin + tile_side, first_row + tile_side * step, rows()});
    strip.resize(static_cast<std::size_t>((end - begin) * (column_end - column)));
    source_->cells({begin, end, column, column_end}, strip.data());
    for (std::int64_t r = begin; r < end; ++r) {
      const float* in = strip.data() + (r - begin) * (column_end - column);
      float* out = cells.data() + ((r - first_row) >> key.level) * tile_side;
      for (std::int64_t c = 0; c < column_end - column; ++c) {
        out[c >> key.level] = pooled_cell(out[c >> key.level], in[c], by_magnitude_);
      }
    }
  }
  const std::lock_guard lock(mutex_);
  if (tiles_.contains(key)) return;
  while (tiles_.size() >= most_tiles) {
    tiles_.erase(recent_.front());
    recent_.pop_front();
  }
  recent_.push_back(key);
  tiles_[key] = {std::move(cells), std::prev(recent_.end())};
  ++revision_;
}

bool MapPyramid::has_tile(const TileKey& key) const {
  const std::lock_guard lock(mutex_);
  return tiles_.contains(key);
}

// ---- reading ------------------------------------------------------------------------------------

void MapPyramid::read_row(int level, std::int64_t row, std::int64_t column, std::int64_t count,
                          float* out) const {
  const std::lock_guard lock(mutex_);
  if (level >= base_level_) return read_coarse(level, row, column, count, out);
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t c = column + done, within = c % tile_side;
    const std::int64_t piece = std::min(count - done, tile_side - within);
    const auto found = tiles_.find({level, row / tile_side, c / tile_side});
    if (found != tiles_.end()) {
      recent_.splice(recent_.end(), recent_, found->second.used);
      std::copy_n(found->second.cells.data() + row % tile_side * tile_side + within, piece,
                  out + done);
    } else {
      const int up = base_level_ - level;
      std::vector<float> coarse(static_cast<std::size_t>(piece));
      const std::int64_t first = c >> up, last = (c + piece - 1) >> up;
      read_coarse(base_level_, row >> up, first, last - first + 1, coarse.data());
      for (std::int64_t i = 0; i < piece; ++i) {
        out[done + i] = coarse[static_cast<std::size_t>(((c + i) >> up) - first)];
      }
    }
    done += piece;
  }
}

void MapPyramid::read_coarse(int level, std::int64_t row, std::int64_t column, std::int64_t count,
                             float* out) const {
  const Level& l = coarse_[static_cast<std::size_t>(level - base_level_)];
  const bool known = (row << level) < rows_done_;
  if (!known && sample_.cells.empty()) {
    std::fill_n(out, count, masked_cell);
    return;
  }
  if (known) {
    std::copy_n(l.cells.data() + row * l.columns + column, count, out);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {  // Either of level and sample may be the finer one.
    const std::int64_t r = (row << level) >> sample_level_;
    const std::int64_t c = ((column + i) << level) >> sample_level_;
    out[i] = sample_.cells[static_cast<std::size_t>(r * sample_.columns + c)];
  }
}

MapSummary MapPyramid::summary() const {
  const std::lock_guard lock(mutex_);
  MapSummary read = summary_;
  read.revision = revision_;
  return read;
}

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
