// The barriers of a ring of stages on the device, and what one thread does with them.
#pragma once

#include "gpu/hopper/ptx.cuh"
#include "gpu/hopper/ring.h"

namespace conelab::gpu::hopper {

/// Initialises the barriers in thread 0. The caller synchronises all threads afterwards.
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

/// Returns the warpgroup of this thread. It is taken from lane 0, so that the compiler knows that
/// the threads of a warp agree, and keeps what depends on it in uniform registers.
__device__ __forceinline__ int group_of_thread() {
  return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / group_threads, 0);
}

/// Synchronises the threads of one consumer.
__device__ __forceinline__ void group_barrier(int consumer) {
  asm volatile("bar.sync %0, %1;" ::"r"(consumer + 1), "n"(group_threads) : "memory");
}

/// Waits until the other of two consumers has passed the turn to this one (PTX ISA, bar.arrive).
__device__ __forceinline__ void await_turn(int consumer) {
  asm volatile("bar.sync %0, %1;" ::"r"(consumer + 3), "n"(2 * group_threads) : "memory");
}
/// Passes the turn to `consumer`.
__device__ __forceinline__ void pass_turn_to(int consumer) {
  asm volatile("bar.arrive %0, %1;" ::"r"(consumer + 3), "n"(2 * group_threads) : "memory");
}

/// The part of a Machine of forward_block.h and gradient_block.h that concerns shared memory, for
/// one thread.
template <class Block>
class RingThread {
 public:
  /// `shared` must be aligned to 1024 bytes.
  __device__ explicit RingThread(unsigned char* shared) : shared_(shared) {}

  __device__ Barriers<Block::stages>& barriers() const {
    return *reinterpret_cast<Barriers<Block::stages>*>(shared_ + Block::barriers_at());
  }
  __device__ unsigned char* at(int byte) const { return shared_ + byte; }

  __device__ void wait(Gate gate, int stage, int parity) const {
    barrier_wait(barriers().at(gate, stage), parity);
  }
  /// Arrives for this warp.
  ///
  /// This orders a warp's last ordinary read of a stage before the producer's next copy into it:
  /// each thread executes `end_reads`, a fence between ordinary accesses and copies, after its last
  /// read; __syncwarp orders the fences of all lanes before the arrival of lane 0, which releases;
  /// the producer's `wait` for the phase that this arrival completes acquires, and it copies after
  /// that. In the forward kernel the last reads are those of `score`, and the fence and the release
  /// follow at once. In the backward kernels they are those of `differentiate`; the fence ends
  /// `meet`, and the release follows in the next `finish`. Both kernels read by the same
  /// instruction, LDS, and in the machine code of both, MEMBAR.ALL.CTA and FENCE.VIEW.ASYNC.S stand
  /// between the last LDS of a tile and the arrival. Products read a stage until `finish` has
  /// waited for them, which precedes the release.
  ///
  /// The racecheck tool of compute-sanitizer reported the backward kernels nevertheless, and not
  /// the forward kernel; why is not explained. It reported copies and later reads, also of the own
  /// tiles, which are copied once in a block and read only after the wait for that copy, so that
  /// nothing can race there. One difference is known: with the 130 tokens of that run the forward
  /// kernel filled no stage twice, as it has two tiles of 128 keys in two stages, while the
  /// backward kernels had three tiles. That run therefore says nothing about the forward kernel's
  /// releases.
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
