// Forward kernel of the fast path: one warpgroup copies tiles in, the others consume them.
//
// A block holds 64 queries per consumer and walks the tiles of 128 keys that any of them sees.
// Copies run `stages` tiles ahead; while one consumer waits for its products, the others occupy the
// special-function units with theirs.
#pragma once

#include "gpu/hopper/fast.h"
#include "gpu/hopper/forward_tail.h"
#include "gpu/hopper/numbers.h"
#include "gpu/hopper/ring.cuh"

namespace conelab::gpu::hopper {

template <class S, class Type, int width, int consumers, int stages>
struct ForwardKernel {
  static constexpr int threads = group_threads * (consumers + 1);
  static constexpr Budget budget{consumers, width, S::values, stages};
  static_assert(budget.total() <= shared_limit);
  using Tail = ForwardTail<S, Type, width>;

  struct Shared {
    unsigned char* base;  ///< 1024-byte aligned
    __device__ unsigned char* query(int consumer) const {
      return base + consumer * tile_bytes(group_rows, width);
    }
    __device__ unsigned char* key(int stage) const {
      return base + budget.query_bytes() + stage * budget.stage_bytes();
    }
    __device__ unsigned char* value(int stage) const { return key(stage) + budget.key_bytes(); }
    __device__ unsigned char* facts(int stage) const { return key(stage) + 2 * budget.key_bytes(); }
    __device__ Barriers<stages>& barriers() const {
      return *reinterpret_cast<Barriers<stages>*>(key(stages));
    }
  };

  /// What a block works on.
  struct Work {
    int group, query_tile;      ///< The first of its tiles of 64 queries.
    int first_tile, last_tile;  ///< Tiles of keys [first, last).
  };

  __device__ static BlockSpan span_of(const Problem<float>& p, int group, int query_tile) {
    const int blocks = ceil_div(p.query.count, group_rows);
    if (query_tile >= blocks) return {{0, 0}, {0, 0}};
    return p.block_span[static_cast<std::int64_t>(group / p.heads) * blocks + query_tile];
  }

  /// Blocks with the latest queries come first: under a causal mask they have the most to do.
  __device__ static Work work_of(const Problem<float>& p) {
    const int blocks = ceil_div(p.query.count, group_rows * consumers);
    const int block = blocks - 1 - static_cast<int>(blockIdx.x) % blocks;
    Work work{static_cast<int>(blockIdx.x) / blocks, block * consumers, 0, 0};
    int begin = p.key.count;
    int end = 0;
    for (int c = 0; c < consumers; ++c) {
      const KeySpan any = span_of(p, work.group, work.query_tile + c).any;
      if (any.begin >= any.end) continue;
      begin = any.begin < begin ? any.begin : begin;
      end = any.end > end ? any.end : end;
    }
    work.first_tile = begin / key_tile;
    work.last_tile = begin < end ? ceil_div(end, key_tile) : work.first_tile;
    return work;
  }

  __device__ static void run(const FastProblem& p, const ForwardResult<float>& result) {
    extern __shared__ unsigned char raw[];
    const Shared shared{raw + (1024 - shared_address(raw) % 1024) % 1024};
    const Work work = work_of(p.call);
    init_barriers(shared.barriers(), consumers);
    __syncthreads();
    const int role = static_cast<int>(threadIdx.x) / group_threads;
    if (role == 0) {
      give_registers<producer_registers>();
      if (threadIdx.x == 0) produce(p, work, shared);
    } else {
      take_registers<consumer_registers(consumers)>();
      consume(p, result, work, shared, role - 1);
    }
  }

  __device__ static void produce(const FastProblem& p, const Work& work, const Shared& shared) {
    Barriers<stages>& barriers = shared.barriers();
    copy_queries(p, work, shared);
    const int tiles = ceil_div(p.call.key.count, key_tile);
    Ring<stages> ring;
    for (int t = work.first_tile; t < work.last_tile; ++t, ring.advance()) {
      const int s = ring.stage;
      const std::int64_t at = static_cast<std::int64_t>(work.group) * tiles + t;
      barrier_wait(&barriers.empty[s], ring.parity ^ 1);
      barrier_expect(&barriers.key[s], budget.key_bytes() + budget.fact_bytes());
      bulk_copy(shared.key(s), p.key + at * budget.key_bytes(), budget.key_bytes(),
                &barriers.key[s]);
      bulk_copy(shared.facts(s), p.facts + at * (budget.fact_bytes() / 4), budget.fact_bytes(),
                &barriers.key[s]);
      barrier_expect(&barriers.value[s], budget.key_bytes());
      bulk_copy(shared.value(s), p.value + at * budget.key_bytes(), budget.key_bytes(),
                &barriers.value[s]);
    }
  }

  __device__ static void copy_queries(const FastProblem& p, const Work& work,
                                      const Shared& shared) {
    constexpr int bytes = tile_bytes(group_rows, width);
    const int tiles = ceil_div(p.call.query.count, group_rows);
    const int present = tiles - work.query_tile < consumers ? tiles - work.query_tile : consumers;
    barrier_expect(&shared.barriers().query, present * bytes);
    for (int c = 0; c < present; ++c) {
      const std::int64_t at = static_cast<std::int64_t>(work.group) * tiles + work.query_tile + c;
      bulk_copy(shared.query(c), p.query + at * bytes, bytes, &shared.barriers().query);
    }
  }

  __device__ static void consume(const FastProblem& p, const ForwardResult<float>& result,
                                 const Work& work, const Shared& shared, int consumer) {
    const int thread = static_cast<int>(threadIdx.x) % group_threads;
    const int query_tile = work.query_tile + consumer;
    const BlockSpan span = span_of(p.call, work.group, query_tile);
    Barriers<stages>& barriers = shared.barriers();
    Tail tail;
    tail.start(thread, p.call, work.group, query_tile * group_rows);
    barrier_wait(&barriers.query, 0);
    Ring<stages> ring;
    for (int t = work.first_tile; t < work.last_tile; ++t, ring.advance()) {
      const int begin = t * key_tile;
      barrier_wait(&barriers.key[ring.stage], ring.parity);
      const bool meets = span.any.begin < begin + key_tile && begin < span.any.end;
      if (meets) {
        const bool whole = span.all.begin <= begin && begin + key_tile <= span.all.end;
        attend(thread, tail, shared, consumer, ring.stage, {begin, whole});
      }
      barrier_wait(&barriers.value[ring.stage], ring.parity);
      if (meets) aggregate(tail, shared, ring.stage);
      __syncwarp();
      if (thread % 32 == 0) barrier_arrive(&barriers.empty[ring.stage]);
    }
    write(thread, p.call, result, work.group, query_tile * group_rows, tail);
  }

  struct Place {
    int begin;
    bool whole;
  };

  /// The tile's weights, in tail.tile.
  __device__ static void attend(int thread, Tail& tail, const Shared& shared, int consumer,
                                int stage, Place place) {
    const std::uint32_t query = shared_address(shared.query(consumer));
    const std::uint32_t key = shared_address(shared.key(stage));
    pin(tail.tile);
    product_fence();
#pragma unroll
    for (int step = 0; step < width / 16; ++step) {
      Product<Type, key_tile>::shared(tail.tile, depth_descriptor(query, group_rows, step),
                                      depth_descriptor(key, key_tile, step), step > 0);
    }
    product_commit();
    product_wait<0>();
    pin(tail.tile);
    tail.score(thread,
               {shared.query(consumer), shared.key(stage),
                reinterpret_cast<const float*>(shared.facts(stage)), place.begin, place.whole});
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int lane = 1; lane < 4; lane *= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, tail.maximum[h], lane);
        tail.maximum[h] = fmaxf(tail.maximum[h], other);
      }
    }
    tail.weigh();
  }

  /// output += weights * values
  __device__ static void aggregate(Tail& tail, const Shared& shared, int stage) {
    std::uint32_t left[4 * Tail::steps];
    tail.pack(left);
    const std::uint32_t value = shared_address(shared.value(stage));
    pin(tail.output);
    product_fence();
#pragma unroll
    for (int step = 0; step < Tail::steps; ++step) {
      Product<Type, width>::registers(tail.output, left + 4 * step,
                                      outer_descriptor(value, key_tile, step), 1);
    }
    product_commit();
    product_wait<0>();
    pin(tail.output);
  }

  __device__ static void write(int thread, const Problem<float>& p,
                               const ForwardResult<float>& result, int group, int row,
                               const Tail& tail) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float sum = tail.sum[h];
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      const int r = row + accumulator_row(thread, 2 * h);
      if (r >= p.query.count) continue;
      const std::int64_t at = static_cast<std::int64_t>(group) * p.query.count + r;
      if (thread % 4 == 0) {
        result.sum[at] = sum;
        result.maximum[at] = tail.reference(h);
      }
      const float scale = sum == 0.0f ? 0.0f : 1.0f / sum;
#pragma unroll
      for (int e = 0; e < width / 4; ++e) {
        const int i = e / 2 * 4 + h * 2 + e % 2;
        const int column = accumulator_column(thread, i);
        if (column < p.width) result.output[at * p.width + column] = tail.output[i] * scale;
      }
    }
  }
};

template <class S, class Type, int width, int consumers, int stages>
__global__ __launch_bounds__(group_threads*(consumers + 1), 1) void fast_forward(
    const __grid_constant__ FastProblem p, const __grid_constant__ ForwardResult<float> result) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  ForwardKernel<S, Type, width, consumers, stages>::run(p, result);
#endif
}

/// False where the block's shared memory or registers do not suffice.
template <class S, class Type, int width, int consumers, int stages>
bool launch(const FastProblem& p, const ForwardResult<float>& result, void* stream) {
  constexpr Budget budget{consumers, width, S::values, stages};
  if constexpr (budget.total() <= shared_limit && registers_suffice(consumers, width)) {
    const auto kernel = &fast_forward<S, Type, width, consumers, stages>;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, budget.total()) !=
        cudaSuccess) {
      return true;  // The error is there for who asks.
    }
    const int blocks = ceil_div(p.call.query.count, group_rows * consumers) * p.call.groups;
    kernel<<<static_cast<unsigned>(blocks), group_threads*(consumers + 1), budget.total(),
             static_cast<cudaStream_t>(stream)>>>(p, result);
    return true;
  } else {
    return false;
  }
}

}  // namespace conelab::gpu::hopper
