// Worker processes: each case runs in one of its own, which shows its peak memory and contains
// crashes, memory exhaustion and hangs.
//
// The protocol is lines of text over the worker's standard streams:
//   > case OPERATOR PASS DEVICE DTYPE THREADS DIM HEAD SEQ_LEN BATCH SEED
//   < ready                              | skipped WHY | failed WHY
//   > facts
//   < facts FLOPS BYTES ERROR            | failed WHY
//   > sample COLD(0|1)
//   < time WARM COLD PEAK_FLOPS PEAK_BYTES EXTRA_BYTES   | failed WHY
// A worker ends when its standard input does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/bench/executor.h"

namespace conelab {

/// The worker's main loop, on standard input and output. Returns the exit status.
int run_worker(ExecutorFactory factory);

/// What became of a request to a worker.
enum class WorkerStatus { ok, skipped, failed, crashed, timed_out, cancelled };

/// The other end: starts a worker and talks to it.
class WorkerProcess {
 public:
  /// `command` is the argument vector, e.g. {"/proc/self/exe", "bench-worker"}.
  explicit WorkerProcess(const std::vector<std::string>& command);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Waits at most `seconds`; `cancelled` is polled meanwhile. After anything but ok and skipped
  /// the worker is gone. `reason()` then says why in one line.
  WorkerStatus prepare(const Case& c, std::int64_t batch, std::uint64_t seed, double seconds,
                       const std::function<bool()>& cancelled);
  WorkerStatus facts(double seconds, const std::function<bool()>& cancelled, CaseFacts& facts);
  WorkerStatus sample(bool cold, double seconds, const std::function<bool()>& cancelled,
                      Sample& sample);
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  int pid_ = -1;
  int to_worker_ = -1;
  int from_worker_ = -1;
  std::string buffered_;
  std::string reason_;

  WorkerStatus ask(const std::string& line, double seconds, const std::function<bool()>& cancelled,
                   std::vector<std::string>& words);
  WorkerStatus read_line(double seconds, const std::function<bool()>& cancelled, std::string& line);
  void end();
  std::string describe_exit();
};

}  // namespace conelab
