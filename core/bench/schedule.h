// The inside of a run (runner.h): its series of samples, the workers that measure them, and the
// decision which cases are not started because they would not fit into memory or would not end in
// time.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/bench/parts.h"
#include "core/bench/runner.h"
#include "core/bench/worker.h"

namespace conelab {

/// Predicts the seconds of a sample before it starts, from rates measured in the same sweep. A
/// *line* is all lengths with otherwise equal labels. The rate (FLOP/s) of a line is that of the
/// longest length measured so far. Short runs are slower per FLOP, so that the prediction for a
/// longer one tends to be too long.
class Forecast {
 public:
  struct Rate {
    double flops = 0;         ///< FLOP/s; 0 if nothing of the line was measured.
    std::int64_t length = 0;  ///< The length at which it was measured.
  };

  /// Records that a run of `c` took `seconds` for `flops`.
  void learn(const Case& c, double flops, double seconds);
  [[nodiscard]] Rate rate(const Case& c) const;

  /// Records that one sample of `c` took `wall` seconds in total.
  void learn_sample(const Case& c, double wall);
  /// Returns the predicted seconds of one sample of `c`: those of its last sample, or those that
  /// follow from the rate of its line (of all lines if that has none). NaN before anything was
  /// measured.
  [[nodiscard]] double sample_seconds(const Case& c, double flops) const;

 private:
  std::map<std::string, Rate> rates_;   ///< By line.
  std::map<std::string, double> wall_;  ///< By case.
  double flops_ = 0, seconds_ = 0;      ///< Sums over all samples.
};

/// A series: one sample in each round, of a case or of its repetition in the A/A control.
struct Series {
  CaseResult* result;
  Prediction prediction = {};
  /// Why the series is not measured. No value: not decided yet. Empty text: it is measured.
  std::optional<std::string> why_skipped = {};
  int visits = 0;  ///< Rounds that are done, measured or not.
  int worked = 0;  ///< Rounds in which it was measured.

  [[nodiscard]] const Case& labels() const { return result->labels; }
  /// Returns whether no further round measures the series: it is skipped, or it failed.
  [[nodiscard]] bool ended() const {
    return result->status != CaseStatus::ok || (why_skipped && !why_skipped->empty());
  }
};

/// All series of a sweep and their progress.
class Schedule {
 public:
  /// Fills in the cases and controls of `result`, which must outlive the object. The choice of the
  /// controls depends only on the sweep, so that a resumed run has the same.
  Schedule(const Sweep& sweep, BenchResult& result);

  [[nodiscard]] int count() const { return static_cast<int>(series_.size()); }
  [[nodiscard]] Series& at(int index) { return series_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] auto begin() { return series_.begin(); }
  [[nodiscard]] auto end() { return series_.end(); }

  /// Return the number of samples of the sweep, and of those that are done.
  [[nodiscard]] int total() const { return count() * sweep_->rounds; }
  [[nodiscard]] int done() const;
  /// Returns the share of the work that is done, from 0 to 1. It never decreases, because what is
  /// done only grows and what is left only shrinks.
  [[nodiscard]] double work_share() const;
  /// Returns the predicted seconds for the rest of the sweep; NaN if unknown.
  [[nodiscard]] double seconds_left(const Forecast& forecast) const;

 private:
  const Sweep* sweep_;
  std::vector<Series> series_;  ///< The cases, then the controls.

  [[nodiscard]] double nominal_cost(const Series& series) const;
};

/// The processes that measure: one for each peer, which measures all its cases, and one for each
/// other series.
class Workers {
 public:
  /// All arguments must outlive the object. A process starts with its first request.
  Workers(const Sweep& sweep, const Workload& workload, const BenchOptions& options,
          Schedule& schedule);

  /// Returns the needs of a series. If there is no such case, sets Series::why_skipped. Throws
  /// a failure if the peer does not answer.
  Prediction predict(int series);
  struct Probe {
    double flops = 0, seconds = 0;
  };
  /// Runs the series' case at another length in a separate process. Returns zeros if that failed.
  Probe probe(int series, std::int64_t length);
  /// Measures one sample, and with the first one the case's facts.
  void measure(int series, PartRecord& record);
  /// Makes every process end after its sample from now on, because not all fit into memory at
  /// once.
  void keep_none() { keeps_ = false; }
  void end() { workers_.clear(); }

 private:
  /// A process and the series for which it is prepared, -1 for none.
  struct Worker {
    std::vector<std::string> command;
    bool peer = false;
    std::unique_ptr<WorkerProcess> process = nullptr;
    int prepared = -1;

    WorkerProcess& started();
    void end();
  };

  const Sweep* sweep_;
  const Workload* workload_;
  const BenchOptions* options_;
  Schedule* schedule_;
  std::vector<Worker> workers_;         ///< One for each peer, then one for each other series.
  std::vector<std::size_t> worker_of_;  ///< [series] Index into workers_.
  bool keeps_ = true;

  [[nodiscard]] Worker& worker(int series) {
    return workers_[worker_of_[static_cast<std::size_t>(series)]];
  }
  [[nodiscard]] WaitLimit limit() const { return {sweep_->time_limit, options_->cancelled}; }
  CaseStatus ask(int series, WorkerProcess& process, PartRecord& record);
};

/// Decides which cases are not started.
class Admission {
 public:
  /// Asks for the needs of every series, and decides whether all workers fit into memory at once.
  /// `output` is named in messages.
  Admission(std::string output, const Sweep& sweep, Workers& workers, Schedule& schedule);

  /// Sets Series::why_skipped if it is not decided yet. If it is doubtful whether a case ends in
  /// time, the rate of a shorter case of the same line is measured first. A case that was measured
  /// in earlier rounds is continued; throws a failure if there is no longer enough memory for it.
  void decide(int series, Forecast& forecast);

 private:
  std::string output_;
  const Sweep* sweep_;
  Workers* workers_;
  Schedule* schedule_;
  double peak_;    ///< FLOP/s of one thread.
  double memory_;  ///< Free memory before the first worker; 0: unknown.

  std::string why_endless(int series, Forecast& forecast);
};

}  // namespace conelab
