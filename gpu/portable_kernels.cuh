// The portable tiles (gpu/tile) as CUDA kernels: one block of threads for each TilePlace.
#pragma once

#include <cuda_runtime.h>

#include "gpu/portable.h"
#include "gpu/tile/tensors.h"

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

/// Runs a tile in every block of the grid: its x counts blocks of `tile_rows` tokens of all groups,
/// its y the slices from `first` on.
template <class Tile, class... Arguments>
__global__ __launch_bounds__(tile_threads) void run_tile(int tokens, int first, Problem<float> p,
                                                         Arguments... arguments) {
  __shared__ SharedTile<float> shared;
  const DeviceBlock block;
  const int blocks = ceil_div(tokens, tile_rows);
  const TilePlace place{static_cast<int>(blockIdx.x) / blocks,
                        static_cast<int>(blockIdx.x) % blocks,
                        first + static_cast<int>(blockIdx.y)};
  Tile::run(block, p, arguments..., place, shared);
}

/// Launches the passes of a call (gpu/tile/passes.h).
class DeviceRunner {
 public:
  using Block = DeviceBlock;
  explicit DeviceRunner(void* stream) : stream_(static_cast<cudaStream_t>(stream)) {}

  template <class Tile, class... Arguments>
  void run(int tokens, Slices slices, const Problem<float>& p,
           const Arguments&... arguments) const {
    const dim3 grid(static_cast<unsigned>(p.groups * ceil_div(tokens, tile_rows)),
                    static_cast<unsigned>(slices.end - slices.begin));
    if (grid.x == 0 || grid.y == 0) return;
    run_tile<Tile><<<grid, tile_threads, 0, stream_>>>(tokens, slices.begin, p, arguments...);
  }

 private:
  cudaStream_t stream_;
};

template <class S>
void launch_forward(const Problem<float>& p, const ForwardResult<float>& result, void* stream) {
  run_forward<S>(DeviceRunner(stream), p, result);
}
template <class S>
void launch_gradient(const Problem<float>& p, const Upstream<float>& upstream,
                     const GradientResult<float>& result, void* stream) {
  run_gradient<S>(DeviceRunner(stream), p, upstream, result);
}

template <class S>
void launch_tensor_forward(const TensorCall<float>& call, void* stream) {
  run_tensor_forward<S>(DeviceRunner(stream), call);
}
template <class S>
void launch_tensor_gradient(const TensorCall<float>& call, void* stream) {
  run_tensor_gradient<S>(DeviceRunner(stream), call);
}

template <class S>
PortableKernels portable_kernels_of() {
  return {&launch_forward<S>, &launch_gradient<S>, &launch_tensor_forward<S>,
          &launch_tensor_gradient<S>};
}

}  // namespace conelab::gpu
