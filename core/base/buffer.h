// Scratch memory of the kernels: aligned to cache lines, so that no vector load straddles two, and
// left as it is by `resize` and by Buffer(n): who needs zeros assigns them.
#pragma once

#include <tbb/cache_aligned_allocator.h>

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace conelab {

template <class T>
struct ScratchAllocator : tbb::cache_aligned_allocator<T> {
  template <class U>
  struct rebind {
    using other = ScratchAllocator<U>;
  };
  ScratchAllocator() = default;
  template <class U>
  explicit ScratchAllocator(const ScratchAllocator<U>&) {}

  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;  // no braces: a number stays what the memory held
  }
  template <class U, class... Values>
  void construct(U* p, Values&&... values) {
    ::new (static_cast<void*>(p)) U(std::forward<Values>(values)...);
  }
};

template <class T>
using Buffer = std::vector<T, ScratchAllocator<T>>;

/// The smallest multiple of `step` that is at least `n`.
template <class Int>
constexpr Int round_up(Int n, Int step) {
  return (n + step - 1) / step * step;
}

}  // namespace conelab
