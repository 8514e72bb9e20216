// The graph of SegTree-Transformer: a binary tree over a sequence of n tokens, and which cells of
// the tree each cell sees. Only the number of cells of each level is stored.
//
// Cell (j, v) of level j = 0 ... ceil(log2 n) contains the tokens v 2^j ... min((v + 1) 2^j, n) -
// 1. The tokens themselves are the cells (0, i). The last level has one cell, the root. Cells are
// numbered from level 0 upwards, so that the first n are the tokens. The edges are:
//
//   every cell sees itself;
//   cell (j, v), j >= 1, sees all its tokens;
//   token i sees at every level j, with v = floor(i / 2^j),
//     left, if v >= 1:  (j, v - 1), or (j - 1, 2v - 2) if j >= 1 and bit j - 1 of i is 0
//     right:            (j, v + 1), or (j - 1, 2v + 3) if j >= 1 and bit j - 1 of i is 1, unless
//                       that cell contains no token; a causal tree has no right edges.
//
// The cells that a token sees are adjacent. Together with the token they divide the sequence, or
// its past under the causal mask, into parts that grow with their distance. Graph and update follow
// the authors' code, segtree-transformer-v0 (graphbuilder).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace conelab {

class SegmentTree {
 public:
  struct Cell {
    int level;
    std::int64_t place;  ///< v above.
  };
  /// The tokens first ... last - 1.
  struct Tokens {
    std::int64_t first, last;
  };

  /// n must be at least 1.
  SegmentTree(std::int64_t n, bool causal) : n_(n), causal_(causal) {
    const int top = std::bit_width(static_cast<std::uint64_t>(n - 1));
    for (int level = 0; level <= top; ++level) {
      first_.push_back(level == 0 ? 0 : first_.back() + cells_of(level - 1));
    }
  }

  [[nodiscard]] std::int64_t tokens() const { return n_; }
  [[nodiscard]] std::int64_t cells() const { return first_.back() + 1; }
  [[nodiscard]] int levels() const { return static_cast<int>(first_.size()); }
  /// Returns the number of the level's first cell, and the number of cells for a level above the
  /// root's.
  [[nodiscard]] std::int64_t first_of(int level) const {
    return level < levels() ? first_[static_cast<std::size_t>(level)] : cells();
  }

  [[nodiscard]] std::int64_t number(Cell cell) const { return first_of(cell.level) + cell.place; }
  [[nodiscard]] Cell cell(std::int64_t number) const {
    const auto above = std::upper_bound(first_.begin(), first_.end(), number);
    const int level = static_cast<int>(above - first_.begin()) - 1;
    return {level, number - first_of(level)};
  }
  [[nodiscard]] Tokens tokens_of(Cell cell) const {
    return {cell.place << cell.level, std::min((cell.place + 1) << cell.level, n_)};
  }

  /// Calls `visit(number)` for every cell that a token sees, except itself.
  template <class Visit>
  void for_seen(std::int64_t token, const Visit& visit) const {
    for (int j = 0; j < levels(); ++j) {
      const std::int64_t v = token >> j;
      const bool is_second = j > 0 && (token >> (j - 1)) % 2 != 0;
      const Cell left = j == 0 || is_second ? Cell{j, v - 1} : Cell{j - 1, 2 * v - 2};
      const Cell right = is_second ? Cell{j - 1, 2 * v + 3} : Cell{j, v + 1};
      if (v >= 1) visit(number(left));
      if (!causal_ && right.place < cells_of(right.level)) visit(number(right));
    }
  }
  /// Returns the tokens to the right of a cell that see it by a left edge.
  [[nodiscard]] Tokens seen_from_right(Cell c) const {
    const std::int64_t size = std::int64_t{1} << c.level;
    return clipped((c.place + 1) * size + size / 2, (c.place + (c.place % 2 == 0 ? 3 : 2)) * size);
  }
  /// Returns the tokens to the left of a cell that see it by a right edge.
  [[nodiscard]] Tokens seen_from_left(Cell c) const {
    if (causal_ || c.place == 0) return {0, 0};
    const std::int64_t size = std::int64_t{1} << c.level;
    const bool reaches_further = c.place % 2 != 0 && c.place > 1;
    return clipped((c.place - (reaches_further ? 2 : 1)) * size,
                   (c.place - 1) * size + std::max<std::int64_t>(1, size / 2));
  }
  /// Calls `visit(number)` for the cells above level 0 that contain the token.
  template <class Visit>
  void for_holders(std::int64_t token, const Visit& visit) const {
    for (int j = 1; j < levels(); ++j) visit(number({j, token >> j}));
  }

  /// Returns the number of edges: 3 n log2 n + 1 if n is a power of two, n (2 log2 n + 1) if
  /// causal.
  [[nodiscard]] double edges() const {
    auto sum = static_cast<double>(cells()) + static_cast<double>(n_) * (levels() - 1);
    for (int j = 0; j < levels(); ++j) {
      const std::int64_t half = j == 0 ? 1 : std::int64_t{1} << (j - 1);
      const std::int64_t right = j == 0 ? n_ - 1 : half * (((n_ - 1) >> (j - 1)) - 1);
      sum += static_cast<double>(std::max<std::int64_t>(0, n_ - (std::int64_t{1} << j)));
      if (!causal_) sum += static_cast<double>(std::max<std::int64_t>(0, right));
    }
    return sum;
  }

 private:
  std::int64_t n_;
  bool causal_;
  std::vector<std::int64_t> first_;  ///< [levels] Number of the first cell of each level.

  [[nodiscard]] std::int64_t cells_of(int level) const {
    return (n_ + (std::int64_t{1} << level) - 1) >> level;
  }
  [[nodiscard]] Tokens clipped(std::int64_t first, std::int64_t last) const {
    return {std::min(first, n_), std::min(last, n_)};
  }
};

}  // namespace conelab
