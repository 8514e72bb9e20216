// The backward kernel of the fast path, once for each side: it runs gradient_block.h on the device.
#pragma once

#include "gpu/hopper/gradient_block.h"
#include "gpu/hopper/numbers.h"
#include "gpu/hopper/ring.cuh"

namespace conelab::gpu::hopper {

/// The Machine of gradient_block.h for one thread of the device.
template <class Block>
class GradientThread : public RingThread<Block> {
 public:
  using Tail = typename Block::Tail;
  int consumer = 0;

  using RingThread<Block>::RingThread;
  using RingThread<Block>::at;

  template <class Work>
  __device__ __forceinline__ void each(const Work& work) {
    work(thread(), tail_);
  }

  /// Starts tile = own other^T and slope = own_values other_values^T.
  __device__ __forceinline__ void start_products(int stage, int part) {
    const std::uint32_t skipped = part * Tail::columns * line_bytes;
    pin(tail_.tile);
    pin(tail_.slope);
    product_fence();
    start_product(tail_.tile, address(Block::own_at(consumer)),
                  address(Block::other_at(stage)) + skipped);
    start_product(tail_.slope, address(Block::own_value_at(consumer)),
                  address(Block::other_value_at(stage)) + skipped);
    product_commit();
  }

  /// Starts base += W other and, for keys, value += P other_values.
  __device__ __forceinline__ void start_sums(int stage, int part) {
    pin(tail_.base);
    pin(tail_.value);
    pin(tail_.by_measure);
    pin(tail_.weight);
    product_fence();
    start_sum(tail_.base, tail_.by_measure, address(Block::other_at(stage)), part);
    if constexpr (Block::owner == Owner::key) {
      start_sum(tail_.value, tail_.weight, address(Block::other_value_at(stage)), part);
    }
    product_commit();
  }

  __device__ __forceinline__ void finish() {
    product_wait<0>();
    pin(tail_.tile);
    pin(tail_.slope);
    pin(tail_.base);
    pin(tail_.value);
    pin(tail_.by_measure);
    pin(tail_.weight);
  }

  __device__ float* numbers(int byte) const { return reinterpret_cast<float*>(at(byte)); }
  __device__ void meet_group() const { group_barrier(consumer); }
  __device__ void add(long long* to, long long more) const {
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(more));
  }

  __device__ void set_nan(double* to) const { *to = std::numeric_limits<double>::quiet_NaN(); }

  template <class Work>
  __device__ void write(const FastGradient& g, const GradientResult<float>& result,
                        const Work& work, int) const {
    const Problem<float>& p = g.call;
    const int own_tile = work.own_tile + consumer;
    const int count = Block::owner == Owner::query ? p.query.count : p.key.count;
    float* base = Block::owner == Owner::query ? result.query_base : result.key_base;
    float* potentials =
        Block::owner == Owner::query ? result.query_potential : result.key_potential;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float margin = quad_sum(tail_.margin[h]);
      const float potential = quad_sum(tail_.potential[h]);
      const int row = accumulator_row(thread(), 2 * h);
      const int r = own_tile * group_rows + row;
      if (r >= count) continue;
      const std::int64_t to = static_cast<std::int64_t>(work.group) * count + r;
      if (thread() % 4 == 0) potentials[to] = potential;
#pragma unroll
      for (int e = 0; e < Block::width / 4; ++e) {
        const int i = accumulator(h, e);
        const int column = accumulator_column(thread(), i);
        if (column < p.base_size) {
          base[to * p.base_size + column] = base_gradient(row, column, margin, tail_.base[i]);
        }
        if constexpr (Block::owner == Owner::key) {
          if (column < p.width) result.value[to * p.width + column] = tail_.value[i];
        }
      }
    }
    if constexpr (Block::owner == Owner::query) write_sums(p, result, work.group, own_tile);
  }

 private:
  using S = typename Block::S;
  using Type = typename Block::Type;

  Tail tail_;

  __device__ static int thread() { return static_cast<int>(threadIdx.x) % group_threads; }
  __device__ std::uint32_t address(int byte) const { return shared_address(at(byte)); }

  template <int count>
  __device__ __forceinline__ static void start_product(float (&sum)[count], std::uint32_t own,
                                                       std::uint32_t other) {
#pragma unroll
    for (int step = 0; step < Block::width / 16; ++step) {
      Product<Type, Tail::columns>::shared(sum, depth_descriptor(own, group_rows, step),
                                           depth_descriptor(other, group_rows, step), step > 0);
    }
  }
  template <int count, int packed>
  __device__ __forceinline__ static void start_sum(float (&sum)[count],
                                                   const std::uint32_t (&left)[packed],
                                                   std::uint32_t other, int part) {
#pragma unroll
    for (int step = 0; step < Tail::steps; ++step) {
      Product<Type, Block::width>::registers(
          sum, left + 4 * step, outer_descriptor(other, group_rows, part * Tail::steps + step), 1);
    }
  }

  __device__ static float quad_sum(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
  }

  __device__ float base_gradient(int row, int column, float margin, float sum) const {
    if constexpr (S::info.measure == Measure::product) {
      return sum;
    } else {
      const float x = Type::widen(*reinterpret_cast<const std::uint16_t*>(
          at(Block::own_at(consumer)) + swizzled(group_rows, row, column)));
      return 2.0f * (x * margin - sum);
    }
  }

  /// Writes one sum for each parameter and block. It is added in a fixed order.
  __device__ void write_sums(const Problem<float>& p, const GradientResult<float>& result,
                             int group, int own_tile) const {
    auto* of_warps = reinterpret_cast<double*>(at(Block::sums_at(consumer)));
#pragma unroll
    for (int n = 0; n < S::constants; ++n) {
      double sum = tail_.sums[n];
#pragma unroll
      for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
      if (thread() % 32 == 0) of_warps[thread() / 32] = sum;
      group_barrier(consumer);
      if (thread() == 0) {
        const std::int64_t to =
            static_cast<std::int64_t>(group) * ceil_div(p.query.count, group_rows) + own_tile;
        result.sums[to * S::constants + n] = of_warps[0] + of_warps[1] + of_warps[2] + of_warps[3];
      }
      group_barrier(consumer);
    }
  }
};

template <class S, class Type, int width, Owner owner, Law law>
__global__ __launch_bounds__(
    GradientBlock<S, Type, width, owner, law>::threads,
    1) void fast_gradient(const __grid_constant__ FastGradient g,
                          const __grid_constant__ GradientResult<float> result) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using Block = GradientBlock<S, Type, width, owner, law>;
  extern __shared__ unsigned char raw[];
  GradientThread<Block> thread(raw + (1024 - shared_address(raw) % 1024) % 1024);
  init_barriers(thread.barriers(), Block::consumers);
  __syncthreads();
  const auto work = Block::work_of(g.call, static_cast<int>(blockIdx.x));
  const int role = group_of_thread();
  if (role == 0) {
    give_registers<producer_registers>();
    if (threadIdx.x == 0) Block::produce(thread, g, work);
  } else {
    take_registers<consumer_registers>();
    thread.consumer = role - 1;
    Block::consume(thread, g, result, work, role - 1);
  }
#endif
}

/// Launches the kernel that computes the gradients of the side `owner`.
template <class S, class Type, int width, Owner owner, Law law>
void launch_owner(const FastGradient& g, const GradientResult<float>& result, void* stream) {
  using Block = GradientBlock<S, Type, width, owner, law>;
  const auto kernel = &fast_gradient<S, Type, width, owner, law>;
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Block::total) !=
      cudaSuccess) {
    return;  // cudaGetLastError reports the error.
  }
  if (Block::Tail::sums_offsets && g.offset_sums != nullptr) {
    const int entries = offset_entries(g.call.query.count, g.call.key.count);
    (void)cudaMemsetAsync(g.offset_sums, 0,
                          sizeof(long long) * static_cast<std::size_t>(entries) *
                              static_cast<std::size_t>(g.call.groups),
                          static_cast<cudaStream_t>(stream));
  }
  kernel<<<static_cast<unsigned>(Block::blocks(g.call)), Block::threads, Block::total,
           static_cast<cudaStream_t>(stream)>>>(g, result);
}

}  // namespace conelab::gpu::hopper
