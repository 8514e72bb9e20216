// A large matrix at every zoom: coarse levels kept whole, fine ones as tiles on demand.
//
// At level l a cell stands for a block of 2^l × 2^l cells and holds the block's largest value, of a
// difference that of largest magnitude (NaN where any is NaN, masked where all are), so that a
// single bright cell is seen from any distance. Levels from `base_level` on (at most 2048 cells a
// side) are filled by one pass over the matrix, block of rows by block of rows, which also gives
// each row's entropy and each column's sum; levels below are tiles of 256 × 256 cells, computed
// where they are looked at and dropped when they have not been looked at for long. No array of the
// whole matrix exists unless it is small.
//
// Threads: one thread fills, any thread may read; a lock is held for short copies only.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "widgets/maps/map_summary.h"

namespace conelab::desktop {

inline constexpr std::int64_t largest_whole_level = 2048;
inline constexpr std::int64_t tile_side = 256;

struct TileKey {
  int level = 0;
  std::int64_t row = 0, column = 0;  ///< In tiles.
  auto operator<=>(const TileKey&) const = default;
};

class MapPyramid {
 public:
  /// Levels of at most `largest_side` cells a side are kept whole.
  explicit MapPyramid(std::shared_ptr<MatrixSource> source,
                      std::int64_t largest_side = largest_whole_level);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] const MatrixSource& source() const { return *source_; }
  [[nodiscard]] const std::shared_ptr<MatrixSource>& shared_source() const { return source_; }
  [[nodiscard]] int base_level() const { return base_level_; }
  [[nodiscard]] int levels() const { return base_level_ + static_cast<int>(coarse_.size()); }

  /// The quick picture of a large matrix before anything is exact; nothing for a small one.
  void fill_sample();
  /// The whole pass: prepares the source and fills what is kept. Throws interrupted on `cancelled`.
  void fill(const Execution& execution);
  /// Computes a tile of a level below base_level and keeps it.
  void compute_tile(const TileKey& key);
  /// Lets go of the source, and with it of the tensors it computes from: what is there stays, and
  /// nothing can be computed any more.
  void drop_source() { source_.reset(); }
  [[nodiscard]] bool has_tile(const TileKey& key) const;

  /// True once `fill` has ended; before, rows from `rows_done` on are a sample or unknown (NaN is
  /// not used for that: unknown cells read as masked).
  [[nodiscard]] bool complete() const { return rows_done_ >= rows(); }
  [[nodiscard]] std::int64_t rows_done() const { return rows_done_; }
  /// Counts changes, so that views know when to paint again.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

  /// Cells [column, column + count) of a row of a level into `out`, from that level where it is
  /// there, else from the coarser ones.
  void read_row(int level, std::int64_t row, std::int64_t column, std::int64_t count,
                float* out) const;
  [[nodiscard]] MapSummary summary() const;

 private:
  struct Level {
    std::int64_t rows = 0, columns = 0;
    std::vector<float> cells;  ///< Empty until `fill`.
  };
  struct Tile {
    std::vector<float> cells;  ///< [tile_side × tile_side]
    std::list<TileKey>::iterator used;
  };
  /// 256 MB of tiles at most.
  static constexpr std::size_t most_tiles = 1024;

  void make_room();
  void take(const MapBlock& block);
  void pool_upwards(std::int64_t begin, std::int64_t end);
  void read_coarse(int level, std::int64_t row, std::int64_t column, std::int64_t count,
                   float* out) const;

  std::shared_ptr<MatrixSource> source_;
  std::int64_t rows_ = 0, columns_ = 0;
  bool difference_ = false;
  int base_level_ = 0;
  std::vector<Level> coarse_;  ///< Levels base_level, base_level + 1, …
  Level sample_;
  int sample_level_ = 0;
  std::map<TileKey, Tile> tiles_;
  mutable std::list<TileKey> recent_;  ///< Least recently used first.
  MapSummary summary_;                 ///< What is shown: with the sample until all is exact.
  MapSummary exact_;
  mutable std::mutex mutex_;
  std::atomic<std::int64_t> rows_done_{0};
  std::atomic<std::uint64_t> revision_{0};
};

}  // namespace conelab::desktop
