// Scratch memory of the kernels: aligned to cache lines, so that no vector load straddles two.
#pragma once

#include <tbb/cache_aligned_allocator.h>

#include <cstddef>
#include <vector>

namespace conelab {

template <class T>
using Buffer = std::vector<T, tbb::cache_aligned_allocator<T>>;

/// The smallest multiple of `step` that is at least `n`.
template <class Int>
constexpr Int round_up(Int n, Int step) {
  return (n + step - 1) / step * step;
}

}  // namespace conelab
