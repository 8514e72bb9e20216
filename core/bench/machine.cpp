#include "core/bench/machine.h"

#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fmt/format.h>
#include <hwy/cache_control.h>

#include <algorithm>
#include <barrier>
#include <fstream>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/base/environment.h"
#include "core/base/parse_number.h"
#include "core/simd/kernels.h"

namespace conelab {
namespace {

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
    elapsed = seconds_since(start);
  }
  return static_cast<double>(runs) * steps * k.peak_flops / elapsed;
}

template <class Run>
double sum_over_threads(std::size_t count, const Run& run) {
  std::vector<double> values(count);
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < count; ++i) {
    others.emplace_back([&, i] { values[i] = run(i); });
  }
  values[0] = run(0);
  for (std::thread& t : others) t.join();
  return std::accumulate(values.begin(), values.end(), 0.0);
}

using Words = std::span<std::uint64_t>;

/// Memory of its own in huge pages, so that page tables do not slow reading down and the allocation
/// is fast.
class PageArray {
 public:
  explicit PageArray(std::size_t size)
      : size_(size),
        memory_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
#ifdef MADV_HUGEPAGE
    if (memory_ != MAP_FAILED) madvise(memory_, size, MADV_HUGEPAGE);
#endif
  }
  ~PageArray() {
    if (memory_ != MAP_FAILED) munmap(memory_, size_);
  }
  PageArray(const PageArray&) = delete;
  PageArray& operator=(const PageArray&) = delete;

  /// Returns the words of the array. They are empty if there was no memory.
  [[nodiscard]] Words words() const {
    if (memory_ == MAP_FAILED) return {};
    return {static_cast<std::uint64_t*>(memory_), size_ / sizeof(std::uint64_t)};
  }

 private:
  std::size_t size_;
  void* memory_;
};

/// Returns the value in bytes of a line "KEY:   123 kB" of /proc/self/status.
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
  return sum_over_threads(static_cast<std::size_t>(std::max(1, threads)), [&](std::size_t) {
    return dtype == Dtype::f64   ? peak_of_one<double>(seconds)
           : dtype == Dtype::f32 ? peak_of_one<float>(seconds)
                                 : peak_of_one<Bfloat16>(seconds);
  });
}

std::size_t last_cache_bytes() {
  std::map<std::string, std::size_t> caches;  // By the processors that share one.
  for (int processor = 0;; ++processor) {
    const std::string folder =
        fmt::format("/sys/devices/system/cpu/cpu{}/cache/index3/", processor);
    std::size_t kibibytes = 0;
    std::string sharing;
    if (!(std::ifstream(folder + "size") >> kibibytes)) break;
    std::ifstream(folder + "shared_cpu_list") >> sharing;
    caches[sharing] = kibibytes << 10;
  }
  // sysconf counts the caches of the whole socket, also those that a virtual machine lacks.
  if (caches.empty()) return static_cast<std::size_t>(std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L));
  std::size_t all = 0;
  for (const auto& [processors, size] : caches) all += size;
  return all;
}

std::size_t flush_bytes() {
  return std::clamp(2 * last_cache_bytes(), std::size_t{64} << 20, std::size_t{256} << 20);
}

void flush_caches() {
  // The memory is freed after each call, because many workers run at the same time.
  const PageArray array(flush_bytes());
  volatile std::uint64_t* words = array.words().data();
  for (std::size_t i = 0; i < array.words().size(); i += 8) words[i] = 1;
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

// ---- bandwidth ----------------------------------------------------------------------------------

namespace {

/// Number of words between two readings of the clock: 8 MiB, so that all threads stop at about the
/// same time.
constexpr std::size_t block = std::size_t{1} << 20;
/// Largest share of a run's time that measurements of the bandwidth in later rounds may take.
constexpr double modest_share = 0.02;

/// Returns the sum of the words. It adds to several independent sums, so that only the loads limit
/// the speed.
std::uint64_t sum_of(Words words) {
  constexpr std::size_t chains = 8;
  std::uint64_t sums[chains] = {};
  for (std::size_t i = 0; i + chains <= words.size(); i += chains) {
    for (std::size_t j = 0; j < chains; ++j) sums[j] += words[i + j];
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t s : sums) sum += s;
  return sum;
}

/// Reads the words again and again for this time, and returns the bytes read per second by this
/// thread.
double read_for(double seconds, Words part) {
  [[maybe_unused]] volatile std::uint64_t sink = 0;
  const auto start = Clock::now();
  double elapsed = 0, bytes = 0;
  for (std::size_t at = 0; elapsed < seconds; at = at + block < part.size() ? at + block : 0) {
    const Words now = part.subspan(at, std::min(block, part.size() - at));
    sink = sum_of(now);
    bytes += static_cast<double>(now.size_bytes());
    elapsed = seconds_since(start);
  }
  return bytes / elapsed;
}

}  // namespace

std::size_t bandwidth_bytes() {
  const std::size_t caches = 4 * last_cache_bytes();
  return std::max(caches, std::size_t{caches == 0 ? 256U : 64U} << 20);
}

double measure_bandwidth(int threads, double seconds) {
  const std::size_t size = bandwidth_bytes();
  if (available_memory() > 0 && static_cast<double>(size) > available_memory() / 4) return unknown;
  const PageArray array(size);
  if (array.words().empty()) return unknown;
  const auto count = static_cast<std::size_t>(std::max(1, threads));
  const std::size_t share = array.words().size() / count;
  std::barrier written(static_cast<std::ptrdiff_t>(count));
  return sum_over_threads(count, [&](std::size_t i) {
    const Words part = array.words().subspan(i * share, share);
    for (std::size_t k = 0; k < part.size(); ++k) part[k] = k;
    written.arrive_and_wait();
    return read_for(seconds, part);
  });
}

bool BandwidthSchedule::due(int round, double elapsed) const {
  if (round == 0) return true;
  return (round == rounds_ / 2 || round == rounds_ - 1) && spent_ < modest_share * elapsed;
}

double BandwidthSchedule::beside(const Case& c, int round, double elapsed) {
  if (measure_ == nullptr || c["device"] != "cpu") return unknown;
  const std::int64_t threads = c.number("threads");
  Last& last = latest_[threads];
  if (last.round == round) return last.value;
  if (!due(round, elapsed)) return unknown;
  const auto start = Clock::now();
  last = {round, measure_(static_cast<int>(threads))};
  spent_ += seconds_since(start);
  return last.value;
}

}  // namespace conelab
