// The processes that measure a sweep's cases: one a peer, which measures all of its own, and one a
// slot of this program's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/bench/part_record.h"
#include "core/bench/runner.h"
#include "core/bench/slots.h"
#include "core/bench/worker_process.h"

namespace conelab {

[[nodiscard]] bool has_operator(const Peer& peer, const std::string& name);

class Crew {
 public:
  /// All of them outlive this; processes start when they are first asked.
  Crew(const Sweep& sweep, const Workload& workload, const BenchOptions& options, Slots& slots);

  /// What a slot needs. Where its peer has no such case, Slot::why_skipped says so; fails where it
  /// does not say.
  Prediction predict(int slot);
  struct Probe {
    double flops = 0, seconds = 0;
  };
  /// A run of the slot's case at another length, by a process of its own; zeros where it failed.
  Probe probe(int slot, std::int64_t length);
  /// One sample, and what is known of the case once it was prepared.
  void measure(int slot, PartRecord& record);
  /// From now on a process ends with each sample: not all fit into memory at once.
  void keep_none() { keeps_ = false; }
  void end() { seats_.clear(); }

 private:
  /// A process and the slot that it is prepared for, -1 for none.
  struct Seat {
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
  Slots* slots_;
  std::vector<Seat> seats_;           ///< One a peer, then one a slot of our own.
  std::vector<std::size_t> seat_of_;  ///< [slots]
  bool keeps_ = true;

  [[nodiscard]] Seat& seat(int slot) { return seats_[seat_of_[static_cast<std::size_t>(slot)]]; }
  [[nodiscard]] Patience patience() const { return {sweep_->time_limit, options_->cancelled}; }
  CaseStatus ask(int slot, WorkerProcess& worker, PartRecord& record);
};

}  // namespace conelab
