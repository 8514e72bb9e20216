// Temporary memory of the kernels. It is aligned to cache lines, so that no vector load crosses two
// of them, and it is not initialised: code that needs zeros assigns them.
#pragma once

#include <tbb/cache_aligned_allocator.h>

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace conelab {

/// An allocator of aligned memory whose `construct` without arguments leaves numbers uninitialised.
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
    ::new (static_cast<void*>(p)) U;  // No braces: they would set numbers to zero.
  }
  template <class U, class... Values>
  void construct(U* p, Values&&... values) {
    ::new (static_cast<void*>(p)) U(std::forward<Values>(values)...);
  }
};

/// A vector of uninitialised numbers: neither Buffer(n) nor `resize` sets them.
template <class T>
using Buffer = std::vector<T, ScratchAllocator<T>>;

/// Returns the smallest multiple of `step` that is at least `n`.
template <class Int>
constexpr Int round_up(Int n, Int step) {
  return (n + step - 1) / step * step;
}

}  // namespace conelab
