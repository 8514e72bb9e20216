// How the tokens of a call are divided among ranks, so that results do not depend on their number.
//
// Queries and keys are cut into m blocks whose borders depend on the lengths alone. Block p and its
// mirror image m - 1 - p are a slab, p < (m + 1) / 2. A rank has consecutive slabs, and so two runs
// of consecutive tokens. Under a causal mask the queries of every slab see equally many pairs of
// every other slab: two of the four pairs of blocks. So all ranks are equally busy at every step
// ("zigzag" in ring-flash-attention).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/rows.h"

namespace conelab {

class Blocks {
 public:
  /// Tokens of a block, for which a pass costs far more than a call of the engine.
  static constexpr std::int64_t usual_tokens = 1024;
  static constexpr std::int64_t least_blocks = 16, most_blocks = 512;

  Blocks(std::int64_t queries, std::int64_t keys, int ranks)
      : queries_(queries), keys_(keys), count_(number_of_blocks(std::max(queries, keys))) {
    active_ = std::min<std::int64_t>(ranks, slabs());
  }

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t slabs() const { return (count_ + 1) / 2; }
  /// Return the tokens of a block. Of the shorter sequence they may be none.
  [[nodiscard]] Rows queries(std::int64_t block) const { return part(queries_, block); }
  [[nodiscard]] Rows keys(std::int64_t block) const { return part(keys_, block); }
  /// Returns the one or two blocks of a slab, in ascending order.
  [[nodiscard]] std::vector<std::int64_t> of_slab(std::int64_t slab) const {
    const std::int64_t mirrored = count_ - 1 - slab;
    return mirrored == slab ? std::vector{slab} : std::vector{slab, mirrored};
  }
  /// Returns the slabs [begin, end) of a rank: none of ranks beyond the number of slabs.
  [[nodiscard]] Rows slabs_of(int rank) const {
    const auto border = [&](std::int64_t r) { return std::min(r, active_) * slabs() / active_; };
    return {border(rank), border(rank + std::int64_t{1})};
  }
  [[nodiscard]] int owner(std::int64_t slab) const {
    int rank = static_cast<int>(slab * active_ / slabs());
    while (slabs_of(rank).end <= slab) ++rank;
    return rank;
  }
  [[nodiscard]] int owner_of_block(std::int64_t block) const {
    return owner(std::min(block, count_ - 1 - block));
  }
  /// Returns the blocks of a rank in ascending order.
  [[nodiscard]] std::vector<std::int64_t> of_rank(int rank) const {
    const Rows own = slabs_of(rank);
    std::vector<std::int64_t> blocks;
    for (std::int64_t s = own.begin; s < own.end; ++s) blocks.push_back(s);
    for (std::int64_t s = own.end; s-- > own.begin;) {
      if (count_ - 1 - s != s) blocks.push_back(count_ - 1 - s);
    }
    return blocks;
  }
  /// Returns the runs of a rank's tokens in a sequence of `tokens`, which is that of the queries or
  /// of the keys.
  [[nodiscard]] std::vector<Rows> tokens_of_rank(int rank, std::int64_t tokens) const {
    std::vector<Rows> runs;
    for (const std::int64_t block : of_rank(rank)) {
      const Rows next = part(tokens, block);
      if (!runs.empty() && runs.back().end == next.begin) {
        runs.back().end = next.end;
      } else {
        runs.push_back(next);
      }
    }
    return runs.empty() ? std::vector{Rows{}} : runs;
  }

 private:
  std::int64_t queries_, keys_, count_, active_ = 1;

  static std::int64_t number_of_blocks(std::int64_t tokens) {
    const std::int64_t wanted = (tokens + usual_tokens - 1) / usual_tokens;
    return std::clamp<std::int64_t>(std::min(tokens, std::max(wanted, least_blocks)), 1,
                                    most_blocks);
  }
  [[nodiscard]] Rows part(std::int64_t tokens, std::int64_t block) const {
    return {block * tokens / count_, (block + 1) * tokens / count_};
  }
};

}  // namespace conelab
