// How a computation is run, and its tasks over threads: numbered tickets that are handed out in
// order, with cancellation and progress.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace conelab {

/// How to run. Threads change no bit of a result, `simd` the last ones (of 16-bit tensors all
/// but 16 with "amx").
struct Execution {
  int threads = 0;                       ///< 0: all cores; never more than there are.
  std::string simd;                      ///< Empty: the best this machine has; else "avx2", ...
  std::function<bool()> cancelled;       ///< Polled between tiles; true throws interrupted.
  std::function<void(double)> progress;  ///< Fraction done in [0, 1], from any thread.
};

/// For a step of a longer run, of whose progress it is the part from `begin` to `end`.
[[nodiscard]] Execution stage(const Execution& run, double begin, double end);
/// For a step that takes no time worth telling.
[[nodiscard]] Execution quiet(const Execution& run);

/// The threads that a run with tickets enough takes.
[[nodiscard]] int thread_count(const Execution& execution);

/// Runs `work(ticket, stopped)` for tickets 0 ... count - 1 on `execution.threads` threads. Tickets
/// start in order: when one runs, all before it have started, each on a thread of its own, so a
/// ticket may wait for an earlier one (but must watch `stopped`, which is set when any ticket threw
/// or the user cancelled). Rethrows the first exception; throws interrupted on cancellation.
void run_tickets(std::int64_t count, const Execution& execution,
                 const std::function<void(std::int64_t, const std::function<bool()>&)>& work);

}  // namespace conelab
