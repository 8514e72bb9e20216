// A worker is a process that measures one case at a time; the runner starts it and asks it.
//
// Each case has a process of its own (those of a peer share one), which shows its peak memory and
// contains crashes, hangs and the end of memory. Requests and answers are one line of text each,
// over the worker's standard streams. A case is its labels, in the order of the axes (axes.h). Axes
// that were added later are named, and left out where their label is implied:
//
//   > case LABEL ... BATCH SEED [AXIS=LABEL ...]
//   < ready                                    | skipped WHY | memory WHY | failed WHY
//   > facts
//   < facts FLOPS BYTES ERROR                  | memory WHY | failed WHY
//   > sample COLD(0|1)
//   < sample WARM COLD RUNS PEAK_FLOPS PEAK_BYTES EXTRA_BYTES DEVICE_BYTES [DEVICE_CLOCK
//     DEVICE_MEMORY_CLOCK DEVICE_TEMPERATURE DEVICE_POWER DEVICE_THROTTLE]
//                                              | memory WHY | failed WHY
//
// A peer is another program whose operators join a sweep, so that rivals are timed in the same
// rounds. It answers the same protocol, and
//
//   > operators                < operators NAME NAME ...
//   > about                    < about TEXT            (name and version, for the result file)
//   > predict LABEL ... BATCH  < predict BYTES FLOPS
//
// All cases of a peer share one process, because such programs take seconds to start and to
// compile; it is started again after a crash. If it does not measure the machine's multiply-add
// peak beside a sample (it answers nan), then the runner does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/bench/executor.h"

namespace conelab {

/// The worker's side: answers requests until standard input or the parent ends. Returns the exit
/// status. Ignores SIGINT and SIGTERM, which reach the whole process group: the parent answers
/// them. The worker asks the kernel to be ended first when memory runs out.
int run_worker(ExecutorFactory factory);

/// How long the runner waits for an answer: at most `seconds`; if `cancelled` returns true, it
/// stops waiting and throws Error(interrupted).
struct WaitLimit {
  double seconds = 600;
  std::function<bool()> cancelled;
};

/// The runner's side. The worker leads a process group of its own: Ctrl-C in a terminal is left to
/// the runner, and ending the worker also ends what it started. If the runner is killed, then the
/// kernel ends the worker (Linux).
class WorkerProcess {
 public:
  /// `command` is the argument vector, its first word a path or a name in PATH:
  /// {"/proc/self/exe", "bench-worker"}. Fails where the process cannot be started.
  explicit WorkerProcess(const std::vector<std::string>& command);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Each sends a request and waits for the answer. After a status other than ok the worker cannot
  /// be used any more, and `reason()` says why in one line.
  CaseStatus prepare(const Case& c, std::int64_t batch, std::uint64_t seed, const WaitLimit& limit);
  CaseStatus facts(const WaitLimit& limit, CaseFacts& facts);
  CaseStatus sample(bool cold, const WaitLimit& limit, Sample& sample);
  /// Of peers: what the case will need.
  CaseStatus predict(const Case& c, std::int64_t batch, const WaitLimit& limit,
                     Prediction& prediction);
  /// Of peers: a request of one word. The answer is that word and a text, which `reason()` returns.
  CaseStatus question(const std::string& word, const WaitLimit& limit);
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  int pid_ = -1;
  int to_worker_ = -1;
  int from_worker_ = -1;
  std::string buffered_;
  std::string reason_;

  /// Ok: the answer began with `expected`, and `reason_` is the rest of it.
  CaseStatus ask(const std::string& request, const std::string& expected, const WaitLimit& limit);
  /// The same for answers that consist of numbers alone, as many as one of `counts`.
  CaseStatus ask_numbers(const std::string& request, const std::string& expected,
                         const std::vector<std::size_t>& counts, const WaitLimit& limit,
                         std::vector<double>& numbers);
  CaseStatus read_line(const WaitLimit& limit, std::string& line);
  CaseStatus read_answer(const std::string& line, const std::string& expected);
  CaseStatus wrong_answer(const std::string& line, const std::string& expected);
  CaseStatus died();
  void end();
};

struct Peer {
  std::vector<std::string> command;  ///< Argument vector; the first word is looked up in PATH.
  std::string about;
  std::vector<std::string> operations;

  [[nodiscard]] bool has(const std::string& operation) const;
};

/// Starts the program and asks what it is. Fails with its command where it cannot be started, does
/// not answer, or has no operators.
[[nodiscard]] Peer ask_peer(const std::vector<std::string>& command, const WaitLimit& limit);

}  // namespace conelab
