// Temporary memory of the kernels. It is aligned to cache lines, so that no vector load crosses two
// of them, and it is not initialised: code that needs zeros assigns them. Large memory asks for
// large pages, which take fewer faults and fewer entries of the translation buffer.
#pragma once

#include <tbb/cache_aligned_allocator.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace conelab {

constexpr std::size_t large_page = std::size_t{2} << 20;
/// Memory of at least so many bytes consists of large pages where the system has them.
constexpr std::size_t large_memory = 2 * large_page;

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

  [[nodiscard]] T* allocate(std::size_t n) {
    if (n < large_memory / sizeof(T)) return tbb::cache_aligned_allocator<T>::allocate(n);
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = (n * sizeof(T) + large_page - 1) / large_page * large_page;
    void* memory = std::aligned_alloc(large_page, bytes);
    if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) {
    if (n < large_memory / sizeof(T)) return tbb::cache_aligned_allocator<T>::deallocate(memory, n);
    std::free(memory);
  }

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
