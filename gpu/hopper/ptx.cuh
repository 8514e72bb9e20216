// Wrappers of PTX instructions that CUDA C++ does not offer: bulk copies, their barriers, and
// products of warpgroups.
//
// They take the place of CuTe, because operands are packed for plain bulk copies, so that neither
// tensor maps nor a layout algebra is needed. The kernels build wherever nvcc is, and the few
// layouts are tested on the host (gpu/hopper/layout.h) and compared with CuTe's where it is found.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "gpu/hopper/layout.h"

namespace conelab::gpu::hopper {

/// Returns the address in shared memory that instructions take.
__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Initialises a barrier whose phases complete after so many arrivals (PTX mbarrier.init).
__device__ __forceinline__ void barrier_init(std::uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals));
}
/// Makes initialised barriers visible to bulk copies.
__device__ __forceinline__ void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Arrives, and announces that copies of so many bytes will complete on the barrier.
__device__ __forceinline__ void barrier_expect(std::uint64_t* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
/// Arrives at the barrier.
__device__ __forceinline__ void barrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
/// Waits until the phase of this parity is complete.
__device__ __forceinline__ void barrier_wait(std::uint64_t* barrier, int parity) {
  std::uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
}

/// Starts a copy of `bytes`, a multiple of 16, from global to shared memory, which completes on the
/// barrier.
__device__ __forceinline__ void bulk_copy(void* to, const void* from, int bytes,
                                          std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

/// Orders the ordinary reads of shared memory before it and the copies that are started after it.
__device__ __forceinline__ void end_ordinary_reads() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Waits until this warpgroup's threads can have so many registers each.
template <int registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
/// Reduces this warpgroup's threads to so many registers each.
template <int registers>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

/// Must come before the first product, and after any other use of its registers. It first
/// synchronises the warp, whose threads may have diverged at close pairs, because products are for
/// whole warps.
__device__ __forceinline__ void product_fence() {
  __syncwarp();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Ends a group of products.
__device__ __forceinline__ void product_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until all groups but the last `pending` are complete.
template <int pending>
__device__ __forceinline__ void product_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/// Keeps the compiler from moving uses of operands in registers across a product that is not
/// complete.
template <int count>
__device__ __forceinline__ void pin(float (&d)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

template <int count>
__device__ __forceinline__ void pin(std::uint32_t (&d)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+r"(d[i])::"memory");
}

/// Starts d [64 × columns] += a b over 16 steps of the summed axis; `add` = 0 replaces d instead.
/// `shared` takes descriptors of a [64 × 16] and b [columns × 16] in shared memory, both with lines
/// along the summed axis. `registers` takes a in registers, and b [16 × columns] with lines along
/// its columns. Each width is written out, because every accumulator is an operand of its own. The
/// constraint "C" inserts the type's name into the instruction.
template <class Type, int columns>
struct Product;

// The names of the accumulators in the instruction, and the accumulators.
#define CONELAB_NAMES_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define CONELAB_NAMES_32 \
  CONELAB_NAMES_16       \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define CONELAB_NAMES_64                                                             \
  CONELAB_NAMES_32                                                                   \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define CONELAB_SUMS_4(i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define CONELAB_SUMS_16(i) \
  CONELAB_SUMS_4(i), CONELAB_SUMS_4((i) + 4), CONELAB_SUMS_4((i) + 8), CONELAB_SUMS_4((i) + 12)
#define CONELAB_SUMS_32 CONELAB_SUMS_16(0), CONELAB_SUMS_16(16)
#define CONELAB_SUMS_64 CONELAB_SUMS_32, CONELAB_SUMS_16(32), CONELAB_SUMS_16(48)

template <class Type>
struct Product<Type, 32> {
  static __device__ __forceinline__ void shared(float (&d)[16], std::uint64_t a, std::uint64_t b,
                                                int add) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %18, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n32k16.f32.%19.%19 {" CONELAB_NAMES_16
        "}, %16, %17, p, 1, 1, 0, 0;}\n"
        : CONELAB_SUMS_16(0)
        : "l"(a), "l"(b), "r"(add), "C"(Type::name));
  }
};

template <class Type>
struct Product<Type, 64> {
  static __device__ __forceinline__ void shared(float (&d)[32], std::uint64_t a, std::uint64_t b,
                                                int add) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.%35.%35 {" CONELAB_NAMES_32
        "}, %32, %33, p, 1, 1, 0, 0;}\n"
        : CONELAB_SUMS_32
        : "l"(a), "l"(b), "r"(add), "C"(Type::name));
  }
  static __device__ __forceinline__ void registers(float (&d)[32], const std::uint32_t* a,
                                                   std::uint64_t b, int add) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %37, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.%38.%38 {" CONELAB_NAMES_32
        "}, {%32, %33, %34, %35}, %36, p, 1, 1, 1;}\n"
        : CONELAB_SUMS_32
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "C"(Type::name));
  }
};

template <class Type>
struct Product<Type, 128> {
  static __device__ __forceinline__ void shared(float (&d)[64], std::uint64_t a, std::uint64_t b,
                                                int add) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.%67.%67 {" CONELAB_NAMES_64
        "}, %64, %65, p, 1, 1, 0, 0;}\n"
        : CONELAB_SUMS_64
        : "l"(a), "l"(b), "r"(add), "C"(Type::name));
  }
  static __device__ __forceinline__ void registers(float (&d)[64], const std::uint32_t* a,
                                                   std::uint64_t b, int add) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %69, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.%70.%70 {" CONELAB_NAMES_64
        "}, {%64, %65, %66, %67}, %68, p, 1, 1, 1;}\n"
        : CONELAB_SUMS_64
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "C"(Type::name));
  }
};

#undef CONELAB_NAMES_16
#undef CONELAB_NAMES_32
#undef CONELAB_NAMES_64
#undef CONELAB_SUMS_4
#undef CONELAB_SUMS_16
#undef CONELAB_SUMS_32
#undef CONELAB_SUMS_64

}  // namespace conelab::gpu::hopper
