// The ring of stages in shared memory through which the producer hands tiles to the consumers.
#pragma once

#include <cstdint>

#include "gpu/tile/block.h"

namespace conelab::gpu::hopper {

/// Holds what a barrier in shared memory stands for: a copy has arrived (query, key, value), or
/// every consumer has released the stage (key_empty, value_empty). The backward kernels have the
/// own tiles in the place of queries and the other side in that of keys.
enum class Gate { query, key, value, key_empty, value_empty };

/// All barriers of a block, as they lie in shared memory.
template <int stages>
struct Barriers {
  std::uint64_t query;
  std::uint64_t key[stages], value[stages], key_empty[stages], value_empty[stages];

  /// Returns the barrier of a stage; there is one for queries, whatever the stage.
  CONELAB_TILE std::uint64_t* at(Gate gate, int stage) {
    switch (gate) {
      case Gate::query:
        return &query;
      case Gate::key:
        return &key[stage];
      case Gate::value:
        return &value[stage];
      case Gate::key_empty:
        return &key_empty[stage];
      default:
        return &value_empty[stage];
    }
  }
};

/// Returns the arrivals that complete a barrier's phase: one of the copying thread, or one of each
/// warp of every consumer.
CONELAB_TILE constexpr int arrivals(Gate gate, int consumers) {
  return gate == Gate::key_empty || gate == Gate::value_empty ? consumers * 4 : 1;
}

/// A position in the ring: the stage, and the parity of the phase that its barriers are in.
template <int stages>
struct Ring {
  int stage = 0;
  int parity = 0;
  CONELAB_TILE void advance() {
    if (++stage < stages) return;
    stage = 0;
    parity ^= 1;
  }
};

}  // namespace conelab::gpu::hopper
