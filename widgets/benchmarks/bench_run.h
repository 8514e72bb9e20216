// A sweep that runs in a job, as the window sees it: looked at from time to time, never waited for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "widgets/benchmarks/bench_backend.h"
#include "widgets/benchmarks/bench_result.h"
#include "widgets/jobs/job_pool.h"

namespace conelab::desktop {

class BenchRun {
 public:
  enum class Outcome { none, running, stopped, failed, finished };
  struct State {
    Outcome outcome = Outcome::none;
    BenchProgress progress;
    /// What is measured so far; null before the first sample.
    std::shared_ptr<const BenchData> data;
    std::string message;  ///< Why it failed, or where it stopped.
    /// What is amiss and was no reason to stop.
    std::vector<std::string> warnings;
  };

  BenchRun(JobPool& jobs, std::function<void(const Sweep&, const BenchOptions&)> run)
      : jobs_(jobs), run_(std::move(run)) {}
  ~BenchRun() { cancel(); }
  BenchRun(const BenchRun&) = delete;
  BenchRun& operator=(const BenchRun&) = delete;

  /// Not while one is running.
  void start(const Sweep& sweep, const std::string& output, bool resume);
  /// Finished samples stay; the end is seen in `state` once the worker is gone.
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
