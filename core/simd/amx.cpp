// Asks for the tile unit. This file is compiled for every processor, unlike the kernels.
#include "core/simd/amx.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace conelab {
namespace {

#if defined(__x86_64__) && defined(__linux__)

/// Returns whether CPUID leaf 7 reports AMX-BF16 and AMX-TILE.
bool has_tiles_of_bf16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned wanted = 1U << 22U | 1U << 24U;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & wanted) == wanted;
}

/// Asks Linux for permission to use tiles (ARCH_REQ_XCOMP_PERM, XTILEDATA). Without it the first
/// tile instruction raises SIGILL. Systems that do not know the unit refuse.
bool system_grants_tiles() {
  constexpr int request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

#else

bool has_tiles_of_bf16() { return false; }
bool system_grants_tiles() { return false; }

#endif

}  // namespace

bool amx_runs_here() {
  static const bool runs = has_tiles_of_bf16() && system_grants_tiles();
  return runs;
}

}  // namespace conelab
