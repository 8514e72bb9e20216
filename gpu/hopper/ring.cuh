// The barriers of a ring of stages on the device, and how a thread meets others at them.
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

/// The warpgroup of this thread. Taken from lane 0, as the compiler then knows that a warp's
/// threads agree: what follows from it lives in uniform registers.
__device__ __forceinline__ int group_of_thread() {
  return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / group_threads, 0);
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

/// Of a Machine of forward_block.h or gradient_block.h: one thread's dealings with shared memory.
template <class Block>
class RingThread {
 public:
  /// `shared` is 1024-byte aligned.
  __device__ explicit RingThread(unsigned char* shared) : shared_(shared) {}

  __device__ Barriers<Block::stages>& barriers() const {
    return *reinterpret_cast<Barriers<Block::stages>*>(shared_ + Block::barriers_at());
  }
  __device__ unsigned char* at(int byte) const { return shared_ + byte; }

  __device__ void wait(Gate gate, int stage, int parity) const {
    barrier_wait(barriers().at(gate, stage), parity);
  }
  __device__ void release(Gate gate, int stage) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(barriers().at(gate, stage));
  }
  __device__ void expect(Gate gate, int stage, int bytes) const {
    barrier_expect(barriers().at(gate, stage), bytes);
  }
  __device__ void copy(int to, const void* from, int bytes, Gate gate, int stage) const {
    bulk_copy(shared_ + to, from, bytes, barriers().at(gate, stage));
  }
  __device__ void end_reads() const { end_ordinary_reads(); }

 private:
  unsigned char* shared_;
};

}  // namespace conelab::gpu::hopper
