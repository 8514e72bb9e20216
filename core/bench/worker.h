// The worker's side: runs one case at a time and answers requests, one line of text each, over its
// standard streams:
//
//   > case OPERATOR PASS DEVICE DTYPE THREADS DIM HEAD SEQ_LEN BATCH SEED
//   < ready                                    | skipped WHY | memory WHY | failed WHY
//   > facts
//   < facts FLOPS BYTES ERROR                  | memory WHY | failed WHY
//   > sample COLD(0|1)
//   < sample WARM COLD RUNS PEAK_FLOPS PEAK_BYTES EXTRA_BYTES DEVICE_BYTES [DEVICE_CLOCK
//     DEVICE_MEMORY_CLOCK DEVICE_TEMPERATURE DEVICE_POWER DEVICE_THROTTLE] | memory WHY | failed
//     WHY
//
// What a peer answers besides: peer.h.
#pragma once

#include "core/bench/executor.h"

namespace conelab {

/// Serves until standard input ends, or the parent does. Returns the exit status. Signals to stop,
/// which go to the whole group, are left to the parent; where the kernel runs out of memory, the
/// worker asks to be the first to go.
int run_worker(ExecutorFactory factory);

}  // namespace conelab
