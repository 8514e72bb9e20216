// A sweep that runs in a job, as the window sees it: the window polls its state and never waits for
// it. Also the functions that the program supplies for it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/bench/runner.h"
#include "core/tiles/backend.h"
#include "widgets/benchmarks/bench_result.h"
#include "widgets/jobs/job_pool.h"
#include "widgets/session/session.h"

namespace conelab::desktop {

/// Functions that the program supplies to the benchmarks view: running a sweep (its workers are
/// processes of the program), devices, the command.
struct BenchBackend {
  std::vector<std::string> operators;  ///< Names that a sweep may contain.
  std::string folder;                  ///< The folder of results, unless the user chooses another.
  /// Calls run_bench with the operators and workers of the program; called from a job.
  std::function<void(const Sweep&, const BenchOptions&)> run;
  /// Returns the state of every device except the CPU. It may take long and is called from a job.
  std::function<std::vector<DeviceState>()> devices;
  /// Returns the command line that runs the same sweep and writes `output`.
  std::function<std::string(const BenchChoice&, const std::string& output)> command;
};

class BenchRun {
 public:
  enum class Outcome { none, running, stopped, failed, finished };
  struct State {
    Outcome outcome = Outcome::none;
    BenchProgress progress;
    /// The measurements so far; null before the first sample.
    std::shared_ptr<const BenchData> data;
    std::string message;  ///< Why it failed, or where it stopped.
    /// Problems that did not stop the sweep.
    std::vector<std::string> warnings;
  };

  BenchRun(JobPool& jobs, std::function<void(const Sweep&, const BenchOptions&)> run)
      : jobs_(jobs), run_(std::move(run)) {}
  ~BenchRun() { cancel(); }
  BenchRun(const BenchRun&) = delete;
  BenchRun& operator=(const BenchRun&) = delete;

  /// Starts a sweep. None may be running.
  void start(const Sweep& sweep, const std::string& output, bool resume);
  /// Cancels the sweep. Finished samples are kept; `state` shows the end when the worker has
  /// exited.
  void cancel() { job_.cancel(); }

  [[nodiscard]] State state() const;
  [[nodiscard]] bool running() const { return state().outcome == Outcome::running; }
  [[nodiscard]] const std::string& output() const { return output_; }

 private:
  struct Shared;
  JobPool& jobs_;
  std::function<void(const Sweep&, const BenchOptions&)> run_;
  std::shared_ptr<Shared> shared_;
  std::string output_;
  JobHandle job_;
};

}  // namespace conelab::desktop
