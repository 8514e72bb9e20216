// A thread block as tile code sees it: numbered threads that work in phases.
//
// Tile code is a sequence of phases with a barrier after each: what one thread wrote to shared
// memory in a phase, others read in later phases only. Numbers that a thread keeps from phase to
// phase are `Local`. On the device a phase runs once in every thread; on the host it is a loop over
// the threads, so the same code runs under a debugger, sanitizers and the tests, without a GPU.
#pragma once

#include <cstddef>
#include <memory>

#if defined(__CUDACC__)
#define CONELAB_TILE __host__ __device__ __forceinline__
#else
#define CONELAB_TILE inline
#endif

namespace conelab::gpu {

/// Threads of every portable tile.
constexpr int tile_threads = 128;

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
