#include "core/bench/runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/bench/parts.h"
#include "core/bench/peak.h"
#include "core/bench/result.h"
#include "core/files/atomic_file.h"
#include "core/statistics/order.h"

namespace conelab {
namespace {

/// A/A controls: this many of the cases, evenly spread, are measured twice.
constexpr std::size_t most_controls = 4;
/// The share of the multiply-add peak that any case reaches: slower ones are not predicted.
constexpr double modest_share = 0.1;
/// What a sample costs besides its runs, in FLOP: only for the remaining time.
constexpr double sample_cost = 5e9;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// A run can only be resumed by the same build on the same machine: its samples are compared.
RunIdentity run_identity(const Sweep& sweep) {
  RunIdentity identity = sweep.items();
  for (const auto& [name, value] : environment()) {
    if (name != "version" && name != "git_hash" && name != "cpu" && name != "simd") continue;
    identity.emplace_back(name, std::get<std::string>(value));
  }
  return identity;
}

/// Seconds left, from the pace of the samples that this process measured itself.
class Pace {
 public:
  void measured(double cost, double seconds) {
    cost_ += cost;
    seconds_ += seconds;
  }
  [[nodiscard]] double seconds_for(double cost) const {
    return cost_ > 0 ? seconds_ / cost_ * cost : unknown;
  }

 private:
  double cost_ = 0, seconds_ = 0;
};

class Run {
 public:
  Run(const Sweep& sweep, const Workload& workload, const BenchOptions& options)
      : sweep_(sweep),
        workload_(workload),
        options_(options),
        parts_(options.output, run_identity(sweep), options.resume) {
    result_.sweep = sweep;
    const std::vector<Sample> none(static_cast<std::size_t>(sweep.rounds));
    for (const Case& c : sweep.cases()) result_.cases.push_back({c, {}, {}, {}, none});
    choose_controls();
    workers_.resize(slots_.size());
    predict();
  }

  void finish() {
    const int count = static_cast<int>(slots_.size());
    const auto orders = balanced_orders(count, sweep_.rounds, sweep_.seed);
    for (int round = 0; round < sweep_.rounds; ++round) {
      round_state_ = machine_state();
      for (const int slot : orders[static_cast<std::size_t>(round)]) visit(slot, round);
      result_.load.push_back(round_state_.load);
      result_.clock.push_back(round_state_.clock);
      result_.temperature.push_back(round_state_.temperature);
    }
    workers_.clear();
    write_labelled(options_.output, bench_file(result_));
    parts_.discard();
  }

 private:
  const Sweep& sweep_;
  const Workload& workload_;
  const BenchOptions& options_;
  Parts parts_;
  BenchResult result_;
  std::vector<CaseResult*> slots_;                       ///< Cases, then controls.
  std::vector<std::unique_ptr<WorkerProcess>> workers_;  ///< By slot.
  std::vector<double> costs_;                            ///< By slot, of one sample.
  std::vector<std::string> skipped_;                     ///< By slot, why; empty where it runs.
  bool keep_workers_ = true;
  double cost_left_ = 0;
  Pace pace_;
  MachineState round_state_;
  int done_ = 0;

  [[nodiscard]] int total() const { return static_cast<int>(slots_.size()) * sweep_.rounds; }
  [[nodiscard]] bool cancelled() const { return options_.cancelled && options_.cancelled(); }

  /// Depends on the sweep alone, so that a resumed run has the same. Of the shorter half of the
  /// lengths: the long ones cost most, may be skipped, and show no other false positives.
  void choose_controls() {
    const std::int64_t longest = sweep_.lengths[(sweep_.lengths.size() - 1) / 2];
    std::vector<CaseResult> candidates = result_.cases;
    std::erase_if(candidates, [&](const CaseResult& c) { return c.labels.seq_len > longest; });
    const std::size_t controls = std::min(most_controls, candidates.size());
    for (std::size_t i = 0; i < controls; ++i) {
      result_.controls.push_back(candidates[i * candidates.size() / controls]);
    }
    for (CaseResult& c : result_.cases) slots_.push_back(&c);
    for (CaseResult& c : result_.controls) slots_.push_back(&c);
  }

  /// What will be skipped, how long the rest takes, and whether all its workers fit at once.
  void predict() {
    const double peak = measure_peak(Dtype::f64, 1, 0.02);
    const double memory = available_memory();
    double bytes = 0;
    for (const CaseResult* slot : slots_) {
      const Prediction p = workload_.predict(slot->labels, sweep_.batch);
      skipped_.push_back(why_skipped(slot->labels, p, memory, peak));
      costs_.push_back(skipped_.back().empty() ? p.flops + sample_cost : 0);
      if (skipped_.back().empty()) bytes += p.bytes;
      cost_left_ += costs_.back() * sweep_.rounds;
    }
    keep_workers_ = bytes < memory / 2;
  }

  /// Why a case is not started: it would not fit, or not end. Empty where it is.
  [[nodiscard]] std::string why_skipped(const Case& c, const Prediction& p, double memory,
                                        double peak) const {
    if (memory > 0 && p.bytes > memory) {
      return fmt::format("would need {:.1f} GB of memory, {:.1f} GB are free", p.bytes * 1e-9,
                         memory * 1e-9);
    }
    const double seconds = p.flops / (modest_share * peak);
    if (c.device != "cpu" || seconds <= sweep_.time_limit) return "";
    return fmt::format("could take {:.0f} s a run, the limit is {:.0f} s", seconds,
                       sweep_.time_limit);
  }

  void report(const CaseResult& slot) const {
    if (!options_.progress) return;
    options_.progress({done_, total(), pace_.seconds_for(cost_left_), describe(slot.labels)});
  }

  [[noreturn]] void interrupt() const {
    throw Error(ErrorKind::interrupted,
                fmt::format("{}: interrupted; {} of {} samples are kept, continue with --resume",
                            options_.output, done_, total()));
  }

  /// One sample of one case, from its sealed file or measured now.
  void visit(int index, int round) {
    CaseResult& slot = *slots_[static_cast<std::size_t>(index)];
    report(slot);
    if (slot.status == CaseStatus::ok) take(slot, round, sealed_record(index, round));
    cost_left_ -= costs_[static_cast<std::size_t>(index)];
    ++done_;
    report(slot);
  }

  void take(CaseResult& slot, int round, const PartRecord& record) {
    slot.status = record.status;
    slot.reason = record.reason;
    slot.facts = record.facts;
    slot.samples[static_cast<std::size_t>(round)] = record.sample;
    round_state_ = record.machine;
  }

  PartRecord sealed_record(int index, int round) {
    if (auto sealed = parts_.load(index, round)) return *sealed;
    if (cancelled()) interrupt();
    const auto start = std::chrono::steady_clock::now();
    PartRecord record = measure(index);
    record.machine = round_state_;
    // A signal to the whole group may have ended the worker: that is no result.
    if (record.status != CaseStatus::ok && cancelled()) interrupt();
    parts_.seal(index, round, record);
    pace_.measured(costs_[static_cast<std::size_t>(index)],
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return record;
  }

  PartRecord measure(int index) {
    const CaseResult& slot = *slots_[static_cast<std::size_t>(index)];
    auto& worker = workers_[static_cast<std::size_t>(index)];
    PartRecord record;
    record.facts = slot.facts;
    if (!skipped_[static_cast<std::size_t>(index)].empty()) {
      record.status = CaseStatus::skipped;
      record.reason = skipped_[static_cast<std::size_t>(index)];
      return record;
    }
    try {
      record.status = ask_worker(slot, worker, record);
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::interrupted) interrupt();
      throw;
    }
    if (record.status != CaseStatus::ok) record.reason = worker->reason();
    if (record.status != CaseStatus::ok || !keep_workers_) worker.reset();
    return record;
  }

  CaseStatus ask_worker(const CaseResult& slot, std::unique_ptr<WorkerProcess>& worker,
                        PartRecord& record) {
    const Patience patience{sweep_.time_limit, options_.cancelled};
    CaseStatus status = CaseStatus::ok;
    if (worker == nullptr) {
      worker = std::make_unique<WorkerProcess>(options_.worker);
      status = worker->prepare(slot.labels, sweep_.batch, sweep_.seed, patience);
    }
    const bool first = slot.facts.flops == 0;
    if (status == CaseStatus::ok && first) status = worker->facts(patience, record.facts);
    if (status != CaseStatus::ok) return status;
    return worker->sample(sweep_.cold, patience, record.sample);
  }
};

/// With --resume: whether the result is finished already. Throws misuse where it is of another
/// sweep.
bool finished(const Sweep& sweep, const std::string& output) {
  std::error_code error;
  if (Parts::exist(output) || !std::filesystem::exists(output, error)) return false;
  const LabelledArray runtime = read_labelled(output, "bench/runtime");
  std::vector<std::string> before;
  for (const auto& [name, value] : runtime.attributes) {
    const auto* lines = std::get_if<std::vector<std::string>>(&value);
    if (name == "sweep" && lines != nullptr) before = *lines;
  }
  const std::vector<std::string> now = sweep_lines(sweep);
  if (before == now) return true;
  const auto differs = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
  misuse("{}: is finished, and another sweep (expected {}, found {})", output,
         differs.first == before.end() ? "nothing" : *differs.first,
         differs.second == now.end() ? "nothing" : *differs.second);
}

}  // namespace

void run_bench(const Sweep& sweep, const Workload& workload, const BenchOptions& options) {
  check_sweep(sweep, workload.operations);
  if (options.resume && finished(sweep, options.output)) return;
  probe_writable(options.output);
  Run(sweep, workload, options).finish();
}

}  // namespace conelab
