// A worker is a process that measures one case at a time. The runner starts it and sends requests.
//
// Each case has its own process (the cases of a peer share one). This shows the case's peak memory,
// and isolates crashes, hangs and running out of memory. Requests and answers are one line of text
// each, over the worker's standard streams. A case is given by its labels, in the order of the axes
// (axes.h). Axes that were added later are named, and left out if their label is implied:
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
// A peer is another program whose operators take part in a sweep, so that both are timed in the
// same rounds. It answers the same protocol and in addition:
//
//   > operators                < operators NAME NAME ...
//   > about                    < about TEXT            (name and version, for the result file)
//   > predict LABEL ... BATCH [AXIS=LABEL ...]  < predict BYTES FLOPS
//
// All cases of a peer share one process, because such programs take seconds to start and to
// compile. It is restarted after a crash. If it does not measure the machine's multiply-add peak
// with a sample (it answers nan), the runner does.
#pragma once

#include <string>
#include <vector>

#include "core/base/line_process.h"
#include "core/base/ranks.h"
#include "core/bench/executor.h"

namespace conelab {

/// The worker's side: answers requests until standard input or the parent process ends. Returns the
/// exit status. Ignores SIGINT and SIGTERM, which reach the whole process group and are handled by
/// the parent. The worker asks the kernel to end it first if memory runs out.
/// If `ranks` is given, rank 0 reads the requests and answers, and all ranks serve them.
int run_worker(ExecutorFactory factory, Ranks* ranks = nullptr);

/// The runner's side of a worker.
class WorkerProcess {
 public:
  /// `command` is the argument vector; its first word is a path or a name in PATH:
  /// {"/proc/self/exe", "bench-worker"}. Throws a failure if the process cannot be started.
  explicit WorkerProcess(const std::vector<std::string>& command) : process_(command) {}

  /// Each function sends a request and waits for the answer. After a status other than ok the
  /// worker cannot be used any more, and `reason()` returns why, in one line.
  CaseStatus prepare(const Case& c, std::int64_t batch, std::uint64_t seed, const WaitLimit& limit);
  CaseStatus facts(const WaitLimit& limit, CaseFacts& facts);
  CaseStatus sample(bool cold, const WaitLimit& limit, Sample& sample);
  /// For peers: asks for the needs of the case.
  CaseStatus predict(const Case& c, std::int64_t batch, const WaitLimit& limit,
                     Prediction& prediction);
  /// For peers: sends a request of one word. The answer is that word and a text, which `reason()`
  /// returns.
  CaseStatus question(const std::string& word, const WaitLimit& limit);
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  LineProcess process_;
  std::string reason_;

  /// Returns ok if the answer begins with `expected`. `reason_` is then the rest of it.
  CaseStatus ask(const std::string& request, const std::string& expected, const WaitLimit& limit);
  /// Does the same for answers that consist of numbers only, of which there must be as many as one
  /// of `counts`.
  CaseStatus ask_numbers(const std::string& request, const std::string& expected,
                         const std::vector<std::size_t>& counts, const WaitLimit& limit,
                         std::vector<double>& numbers);
  CaseStatus read_answer(const std::string& line, const std::string& expected);
  CaseStatus wrong_answer(const std::string& line, const std::string& expected);
};

struct Peer {
  std::vector<std::string> command;  ///< Argument vector; the first word is looked up in PATH.
  std::string about;
  std::vector<std::string> operations;

  [[nodiscard]] bool has(const std::string& operation) const;
};

/// Starts the program and asks for its name and operators. Throws a failure that contains the
/// command if it cannot be started, does not answer, or has no operators.
[[nodiscard]] Peer ask_peer(const std::vector<std::string>& command, const WaitLimit& limit);

}  // namespace conelab
