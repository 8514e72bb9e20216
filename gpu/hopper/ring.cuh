// The ring of stages between the copying warpgroup and those that consume.
#pragma once

#include "gpu/hopper/ptx.cuh"

namespace conelab::gpu::hopper {

template <int stages>
struct Barriers {
  std::uint64_t query;
  std::uint64_t key[stages], value[stages];  ///< The copy has arrived.
  std::uint64_t empty[stages];               ///< Every consumer is done with it.
};

/// A position in the ring of stages.
template <int stages>
struct Ring {
  int stage = 0;
  int parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage < stages) return;
    stage = 0;
    parity ^= 1;
  }
};

/// One thread initialises; the caller lets all threads meet afterwards.
template <int stages>
__device__ __forceinline__ void init_barriers(Barriers<stages>& barriers, int consumers) {
  if (threadIdx.x != 0) return;
  barrier_init(&barriers.query, 1);
  for (int s = 0; s < stages; ++s) {
    barrier_init(&barriers.key[s], 1);
    barrier_init(&barriers.value[s], 1);
    barrier_init(&barriers.empty[s], consumers * 4);  // one lane of every warp
  }
  barrier_init_fence();
}

/// Lets the threads of one consumer meet.
__device__ __forceinline__ void group_barrier(int consumer) {
  asm volatile("bar.sync %0, %1;" ::"r"(consumer + 1), "n"(group_threads) : "memory");
}

}  // namespace conelab::gpu::hopper
