// Sums over the keys of each query by the class of their relative position (Problem::class_of),
// [n_q × classes] in each group.
//
// One thread adds to the sums of a row, in the order of the tiles, so that equal input gives equal
// bits. Neighbouring keys often have the same class; their sum is formed first.
#pragma once

#include "gpu/tile/pair.h"

namespace conelab::gpu {

/// Returns the sums of the row that belongs to this thread, or null if it has none.
template <class N>
CONELAB_TILE N* class_sums(int thread, const Problem<N>& p, const TilePlace& place, N* sums) {
  const int row = place.block * tile_rows + thread;
  if (thread >= tile_rows || row >= p.query.count) return nullptr;
  return sums + (static_cast<std::int64_t>(place.group) * p.query.count + row) * p.classes;
}

template <class N>
CONELAB_TILE void clear_classes(int thread, const Problem<N>& p, const TilePlace& place, N* sums) {
  N* own = class_sums(thread, p, place, sums);
  for (int c = 0; own != nullptr && c < p.classes; ++c) own[c] = N(0);
}

/// Adds SharedTile::weights of the tile. Those of pairs that are not seen must be 0.
template <class N>
CONELAB_TILE void add_classes(int thread, const Problem<N>& p, const TilePlace& place,
                              const SharedTile<N>& shared, N* sums) {
  N* own = class_sums(thread, p, place, sums);
  if (own == nullptr) return;
  const int row = place.block * tile_rows + thread;
  int open = -1;  // The class whose keys are being added.
  N sum = N(0);
  for (int c = 0; c < tile_columns; ++c) {
    const int key = shared.token[c];
    if (key >= p.key.count) continue;
    const int now = class_of(p, place.group % p.heads, row, key);
    if (now != open) {
      if (open >= 0) own[open] += sum;
      open = now;
      sum = N(0);
    }
    sum += shared.weights[c][thread];
  }
  if (open >= 0) own[open] += sum;
}

}  // namespace conelab::gpu
