#include "core/bench/runner.h"

#include <algorithm>
#include <memory>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/bench/attention_case.h"
#include "core/bench/parts.h"
#include "core/bench/worker.h"
#include "core/files/atomic_file.h"
#include "core/statistics/order.h"

namespace conelab {
namespace {

/// A/A controls: this many of the cases, evenly spread, are measured twice.
constexpr int most_controls = 4;
/// FLOP/s that any machine reaches: cases that would take too long even so are not started.
constexpr double modest_flops = 5e9;

CaseStatus case_status(WorkerStatus status) {
  switch (status) {
    case WorkerStatus::ok:
      return CaseStatus::ok;
    case WorkerStatus::skipped:
      return CaseStatus::skipped;
    case WorkerStatus::timed_out:
      return CaseStatus::timed_out;
    case WorkerStatus::crashed:
      return CaseStatus::crashed;
    default:
      return CaseStatus::failed;
  }
}

[[noreturn]] void interrupt(const std::string& output, int done, int total) {
  throw Error(ErrorKind::interrupted,
              fmt::format("{}: interrupted, {} of {} samples are kept; continue with --resume",
                          output, done, total));
}

class Run {
 public:
  Run(const Sweep& sweep, const BenchOptions& options)
      : sweep_(sweep), options_(options), parts_(options.output, sweep, options.resume) {
    result_.sweep = sweep;
    for (const Case& c : sweep.cases()) result_.cases.push_back({c, {}, {}, {}, {}});
    choose_controls();
    workers_.resize(slots_.size());
    for (CaseResult* slot : slots_) slot->samples.resize(static_cast<std::size_t>(sweep.rounds));
    keep_workers_ = predicted_total() < available_memory() / 2;
  }

  BenchResult finish() {
    const auto orders =
        balanced_orders(static_cast<int>(slots_.size()), sweep_.rounds, sweep_.seed);
    for (int round = 0; round < sweep_.rounds; ++round) {
      const MachineState state = machine_state();
      result_.load.push_back(state.load);
      result_.clock.push_back(state.clock);
      result_.temperature.push_back(state.temperature);
      for (const int index : orders[static_cast<std::size_t>(round)]) visit(index, round, state);
    }
    workers_.clear();
    write_labelled(options_.output, bench_file(result_));
    parts_.discard();
    return std::move(result_);
  }

 private:
  const Sweep& sweep_;
  const BenchOptions& options_;
  Parts parts_;
  BenchResult result_;
  std::vector<CaseResult*> slots_;  ///< Cases, then controls.
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
  bool keep_workers_ = true;
  int done_ = 0;

  [[nodiscard]] int total() const { return static_cast<int>(slots_.size()) * sweep_.rounds; }
  [[nodiscard]] bool cancelled() const { return options_.cancelled && options_.cancelled(); }

  void choose_controls() {
    const int cases = static_cast<int>(result_.cases.size());
    const int controls = std::min(most_controls, cases);
    for (int i = 0; i < controls; ++i) {
      const Case& c = result_.cases[static_cast<std::size_t>(i * cases / controls)].labels;
      result_.controls.push_back({c, {}, {}, {}, {}});
    }
    for (CaseResult& c : result_.cases) slots_.push_back(&c);
    for (CaseResult& c : result_.controls) slots_.push_back(&c);
  }

  [[nodiscard]] double predicted_total() const {
    double total = 0;
    for (const CaseResult* slot : slots_) total += predicted_bytes(slot->labels, sweep_.batch);
    return total;
  }

  /// One sample of one case, from its sealed file or measured now.
  void visit(int index, int round, const MachineState& state) {
    CaseResult& slot = *slots_[static_cast<std::size_t>(index)];
    if (options_.progress) options_.progress(done_, total(), describe(slot.labels));
    if (slot.status == CaseStatus::ok) {
      PartRecord record;
      if (const auto sealed = parts_.load(index, round)) {
        record = *sealed;
      } else {
        if (cancelled()) interrupt(options_.output, done_, total());
        record = measure(index, slot);
        record.machine = state;
        parts_.seal(index, round, record);
      }
      slot.status = record.status;
      slot.reason = record.reason;
      if (record.facts.flops > 0) slot.facts = record.facts;
      slot.samples[static_cast<std::size_t>(round)] = record.sample;
    }
    ++done_;
    if (options_.progress) options_.progress(done_, total(), describe(slot.labels));
  }

  PartRecord measure(int index, const CaseResult& slot) {
    PartRecord record;
    record.facts = slot.facts;
    if (predict(slot.labels, record)) return record;
    auto& worker = workers_[static_cast<std::size_t>(index)];
    WorkerStatus status = WorkerStatus::ok;
    const auto cancel = [this] { return cancelled(); };
    if (worker == nullptr) {
      worker = std::make_unique<WorkerProcess>(options_.worker);
      status = worker->prepare(slot.labels, sweep_.batch, sweep_.seed, sweep_.time_limit, cancel);
    }
    if (status == WorkerStatus::ok && record.facts.flops == 0) {
      status = worker->facts(sweep_.time_limit, cancel, record.facts);
    }
    if (status == WorkerStatus::ok) {
      status = worker->sample(sweep_.cold, sweep_.time_limit, cancel, record.sample);
    }
    if (status == WorkerStatus::cancelled) interrupt(options_.output, done_, total());
    record.status = case_status(status);
    if (status != WorkerStatus::ok) record.reason = worker->reason();
    if (status != WorkerStatus::ok || !keep_workers_) worker.reset();
    return record;
  }

  /// Records a case that cannot fit or end as skipped, without starting it.
  bool predict(const Case& c, PartRecord& record) const {
    const double bytes = predicted_bytes(c, sweep_.batch);
    const double memory = available_memory();
    const double seconds = predicted_flops(c, sweep_.batch) / modest_flops;
    if (memory > 0 && bytes > memory) {
      record.reason =
          fmt::format("would need {:.2f} GB, {:.2f} GB are free", bytes * 1e-9, memory * 1e-9);
    } else if (seconds > sweep_.time_limit) {
      record.reason =
          fmt::format("could take {:.0f} s, the limit is {:.0f} s", seconds, sweep_.time_limit);
    } else {
      return false;
    }
    record.status = CaseStatus::skipped;
    return true;
  }
};

}  // namespace

BenchResult run_bench(const Sweep& sweep, const BenchOptions& options) {
  check_sweep(sweep);
  probe_writable(options.output);
  return Run(sweep, options).finish();
}

}  // namespace conelab
