// Backward kernel of the fast path, once for each side: the owner's tokens stay, the other side's
// tiles stream by, as in the forward kernel.
#pragma once

#include "gpu/hopper/gradient_tail.h"
#include "gpu/hopper/numbers.h"
#include "gpu/hopper/ring.cuh"

namespace conelab::gpu::hopper {

/// How much of a tile of pairs queries see.
enum class Seen { none, partial, all };

template <class S, class Type, int width, Owner owner>
struct GradientKernel {
  static constexpr int consumers = 2;
  static constexpr int stages = 2;
  static constexpr int threads = group_threads * (consumers + 1);
  static constexpr int bytes = tile_bytes(group_rows, width);
  static constexpr int fact_bytes = (S::values + 3) * group_rows * 4;
  static constexpr int stage_bytes = 2 * bytes + (fact_bytes + 1023) / 1024 * 1024;
  static constexpr int total = 1024 + consumers * 2 * bytes + stages * stage_bytes + 1024;
  static_assert(total <= shared_limit);
  static_assert(fact_bytes % 16 == 0);
  using Tail = GradientTail<S, Type, width, owner>;

  struct Shared {
    unsigned char* start;  ///< 1024-byte aligned
    __device__ unsigned char* own(int consumer) const { return start + consumer * 2 * bytes; }
    __device__ unsigned char* own_value(int consumer) const { return own(consumer) + bytes; }
    __device__ unsigned char* other(int stage) const {
      return start + consumers * 2 * bytes + stage * stage_bytes;
    }
    __device__ unsigned char* other_value(int stage) const { return other(stage) + bytes; }
    __device__ unsigned char* facts(int stage) const { return other(stage) + 2 * bytes; }
    __device__ Barriers<stages>& barriers() const {
      return *reinterpret_cast<Barriers<stages>*>(other(stages));
    }
    /// [consumer][warp] sums on their way to one number.
    __device__ double* sums() const { return reinterpret_cast<double*>(other(stages) + 512); }
  };

  /// Both sides by role.
  struct Sides {
    const unsigned char *own, *own_value, *other, *other_value;
    const float* facts;
    int own_count, other_count;
  };
  __device__ static Sides sides_of(const FastGradient& g) {
    if constexpr (owner == Owner::query) {
      return {g.query,     g.output_grad,      g.key,           g.value,
              g.key_facts, g.call.query.count, g.call.key.count};
    } else {
      return {g.key,         g.value,          g.query,           g.output_grad,
              g.query_facts, g.call.key.count, g.call.query.count};
    }
  }

  struct Work {
    int group, own_tile;  ///< The first of its tiles of 64 own tokens.
    int tiles;            ///< Of the other side.
  };
  __device__ static Work work_of(const Sides& sides) {
    const int blocks = ceil_div(sides.own_count, group_rows * consumers);
    return {static_cast<int>(blockIdx.x) / blocks,
            static_cast<int>(blockIdx.x) % blocks * consumers,
            ceil_div(sides.other_count, group_rows)};
  }

  /// What of a tile of pairs is seen: nothing, something, all.
  __device__ static Seen cover(const Problem<float>& p, int group, int own_tile, int tile) {
    const int query_tile = owner == Owner::query ? own_tile : tile;
    const int key = (owner == Owner::query ? tile : own_tile) * group_rows;
    const int blocks = ceil_div(p.query.count, group_rows);
    if (query_tile >= blocks || key >= p.key.count) return Seen::none;
    const BlockSpan span =
        p.block_span[static_cast<std::int64_t>(group / p.heads) * blocks + query_tile];
    if (span.any.begin >= key + group_rows || key >= span.any.end) return Seen::none;
    const bool all = span.all.begin <= key && key + group_rows <= span.all.end &&
                     (query_tile + 1) * group_rows <= p.query.count;
    return all ? Seen::all : Seen::partial;
  }
  __device__ static bool needed(const Problem<float>& p, const Work& work, int tile) {
    bool any = false;
    for (int c = 0; c < consumers; ++c) {
      any |= cover(p, work.group, work.own_tile + c, tile) != Seen::none;
    }
    return any;
  }

  __device__ static void run(const FastGradient& g, const GradientResult<float>& result) {
    extern __shared__ unsigned char raw[];
    const Shared shared{raw + (1024 - shared_address(raw) % 1024) % 1024};
    const Sides sides = sides_of(g);
    const Work work = work_of(sides);
    init_barriers(shared.barriers(), consumers);
    __syncthreads();
    const int role = static_cast<int>(threadIdx.x) / group_threads;
    if (role == 0) {
      give_registers<producer_registers>();
      if (threadIdx.x == 0) produce(g, sides, work, shared);
    } else {
      take_registers<consumer_registers(consumers)>();
      consume(g, result, sides, work, shared, role - 1);
    }
  }

  __device__ static void produce(const FastGradient& g, const Sides& sides, const Work& work,
                                 const Shared& shared) {
    Barriers<stages>& barriers = shared.barriers();
    copy_own(sides, work, shared);
    Ring<stages> ring;
    for (int t = 0; t < work.tiles; ++t) {
      if (!needed(g.call, work, t)) continue;
      const int s = ring.stage;
      const std::int64_t at = static_cast<std::int64_t>(work.group) * work.tiles + t;
      barrier_wait(&barriers.key_empty[s], ring.parity ^ 1);
      barrier_expect(&barriers.key[s], 2 * bytes + fact_bytes);
      bulk_copy(shared.other(s), sides.other + at * bytes, bytes, &barriers.key[s]);
      bulk_copy(shared.other_value(s), sides.other_value + at * bytes, bytes, &barriers.key[s]);
      bulk_copy(shared.facts(s), sides.facts + at * (fact_bytes / 4), fact_bytes, &barriers.key[s]);
      ring.advance();
    }
  }

  __device__ static void copy_own(const Sides& sides, const Work& work, const Shared& shared) {
    const int tiles = ceil_div(sides.own_count, group_rows);
    const int present = tiles - work.own_tile < consumers ? tiles - work.own_tile : consumers;
    barrier_expect(&shared.barriers().query, present * 2 * bytes);
    for (int c = 0; c < present; ++c) {
      const std::int64_t at = static_cast<std::int64_t>(work.group) * tiles + work.own_tile + c;
      bulk_copy(shared.own(c), sides.own + at * bytes, bytes, &shared.barriers().query);
      bulk_copy(shared.own_value(c), sides.own_value + at * bytes, bytes, &shared.barriers().query);
    }
  }

  __device__ static void consume(const FastGradient& g, const GradientResult<float>& result,
                                 const Sides& sides, const Work& work, const Shared& shared,
                                 int consumer) {
    const int thread = static_cast<int>(threadIdx.x) % group_threads;
    const int own_tile = work.own_tile + consumer;
    const bool present = own_tile * group_rows < sides.own_count;
    Barriers<stages>& barriers = shared.barriers();
    Tail tail;
    tail.start(thread, g, work.group, present ? own_tile * group_rows : 0);
    barrier_wait(&barriers.query, 0);
    Ring<stages> ring;
    for (int t = 0; t < work.tiles; ++t) {
      if (!needed(g.call, work, t)) continue;
      barrier_wait(&barriers.key[ring.stage], ring.parity);
      const Seen seen = cover(g.call, work.group, own_tile, t);
      if (seen != Seen::none) {
        multiply(tail, shared, consumer, ring.stage);
        tail.differentiate(thread, {shared.own(consumer), shared.other(ring.stage),
                                    reinterpret_cast<const float*>(shared.facts(ring.stage)),
                                    t * group_rows, seen == Seen::all});
        accumulate(tail, shared, ring.stage);
      }
      end_ordinary_reads();
      __syncwarp();
      if (thread % 32 == 0) barrier_arrive(&barriers.key_empty[ring.stage]);
      ring.advance();
    }
    if (present) write(thread, g.call, result, shared, consumer, work.group, own_tile, tail);
  }

  __device__ static void multiply(Tail& tail, const Shared& shared, int consumer, int stage) {
    const std::uint32_t own = shared_address(shared.own(consumer));
    const std::uint32_t own_value = shared_address(shared.own_value(consumer));
    const std::uint32_t other = shared_address(shared.other(stage));
    const std::uint32_t other_value = shared_address(shared.other_value(stage));
    pin(tail.tile);
    pin(tail.slope);
    product_fence();
#pragma unroll
    for (int step = 0; step < width / 16; ++step) {
      Product<Type, group_rows>::shared(tail.tile, depth_descriptor(own, group_rows, step),
                                        depth_descriptor(other, group_rows, step), step > 0);
    }
#pragma unroll
    for (int step = 0; step < width / 16; ++step) {
      Product<Type, group_rows>::shared(tail.slope, depth_descriptor(own_value, group_rows, step),
                                        depth_descriptor(other_value, group_rows, step), step > 0);
    }
    product_commit();
    product_wait<0>();
    pin(tail.tile);
    pin(tail.slope);
  }

  __device__ static void accumulate(Tail& tail, const Shared& shared, int stage) {
    const std::uint32_t other = shared_address(shared.other(stage));
    const std::uint32_t other_value = shared_address(shared.other_value(stage));
    pin(tail.base);
    pin(tail.value);
    pin(tail.by_measure);
    pin(tail.weight);
    product_fence();
#pragma unroll
    for (int step = 0; step < Tail::steps; ++step) {
      Product<Type, width>::registers(tail.base, tail.by_measure + 4 * step,
                                      outer_descriptor(other, group_rows, step), 1);
    }
    if constexpr (owner == Owner::key) {
#pragma unroll
      for (int step = 0; step < Tail::steps; ++step) {
        Product<Type, width>::registers(tail.value, tail.weight + 4 * step,
                                        outer_descriptor(other_value, group_rows, step), 1);
      }
    }
    product_commit();
    product_wait<0>();
    pin(tail.base);
    pin(tail.value);
    pin(tail.by_measure);
    pin(tail.weight);
  }

  __device__ static float quad_sum(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
  }

  __device__ static void write(int thread, const Problem<float>& p,
                               const GradientResult<float>& result, const Shared& shared,
                               int consumer, int group, int own_tile, const Tail& tail) {
    const int count = owner == Owner::query ? p.query.count : p.key.count;
    float* base = owner == Owner::query ? result.query_base : result.key_base;
    float* potentials = owner == Owner::query ? result.query_potential : result.key_potential;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float margin = quad_sum(tail.margin[h]);
      const float potential = quad_sum(tail.potential[h]);
      const int row = accumulator_row(thread, 2 * h);
      const int r = own_tile * group_rows + row;
      if (r >= count) continue;
      const std::int64_t at = static_cast<std::int64_t>(group) * count + r;
      if (thread % 4 == 0) potentials[at] = potential;
#pragma unroll
      for (int e = 0; e < width / 4; ++e) {
        const int i = Tail::accumulator(h, e);
        const int column = accumulator_column(thread, i);
        if (column < p.base_size) {
          base[at * p.base_size + column] =
              base_gradient(shared.own(consumer), row, column, margin, tail.base[i]);
        }
        if constexpr (owner == Owner::key) {
          if (column < p.width) result.value[at * p.width + column] = tail.value[i];
        }
      }
    }
    if constexpr (owner == Owner::query) {
      write_sums(thread, p, result, shared.sums() + consumer * 4, consumer, group, own_tile, tail);
    }
  }

  __device__ static float base_gradient(const unsigned char* own, int row, int column, float margin,
                                        float sum) {
    if constexpr (S::info.measure == Measure::product) {
      return sum;
    } else {
      const float x = Type::widen(
          *reinterpret_cast<const std::uint16_t*>(own + swizzled(group_rows, row, column)));
      return 2.0f * (x * margin - sum);
    }
  }

  /// One number a parameter and block, added in a fixed order.
  __device__ static void write_sums(int thread, const Problem<float>& p,
                                    const GradientResult<float>& result, double* of_warps,
                                    int consumer, int group, int own_tile, const Tail& tail) {
#pragma unroll
    for (int n = 0; n < S::constants; ++n) {
      double sum = tail.sums[n];
#pragma unroll
      for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
      if (thread % 32 == 0) of_warps[thread / 32] = sum;
      group_barrier(consumer);
      if (thread == 0) {
        const std::int64_t at =
            static_cast<std::int64_t>(group) * ceil_div(p.query.count, group_rows) + own_tile;
        result.sums[at * S::constants + n] = of_warps[0] + of_warps[1] + of_warps[2] + of_warps[3];
      }
      group_barrier(consumer);
    }
  }
};

template <class S, class Type, int width, Owner owner>
__global__ __launch_bounds__(GradientKernel<S, Type, width, owner>::threads, 1) void fast_gradient(
    const __grid_constant__ FastGradient g, const __grid_constant__ GradientResult<float> result) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  GradientKernel<S, Type, width, owner>::run(g, result);
#endif
}

template <class S, class Type, int width, Owner owner>
void launch_owner(const FastGradient& g, const GradientResult<float>& result, void* stream) {
  using Kernel = GradientKernel<S, Type, width, owner>;
  const auto kernel = &fast_gradient<S, Type, width, owner>;
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Kernel::total) !=
      cudaSuccess) {
    return;  // The error is there for who asks.
  }
  const int tokens = owner == Owner::query ? g.call.query.count : g.call.key.count;
  const int blocks = ceil_div(tokens, group_rows * Kernel::consumers) * g.call.groups;
  kernel<<<static_cast<unsigned>(blocks), Kernel::threads, Kernel::total,
           static_cast<cudaStream_t>(stream)>>>(g, result);
}

}  // namespace conelab::gpu::hopper
