#include "core/bench/peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/simd/kernels.h"

namespace conelab {
namespace {

using Clock = std::chrono::steady_clock;

/// Larger than the last-level cache of the machines this is meant for.
constexpr std::size_t flush_bytes = std::size_t{96} << 20;

template <class T>
double peak_of_one(double seconds) {
  const Kernels<T>& k = kernels<T>();
  constexpr long steps = 20000;
  volatile T sink = k.peak(steps);
  const auto start = Clock::now();
  double elapsed = 0;
  long runs = 0;
  while (elapsed < seconds) {
    sink = k.peak(steps);
    ++runs;
    elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  }
  (void)sink;
  return static_cast<double>(runs) * steps * k.peak_flops / elapsed;
}

double status_bytes(const char* key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key))
      return std::strtod(line.c_str() + line.find(':') + 1, nullptr) * 1024;
  }
  return 0;
}

}  // namespace

double measure_peak(Dtype dtype, int threads, double seconds) {
  std::vector<double> peaks(static_cast<std::size_t>(std::max(1, threads)));
  std::vector<std::thread> others;
  const auto run = [&](std::size_t i) {
    peaks[i] = dtype == Dtype::f64 ? peak_of_one<double>(seconds) : peak_of_one<float>(seconds);
  };
  for (std::size_t i = 1; i < peaks.size(); ++i) others.emplace_back(run, i);
  run(0);
  for (std::thread& t : others) t.join();
  double sum = 0;
  for (const double p : peaks) sum += p;
  return sum;
}

void flush_caches() {
  static std::vector<unsigned char> memory(flush_bytes, 1);
  for (std::size_t i = 0; i < memory.size(); i += 64)
    memory[i] = static_cast<unsigned char>(memory[i] + 1);
}

double peak_resident_bytes() { return status_bytes("VmHWM"); }
double resident_bytes() { return status_bytes("VmRSS"); }
void reset_peak_resident() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace conelab
