// The portable tiles (gpu/tile) as CUDA kernels: one block of threads for each TilePlace.
#pragma once

#include <cuda_runtime.h>

#include "gpu/fold.h"
#include "gpu/portable.h"
#include "gpu/tile/forward.h"
#include "gpu/tile/gradient.h"

namespace conelab::gpu {

/// The device's thread block, with the interface that gpu/tile/block.h describes.
class DeviceBlock {
 public:
  template <class State>
  class Local {
   public:
    __device__ State& operator[](int) { return state_; }

   private:
    State state_;
  };

  template <class Work>
  __device__ __forceinline__ void phase(const Work& work) const {
    work(static_cast<int>(threadIdx.x));
    __syncthreads();
  }
};

/// Returns the place of this thread block: the grid's x counts blocks of `tile_rows` tokens of all
/// groups, its y the slices of output columns.
__device__ inline TilePlace place_of(int tokens) {
  const int blocks = ceil_div(tokens, tile_rows);
  return {static_cast<int>(blockIdx.x) / blocks, static_cast<int>(blockIdx.x) % blocks,
          static_cast<int>(blockIdx.y)};
}

template <class S>
__global__ __launch_bounds__(tile_threads) void portable_forward(Problem<float> p,
                                                                 ForwardResult<float> result) {
  __shared__ SharedTile<float> shared;
  const DeviceBlock block;
  ForwardTile<S, float, DeviceBlock>::run(block, p, result, place_of(p.query.count), shared);
}

template <class S, Owner owner>
__global__ __launch_bounds__(tile_threads) void portable_gradient(Problem<float> p,
                                                                  Upstream<float> upstream,
                                                                  GradientResult<float> result) {
  __shared__ SharedTile<float> shared;
  const DeviceBlock block;
  const int tokens = owner == Owner::query ? p.query.count : p.key.count;
  GradientTile<S, float, owner, DeviceBlock>::run(block, p, upstream, result, place_of(tokens),
                                                  shared);
}

/// Returns the grid for `tokens` tokens in each group and `slices` slices; x is 0 if there are
/// none.
inline dim3 grid_of(const Problem<float>& p, int tokens, int slices) {
  return dim3(static_cast<unsigned>(p.groups * ceil_div(tokens, tile_rows)),
              static_cast<unsigned>(slices));
}

template <class S>
void launch_forward(const Problem<float>& p, const ForwardResult<float>& result, void* stream) {
  const dim3 grid = grid_of(p, p.query.count, ForwardTile<S, float, DeviceBlock>::slices(p));
  if (grid.x == 0) return;
  portable_forward<S><<<grid, tile_threads, 0, static_cast<cudaStream_t>(stream)>>>(p, result);
}

template <class S, Owner owner>
void launch_owner(const Problem<float>& p, const Upstream<float>& upstream,
                  const GradientResult<float>& result, void* stream) {
  const int tokens = owner == Owner::query ? p.query.count : p.key.count;
  const dim3 grid = grid_of(p, tokens, GradientTile<S, float, owner, DeviceBlock>::slices(p));
  if (grid.x == 0) return;
  portable_gradient<S, owner>
      <<<grid, tile_threads, 0, static_cast<cudaStream_t>(stream)>>>(p, upstream, result);
}

template <class S>
void launch_gradient(const Problem<float>& p, const Upstream<float>& upstream,
                     const GradientResult<float>& result, void* stream) {
  launch_owner<S, Owner::query>(p, upstream, result, stream);
  launch_owner<S, Owner::key>(p, upstream, result, stream);
}

namespace detail {
/// Measure::tanh_sum runs on the CPU only.
template <class S>
constexpr bool is_portable = S::info.measure != Measure::tanh_sum;

template <int group, class... S>
PortableKernels kernels_in_group(TypeList<S...>, int index) {
  PortableKernels found;
  const auto look = [&]<class T, int at>() {
    if constexpr (at % portable_groups == group && is_portable<T>) {
      if (at == index) found = {&launch_forward<T>, &launch_gradient<T>};
    }
  };
  [&]<int... at>(std::integer_sequence<int, at...>) { (look.template operator()<S, at>(), ...); }
  (std::make_integer_sequence<int, sizeof...(S)>{});
  return found;
}
}  // namespace detail

template <int group>
PortableKernels portable_kernels_of(int index) {
  return detail::kernels_in_group<group>(Similarities{}, index);
}

}  // namespace conelab::gpu
