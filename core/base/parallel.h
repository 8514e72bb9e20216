// How to run a computation, and the loop that distributes its tasks over threads. Tasks are
// numbered from 0. The loop supports cancellation and progress.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace conelab {

/// How to run a computation. The number of threads does not change a single bit of a result. `simd`
/// changes its last bits; with "amx" only the first 16 bits of results of 16-bit tensors agree.
struct Execution {
  int threads = 0;  ///< 0 means usable_processors() (processors.h). More cores are not used.
  /// A SIMD target such as "avx2"; empty for the best one. It is the target of the kernels of
  /// tiles; products with weight matrices (core/simd/matrix_product.h) always use the best one.
  std::string simd;
  /// Polled between tiles. If it returns true, the run throws interrupted.
  std::function<bool()> cancelled;
  /// Receives the fraction done, in [0, 1], from any thread.
  std::function<void(double)> progress;
};

/// Returns the settings for one step of a longer run. The progress of the step is mapped to the
/// interval from `begin` to `end`.
[[nodiscard]] Execution stage(const Execution& run, double begin, double end);
/// Returns the same settings without progress reports, for a step that takes little time.
[[nodiscard]] Execution quiet(const Execution& run);

/// Returns how many threads a run with enough tasks uses.
[[nodiscard]] int thread_count(const Execution& execution);

/// Calls `work(task, stopped)` for the tasks 0 ... count - 1 on `execution.threads` threads.
/// Tasks start in ascending order: when a task starts, all earlier ones have started, each on
/// its own thread. A task may therefore wait for an earlier one, but it must then poll `stopped`,
/// which returns true as soon as a task has thrown or the user has cancelled. Rethrows the first
/// exception; throws interrupted after a cancellation.
void run_tasks(std::int64_t count, const Execution& execution,
               const std::function<void(std::int64_t, const std::function<bool()>&)>& work);

/// Calls work(begin, end) for consecutive blocks of 0 ... count - 1, as tasks without progress.
void run_blocks(std::int64_t count, std::int64_t block, const Execution& execution,
                const std::function<void(std::int64_t, std::int64_t)>& work);

}  // namespace conelab
