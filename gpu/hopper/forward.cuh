// The forward kernel of the fast path: it runs forward_block.h on the device.
#pragma once

#include "gpu/hopper/forward_block.h"
#include "gpu/hopper/numbers.h"
#include "gpu/hopper/ring.cuh"

namespace conelab::gpu::hopper {

/// The Machine of forward_block.h for one thread of the device.
template <class Block>
class ForwardThread : public RingThread<Block> {
 public:
  using Tail = typename Block::Tail;
  int consumer = 0;

  using RingThread<Block>::RingThread;
  using RingThread<Block>::at;

  template <class Work>
  __device__ __forceinline__ void each(const Work& work) {
    work(static_cast<int>(threadIdx.x) % group_threads, tail_);
  }

  /// Starts tile = queries keys^T.
  __device__ __forceinline__ void start_first(int stage) {
    const std::uint32_t query = shared_address(at(Block::query_at(consumer)));
    const std::uint32_t key = shared_address(at(Block::key_at(stage)));
    pin(tail_.tile);
    product_fence();
#pragma unroll
    for (int step = 0; step < Block::budget.width / 16; ++step) {
      Product::shared(tail_.tile, depth_descriptor(query, group_rows, step),
                      depth_descriptor(key, key_tile, step), step > 0);
    }
    product_commit();
  }

  /// Starts output += weights values.
  __device__ __forceinline__ void start_second(int stage) {
    const std::uint32_t value = shared_address(at(Block::value_at(stage)));
    pin(tail_.output);
    pin(tail_.left);
    product_fence();
#pragma unroll
    for (int step = 0; step < Tail::steps; ++step) {
      SumProduct::registers(tail_.output, tail_.left + 4 * step,
                            outer_descriptor(value, key_tile, step), 1);
    }
    product_commit();
  }

  /// Waits for products. The first product of a tile is always older than the second of the tile
  /// before, so that finish<1> completes the first.
  template <int pending>
  __device__ __forceinline__ void finish() {
    product_wait<pending>();
    pin(tail_.tile);
    if constexpr (pending == 0) {
      pin(tail_.output);
      pin(tail_.left);
    }
  }

  __device__ __forceinline__ void share_extremes() {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int lane = 1; lane < 4; lane *= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, tail_.extreme[h], lane);
        tail_.extreme[h] = Tail::farther(tail_.extreme[h], other);
      }
    }
  }
  __device__ __forceinline__ void share_sums() {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int lane = 1; lane < 4; lane *= 2) {
        tail_.sum[h] += __shfl_xor_sync(0xffffffffu, tail_.sum[h], lane);
      }
    }
  }

  __device__ void await_turn() const { hopper::await_turn(consumer); }
  __device__ void pass_turn() const { pass_turn_to(1 - consumer); }

 private:
  using Product = hopper::Product<typename Tail::Number, key_tile>;
  using SumProduct = hopper::Product<typename Tail::Number, Block::budget.width>;

  Tail tail_;
};

template <class S, class Type, int width, int consumers, int stages, bool turns, Law law>
__global__ __launch_bounds__(group_threads*(consumers + 1), 1) void fast_forward(
    const __grid_constant__ FastProblem p, const __grid_constant__ ForwardResult<float> result) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using Block = ForwardBlock<S, Type, width, consumers, stages, turns, law>;
  extern __shared__ unsigned char raw[];
  ForwardThread<Block> thread(raw + (1024 - shared_address(raw) % 1024) % 1024);
  init_barriers(thread.barriers(), consumers);
  __syncthreads();
  const auto work = Block::work_of(p.call, static_cast<int>(blockIdx.x));
  const int role = group_of_thread();
  if (role == 0) {
    give_registers<producer_registers>();
    if (threadIdx.x == 0) Block::produce(thread, p, work);
  } else {
    take_registers<consumer_registers>();
    thread.consumer = role - 1;
    Block::consume(thread, p, result, work, role - 1);
  }
#endif
}

/// Launches the kernel.
template <class S, class Type, int width, int consumers, int stages, bool turns, Law law>
void launch(const FastProblem& p, const ForwardResult<float>& result, void* stream) {
  using Block = ForwardBlock<S, Type, width, consumers, stages, turns, law>;
  const auto kernel = &fast_forward<S, Type, width, consumers, stages, turns, law>;
  constexpr int bytes = Block::budget.total();
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) !=
      cudaSuccess) {
    return;  // cudaGetLastError reports the error.
  }
  kernel<<<static_cast<unsigned>(Block::blocks(p.call)), group_threads*(consumers + 1), bytes,
           static_cast<cudaStream_t>(stream)>>>(p, result);
}

}  // namespace conelab::gpu::hopper
