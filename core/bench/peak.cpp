#include "core/bench/peak.h"

#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/parse_number.h"
#include "core/simd/kernels.h"

namespace conelab {
namespace {

using Clock = std::chrono::steady_clock;

/// Of the unit that multiplies tensors of S here.
template <class S>
double peak_of_one(double seconds) {
  const Kernels<Compute<S>>& k = kernels<S>();
  constexpr long steps = 20000;
  [[maybe_unused]] volatile Compute<S> sink = k.peak(steps);
  const auto start = Clock::now();
  double elapsed = 0;
  long runs = 0;
  while (elapsed < seconds) {
    sink = k.peak(steps);
    ++runs;
    elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return static_cast<double>(runs) * steps * k.peak_flops / elapsed;
}

/// The value in bytes of a line "KEY:   123 kB".
double status_bytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key + ":")) continue;
    const auto begin = line.find_first_of("0123456789");
    const auto end = line.find(' ', begin);
    return parse_number(line.substr(begin, end - begin)).value_or(0) * 1024;
  }
  return 0;
}

}  // namespace

double measure_peak(Dtype dtype, int threads, double seconds) {
  std::vector<double> peaks(static_cast<std::size_t>(std::max(1, threads)));
  std::vector<std::thread> others;
  const auto run = [&](std::size_t i) {
    peaks[i] = dtype == Dtype::f64   ? peak_of_one<double>(seconds)
               : dtype == Dtype::f32 ? peak_of_one<float>(seconds)
                                     : peak_of_one<Bfloat16>(seconds);
  };
  for (std::size_t i = 1; i < peaks.size(); ++i) others.emplace_back(run, i);
  run(0);
  for (std::thread& t : others) t.join();
  double sum = 0;
  for (const double p : peaks) sum += p;
  return sum;
}

std::size_t last_cache_bytes() {
  return static_cast<std::size_t>(std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L));
}

std::size_t flush_bytes() {
  return std::clamp(2 * last_cache_bytes(), std::size_t{64} << 20, std::size_t{256} << 20);
}

void flush_caches() {
  // Given back at once: many workers live side by side. Huge pages make it quick.
  const std::size_t size = flush_bytes();
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
#ifdef MADV_HUGEPAGE
  madvise(memory, size, MADV_HUGEPAGE);
#endif
  auto* bytes = static_cast<volatile unsigned char*>(memory);
  for (std::size_t i = 0; i < size; i += 64) bytes[i] = 1;
  munmap(memory, size);
}

void flush_lines(const void* memory, std::size_t bytes) {
  const auto* line = static_cast<const std::byte*>(memory);
  for (std::size_t at = 0; at < bytes; at += 64) hwy::FlushCacheline(line + at);
}

void release_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

double peak_resident_bytes() { return status_bytes("VmHWM"); }
double resident_bytes() { return status_bytes("VmRSS"); }
void reset_peak_resident() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace conelab
