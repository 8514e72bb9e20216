// Inside a run (runner.h): its series of samples, the workers that measure them, and which cases
// are not started because they would not fit into memory or would not end in time.
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

/// Predicts what a sweep will cost: the seconds of a run before it starts, from rates measured in
/// the same sweep. A *line* is all lengths of otherwise equal labels. The rate (FLOP/s) of a line
/// is that of the longest length measured so far: short runs are slower per FLOP, so the forecast
/// of a longer one is rather too long.
class Forecast {
 public:
  struct Rate {
    double flops = 0;         ///< FLOP/s; 0 where nothing of the line was measured.
    std::int64_t length = 0;  ///< At which length.
  };

  /// A run of `c` took `seconds` for `flops`.
  void learn(const Case& c, double flops, double seconds);
  [[nodiscard]] Rate rate(const Case& c) const;

  /// One sample of `c` took `wall` seconds with everything that belongs to it.
  void learn_sample(const Case& c, double wall);
  /// Seconds that one sample of `c` will take: as its last one did, or as its run will at the rate
  /// of its line (of all lines so far where it has none); NaN before anything was measured.
  [[nodiscard]] double sample_seconds(const Case& c, double flops) const;

 private:
  std::map<std::string, Rate> rates_;   ///< By line.
  std::map<std::string, double> wall_;  ///< By case.
  double flops_ = 0, seconds_ = 0;      ///< Of all samples.
};

/// One sample a round: of a case, or of its repetition in the A/A control.
struct Series {
  CaseResult* result;
  Prediction prediction = {};
  std::optional<std::string> why_skipped = {};  ///< Empty text: it runs; nothing: not decided yet.
  int visits = 0;                               ///< Rounds that are over.
  int worked = 0;                               ///< Rounds in which it was measured.

  [[nodiscard]] const Case& labels() const { return result->labels; }
  [[nodiscard]] bool ended() const {
    return result->status != CaseStatus::ok || (why_skipped && !why_skipped->empty());
  }
};

/// All series of a sweep, and how far they are.
class Schedule {
 public:
  /// Fills the cases and controls of `result`, which must outlive this. The choice of the controls
  /// depends on the sweep alone, so that a resumed run has the same.
  Schedule(const Sweep& sweep, BenchResult& result);

  [[nodiscard]] int count() const { return static_cast<int>(series_.size()); }
  [[nodiscard]] Series& at(int index) { return series_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] auto begin() { return series_.begin(); }
  [[nodiscard]] auto end() { return series_.end(); }

  /// Samples of the sweep, and how many of them are over.
  [[nodiscard]] int total() const { return count() * sweep_->rounds; }
  [[nodiscard]] int done() const;
  /// The part of the work that is over, 0 to 1; it never decreases, because what is over only grows
  /// and what is left only shrinks.
  [[nodiscard]] double work_share() const;
  /// Seconds that the rest of the sweep will take; NaN where unknown.
  [[nodiscard]] double seconds_left(const Forecast& forecast) const;

 private:
  const Sweep* sweep_;
  std::vector<Series> series_;  ///< Cases, then controls.

  [[nodiscard]] double nominal_cost(const Series& series) const;
};

/// The processes that measure: one for each peer, which measures all cases of its own, and one for
/// each other series.
class Workers {
 public:
  /// All arguments must outlive this; a process starts when it is first asked.
  Workers(const Sweep& sweep, const Workload& workload, const BenchOptions& options,
          Schedule& schedule);

  /// What a series needs. Where its peer has no such case, sets Series::why_skipped; fails where
  /// the peer does not say.
  Prediction predict(int series);
  struct Probe {
    double flops = 0, seconds = 0;
  };
  /// A run of the series' case at another length, by a process of its own; zeros where it failed.
  Probe probe(int series, std::int64_t length);
  /// Measures one sample; with the first one also the case's facts.
  void measure(int series, PartRecord& record);
  /// From now on a process ends with each sample: not all fit into memory at once.
  void keep_none() { keeps_ = false; }
  void end() { workers_.clear(); }

 private:
  /// A process and the series that it is prepared for, -1 for none.
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
  std::vector<Worker> workers_;         ///< One a peer, then one for each series of our own.
  std::vector<std::size_t> worker_of_;  ///< [series]
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
  /// Asks what every series needs, and whether all workers fit into memory at once. `output` is
  /// named in messages.
  Admission(std::string output, const Sweep& sweep, Workers& workers, Schedule& schedule);

  /// Sets Series::why_skipped where it is not decided yet. If it is doubtful whether a case ends in
  /// time, then the rate of a shorter case of the same line is measured first. A case that was
  /// measured in earlier rounds goes on; fails where memory lacks for it by now.
  void decide(int series, Forecast& forecast);

 private:
  std::string output_;
  const Sweep* sweep_;
  Workers* workers_;
  Schedule* schedule_;
  double peak_;    ///< FLOP/s of one thread.
  double memory_;  ///< That was free before the first worker; 0: unknown.

  std::string why_endless(int series, Forecast& forecast);
};

}  // namespace conelab
