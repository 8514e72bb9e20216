// A large matrix at every zoom: coarse levels are stored completely, fine levels as tiles on
// demand.
//
// At level l a cell represents a block of 2^l × 2^l cells. It holds the largest logit of the block,
// or of weights and differences the value of largest magnitude; NaN if one cell is NaN, masked if
// all are. A single bright cell is therefore visible at every zoom. Levels from `base_level` on (at
// most 2048 cells a side) are filled by one pass over the matrix, one block of rows after the
// other, which also yields the entropy of each row and the sum of each column. Lower levels consist
// of tiles of 256 × 256 cells; a tile is computed when it is visible and deleted when it has not
// been used for long. An array of the whole matrix exists only if the matrix is small.
//
// Threads: one thread fills the pyramid, any thread may read. A lock is held for short copies only.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/figure/heat_values.h"
#include "core/trace/matrix_source.h"

namespace conelab::desktop {

// The summary that one pass over a matrix computes: pooled cells, limits, entropies and sums.

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
  std::int64_t excluded = 0;   ///< Cells of special tokens; they count as masked.
  std::uint64_t revision = 0;  ///< That of the pyramid when the summary was read.

  /// Returns whether weights have signs, so that they are no shares and have no entropy.
  [[nodiscard]] bool is_signed() const { return !row_entropy.empty() && limits.low < 0; }
};

inline constexpr std::int64_t largest_whole_level = 2048;
inline constexpr std::int64_t tile_side = 256;

struct TileKey {
  int level = 0;
  std::int64_t row = 0, column = 0;  ///< In units of tiles.
  auto operator<=>(const TileKey&) const = default;
};

class MapPyramid {
 public:
  /// Levels of at most `largest_side` cells a side are stored completely.
  explicit MapPyramid(std::shared_ptr<MatrixSource> source,
                      std::int64_t largest_side = largest_whole_level);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] const MatrixSource& source() const { return *source_; }
  [[nodiscard]] const std::shared_ptr<MatrixSource>& shared_source() const { return source_; }
  [[nodiscard]] int base_level() const { return base_level_; }
  [[nodiscard]] int levels() const { return base_level_ + static_cast<int>(coarse_.size()); }

  /// Computes a quick picture of a large matrix from a sample. Does nothing for a small one, or if
  /// its source cannot be sampled; returns whether there is a picture.
  bool fill_sample();
  /// Runs the complete pass: prepares the source and fills the stored levels. Throws interrupted if
  /// `execution` is cancelled.
  void fill(const Execution& execution);
  /// Computes and stores a tile of a level below base_level.
  void compute_tile(const TileKey& key);
  /// Releases the source, the tensors that it uses, and the summary. Stored cells remain; nothing
  /// can be computed afterwards.
  void drop_source() { source_.reset(), summary_ = exact_ = {}; }
  [[nodiscard]] bool has_tile(const TileKey& key) const;

  /// Returns whether `fill` has ended. Before that, rows from `rows_done` on are from the sample or
  /// unknown; unknown cells read as masked, not as NaN.
  [[nodiscard]] bool complete() const { return rows_done_ >= rows(); }
  [[nodiscard]] std::int64_t rows_done() const { return rows_done_; }
  /// Returns a number that grows with each change, so that views know when to repaint.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

  /// Copies the cells [column, column + count) of a row of a level to `out`. Cells that this level
  /// does not have are taken from coarser levels.
  void read_row(int level, std::int64_t row, std::int64_t column, std::int64_t count,
                float* out) const;
  [[nodiscard]] MapSummary summary() const;

 private:
  struct Level {
    std::int64_t rows = 0, columns = 0;
    std::vector<float> cells;  ///< [rows × columns]; empty until `fill`.
  };
  struct Tile {
    std::vector<float> cells;  ///< [tile_side × tile_side]
    std::list<TileKey>::iterator used;
  };
  /// Tiles use at most 256 MB.
  static constexpr std::size_t most_tiles = 1024;

  void allocate_levels();
  void take(const MapBlock& block);
  void pool_upwards(std::int64_t begin, std::int64_t end);
  void read_coarse(int level, std::int64_t row, std::int64_t column, std::int64_t count,
                   float* out) const;

  std::shared_ptr<MatrixSource> source_;
  std::int64_t rows_ = 0, columns_ = 0;
  bool by_magnitude_ = false;
  int base_level_ = 0;
  std::vector<Level> coarse_;  ///< Levels base_level, base_level + 1, …
  Level sample_;
  int sample_level_ = 0;
  std::map<TileKey, Tile> tiles_;
  mutable std::list<TileKey> recent_;  ///< The least recently used tile is first.
  MapSummary summary_;                 ///< The summary shown; includes the sample until complete.
  MapSummary exact_;
  mutable std::mutex mutex_;
  std::atomic<std::int64_t> rows_done_{0};
  std::atomic<std::uint64_t> revision_{0};
};

}  // namespace conelab::desktop
