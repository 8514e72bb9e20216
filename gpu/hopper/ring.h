// The ring of stages between the copying warpgroup and those that consume, as both walk it.
#pragma once

#include <cstdint>

#include "gpu/tile/block.h"

namespace conelab::gpu::hopper {

/// The barriers in shared memory: a copy has arrived, or every consumer is done with it.
enum class Gate { query, key, value, key_empty, value_empty };

template <int stages>
struct Barriers {
  std::uint64_t query;
  std::uint64_t key[stages], value[stages], key_empty[stages], value_empty[stages];

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

/// Arrivals that complete a barrier's phase: the copying thread's, or one lane's of every
/// consuming warp.
CONELAB_TILE constexpr int arrivals(Gate gate, int consumers) {
  return gate == Gate::key_empty || gate == Gate::value_empty ? consumers * 4 : 1;
}

/// A position in the ring of stages.
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
