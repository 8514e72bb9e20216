// The runner's side of a worker: starts the process and asks it, one request at a time. Each case
// has a process of its own (peers share one), which shows its peak memory and contains crashes,
// hangs and the end of memory.
//
// The worker leads a process group of its own: Ctrl-C in a terminal is the runner's to answer, and
// the end of a worker is the end of what it started as well. A worker whose runner was killed is
// ended by the kernel (Linux).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/bench/executor.h"

namespace conelab {

/// How long to wait: `seconds` at most; returns early with Error(interrupted) where `cancelled`.
struct Patience {
  double seconds = 600;
  std::function<bool()> cancelled;
};

class WorkerProcess {
 public:
  /// `command` is the argument vector, its first word a path or a name in PATH:
  /// {"/proc/self/exe", "bench-worker"}.
  /// Fails where the process cannot be started.
  explicit WorkerProcess(const std::vector<std::string>& command);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Ask, and wait for the answer. After anything but ok the worker is of no more use, and
  /// `reason()` says why in one line.
  CaseStatus prepare(const Case& c, std::int64_t batch, std::uint64_t seed,
                     const Patience& patience);
  CaseStatus facts(const Patience& patience, CaseFacts& facts);
  CaseStatus sample(bool cold, const Patience& patience, Sample& sample);
  /// Of peers (peer.h): what a prediction says of a case.
  CaseStatus predict(const Case& c, std::int64_t batch, const Patience& patience,
                     Prediction& prediction);
  /// Of peers: a request of one word, answered by that word and a text, which `reason()` then is.
  CaseStatus question(const std::string& word, const Patience& patience);
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  int pid_ = -1;
  int to_worker_ = -1;
  int from_worker_ = -1;
  std::string buffered_;
  std::string reason_;

  /// Ok: the answer began with `expected`, and `reason_` is the rest of it.
  CaseStatus ask(const std::string& request, const std::string& expected, const Patience& patience);
  /// The same for answers that are one of `counts` numbers and nothing else.
  CaseStatus ask_numbers(const std::string& request, const std::string& expected,
                         const std::vector<std::size_t>& counts, const Patience& patience,
                         std::vector<double>& numbers);
  CaseStatus read_line(const Patience& patience, std::string& line);
  CaseStatus read_answer(const std::string& line, const std::string& expected);
  CaseStatus wrong_answer(const std::string& line, const std::string& expected);
  CaseStatus died();
  void end();
};

}  // namespace conelab
