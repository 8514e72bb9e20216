// The pairs that a block of the portable kernels visits: its rows with the tokens of the other
// side, in tiles of 64.
//
// Without a mask that has holes these are the tokens of a range. Otherwise they are the entries of
// the block's list (PairLists), gathered from anywhere: memory and time follow the pairs of a
// sparse mask, and a tile's arithmetic is that of any other.
#pragma once

#include "gpu/tile/product.h"

namespace conelab::gpu {

/// The tokens [begin, end), or those of the entries [begin, end) of a list.
struct Visit {
  int begin, end;
  bool listed;
  const int* token = nullptr;           ///< PairLists::token
  const std::uint64_t* rows = nullptr;  ///< PairLists::rows
};

/// Returns what a block of `owner`'s tokens visits.
template <Owner owner, class N>
CONELAB_TILE Visit visit_of(const Problem<N>& p, int group, int block) {
  const int rows = owner == Owner::query ? p.query.count : p.key.count;
  if (p.lists > 0) {
    const PairLists list = owner == Owner::query ? p.query_lists : p.key_lists;
    const int own = p.lists == p.groups ? group : group / p.heads % p.lists;
    const int* first = list.first + own * ceil_div(rows, tile_rows) + block;
    return {first[0], first[1], true, list.token, list.rows};
  }
  if (owner == Owner::key) return {0, p.query.count, false};
  const KeySpan span = p.block_span[group / p.heads * ceil_div(rows, tile_rows) + block].any;
  return {span.begin / tile_columns * tile_columns, span.end, false};
}

/// Returns whether the block may see a pair of the tile that begins at `at`.
template <Owner owner, class N>
CONELAB_TILE bool meets(const Problem<N>& p, const Visit& visit, int batch, int block, int at) {
  if (owner == Owner::query || visit.listed) return true;
  const int query_block = batch * ceil_div(p.query.count, tile_rows) + at / tile_rows;
  const KeySpan span = p.block_span[query_block].any;
  const int key = block * tile_rows;
  return span.begin < key + tile_rows && key < span.end;
}

/// Finds the tokens of the tile that begins at `at`.
template <class N>
CONELAB_TILE void find_tokens(int thread, const Visit& visit, int at, SharedTile<N>& shared) {
  if (thread >= tile_columns) return;
  const int entry = at + thread;
  const bool inside = entry < visit.end;
  const bool listed = inside && visit.listed;
  shared.token[thread] = listed ? visit.token[entry] : inside ? entry : past_end;
  shared.seen[thread] = listed ? visit.rows[entry] : 0;
}

/// Returns whether every pair of the tile that begins at `at` is seen, and none lies beyond the
/// last query or key.
template <Owner owner, class N>
CONELAB_TILE bool is_whole(const Problem<N>& p, const Visit& visit, int batch, int block, int at) {
  if (visit.listed) return false;
  const int query_block = owner == Owner::query ? block : at / tile_rows;
  const int key = owner == Owner::query ? at : block * tile_rows;
  if ((query_block + 1) * tile_rows > p.query.count) return false;
  const KeySpan all = p.block_span[batch * ceil_div(p.query.count, tile_rows) + query_block].all;
  return all.begin <= key && key + tile_rows <= all.end;
}

/// Returns whether the query of a pair sees its key; false beyond the last query or key. The pair
/// is at row r and column c of the tile.
template <Owner owner, class N>
CONELAB_TILE bool sees(const Problem<N>& p, const Visit& visit, const SharedTile<N>& shared,
                       int batch, int block, int r, int c) {
  const int row = block * tile_rows + r, column = shared.token[c];
  const int query = owner == Owner::query ? row : column;
  const int key = owner == Owner::query ? column : row;
  if (query >= p.query.count || key >= p.key.count) return false;
  if (visit.listed) return (shared.seen[c] >> r & 1) != 0;
  const KeySpan span = p.span[static_cast<std::int64_t>(batch) * p.query.count + query];
  return key >= span.begin && key < span.end;
}

/// Returns the place of a thread's element [i][j] in a mask of its pairs.
CONELAB_TILE constexpr int bit_of(int i, int j) { return j * row_share + i; }

/// Returns a mask of the thread's pairs that are seen.
template <Owner owner, class N>
CONELAB_TILE std::uint32_t seen_pairs(const Problem<N>& p, const Visit& visit,
                                      const SharedTile<N>& shared, int batch, int block,
                                      int thread) {
  std::uint32_t seen = 0;
#pragma unroll 1
  for (int j = 0; j < column_share; ++j) {
    for (int i = 0; i < row_share; ++i) {
      const bool sees_it =
          sees<owner>(p, visit, shared, batch, block, row_of(thread, i), column_of(thread, j));
      seen |= static_cast<std::uint32_t>(sees_it) << bit_of(i, j);
    }
  }
  return seen;
}

}  // namespace conelab::gpu
