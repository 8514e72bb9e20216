// The thread block of the portable kernels: numbered threads that work in phases.
//
// Tile code is a sequence of phases with a barrier after each. What one thread writes to shared
// memory in a phase, others may read in later phases only. Numbers that a thread keeps from phase
// to phase are `Local`. On the device a phase runs once in every thread. On the host it is a loop
// over the threads, so that the same code runs in tests, debuggers and sanitizers without a GPU.
#pragma once

#include <cstddef>
#include <memory>

#if defined(__CUDACC__)
#define CONELAB_TILE __host__ __device__ __forceinline__
#else
#define CONELAB_TILE inline
#endif

namespace conelab::gpu {

/// The number of threads of a block.
constexpr int tile_threads = 128;

/// The block on the host: `phase` runs the threads one after the other.
class HostBlock {
 public:
  template <class State>
  class Local {
   public:
    Local() : states_(new State[tile_threads]()) {}
    State& operator[](int thread) { return states_[static_cast<std::size_t>(thread)]; }

   private:
    std::unique_ptr<State[]> states_;
  };

  template <class Work>
  void phase(const Work& work) const {
    for (int thread = 0; thread < tile_threads; ++thread) work(thread);
  }
};

}  // namespace conelab::gpu
