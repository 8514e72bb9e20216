// The barriers of a ring of stages on the device.
#pragma once

#include "gpu/hopper/ptx.cuh"
#include "gpu/hopper/ring.h"

namespace conelab::gpu::hopper {

/// One thread initialises; the caller lets all threads meet afterwards.
template <int stages>
__device__ __forceinline__ void init_barriers(Barriers<stages>& barriers, int consumers) {
  if (threadIdx.x != 0) return;
  barrier_init(&barriers.query, arrivals(Gate::query, consumers));
  for (int s = 0; s < stages; ++s) {
    for (const Gate gate : {Gate::key, Gate::value, Gate::key_empty, Gate::value_empty}) {
      barrier_init(barriers.at(gate, s), arrivals(gate, consumers));
    }
  }
  barrier_init_fence();
}

/// Lets the threads of one consumer meet.
__device__ __forceinline__ void group_barrier(int consumer) {
  asm volatile("bar.sync %0, %1;" ::"r"(consumer + 1), "n"(group_threads) : "memory");
}

/// One of two consumers waits until the other has passed it the turn; see bar.arrive.
__device__ __forceinline__ void await_turn(int consumer) {
  asm volatile("bar.sync %0, %1;" ::"r"(consumer + 3), "n"(2 * group_threads) : "memory");
}
__device__ __forceinline__ void pass_turn_to(int consumer) {
  asm volatile("bar.arrive %0, %1;" ::"r"(consumer + 3), "n"(2 * group_threads) : "memory");
}

}  // namespace conelab::gpu::hopper
