// Tasks over threads: numbered tickets handed out in order, with cancellation and progress.
#pragma once

#include <cstdint>
#include <functional>

#include "core/attention/attention.h"

namespace conelab {

/// The threads that a run with tickets enough takes.
[[nodiscard]] int thread_count(const Execution& execution);

/// Runs `work(ticket, stopped)` for tickets 0 ... count - 1 on `execution.threads` threads. Tickets
/// start in order: when one runs, all before it have started, each on a thread of its own, so a
/// ticket may wait for an earlier one (but must watch `stopped`, which is set when any ticket threw
/// or the user cancelled). Rethrows the first exception; throws interrupted on cancellation.
void run_tickets(std::int64_t count, const Execution& execution,
                 const std::function<void(std::int64_t, const std::function<bool()>&)>& work);

}  // namespace conelab
