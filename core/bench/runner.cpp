#include "core/bench/runner.h"

#include <algorithm>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/bench/machine.h"
#include "core/bench/parts.h"
#include "core/bench/schedule.h"
#include "core/files/atomic_file.h"
#include "core/simd/kernels.h"
#include "core/statistics/order.h"

namespace conelab {
namespace {

/// Returns what must be equal to resume a run: sweep, program, machine, peers and devices. Samples
/// of one run are compared with each other.
RunIdentity run_identity(const Sweep& sweep, const BenchOptions& options) {
  RunIdentity identity = sweep.items();
  for (const auto& [name, value] : environment(simd_summary())) {
    if (name != "version" && name != "git_hash" && name != "cpu" && name != "simd") continue;
    identity.emplace_back(name, std::get<std::string>(value));
  }
  // Two builds of edited sources may have the same git hash.
  identity.emplace_back("program", program_digest());
  const auto add_all = [&](const std::string& name, const std::vector<std::string>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      identity.emplace_back(fmt::format("{} {}", name, i + 1), values[i]);
    }
  };
  std::vector<std::string> peers;
  for (const Peer& peer : options.peers) peers.push_back(peer.about);
  add_all("peer", peers);
  add_all("device", options.devices);
  return identity;
}

std::vector<std::string> known_operators(const Workload& workload, const std::vector<Peer>& peers) {
  std::vector<std::string> known = workload.operations;
  for (const Peer& peer : peers) {
    for (const std::string& name : peer.operations) {
      if (contains(known, name)) {
        misuse("operator '{}' of {} has the name of another one", name, peer.command.back());
      }
      known.push_back(name);
    }
  }
  return known;
}

/// Parameters are for this program's own operators. They are checked at the sizes of every case.
void check_parameters(const Sweep& sweep, const Workload& workload) {
  const auto& own = workload.operations;
  for (const Case& c : sweep.cases()) {
    const std::string& operation = c["operator"];
    const std::string name = operator_of_label(operation);
    if (name == operation) continue;
    if (workload.check == nullptr || !contains(own, name)) {
      misuse("operator '{}': {} takes no parameters here", operation, name);
    }
    workload.check(c, sweep.batch);
  }
}

class Run {
 public:
  Run(const Sweep& sweep, const Workload& workload, const BenchOptions& options)
      : sweep_(sweep),
        options_(options),
        parts_(options.output, run_identity(sweep, options), options.resume, options.cancelled),
        bandwidth_(workload.bandwidth, sweep.rounds),
        result_(empty_result(sweep, options)),
        schedule_(sweep, result_),
        workers_(sweep, workload, options, schedule_),
        admission_(options.output, sweep, workers_, schedule_) {
    for (const std::string& why : parts_.damaged()) {
      if (options.warned) options.warned(why + "; it is measured again");
    }
  }

  const BenchResult& measure_all() {
    const auto orders = balanced_orders(schedule_.count(), sweep_.rounds, sweep_.seed);
    for (int round = 0; round < sweep_.rounds; ++round) {
      round_state_ = machine_state();
      for (const int series : orders[static_cast<std::size_t>(round)]) visit(series, round);
      result_.load.push_back(round_state_.load);
      result_.clock.push_back(round_state_.clock);
      result_.temperature.push_back(round_state_.temperature);
    }
    workers_.end();
    return result_;
  }

  void discard_samples() { parts_.discard(); }

 private:
  const Sweep& sweep_;
  const BenchOptions& options_;
  Parts parts_;
  BandwidthSchedule bandwidth_;
  Clock::time_point start_ = Clock::now();
  BenchResult result_;
  Schedule schedule_;
  Workers workers_;
  Admission admission_;
  Forecast forecast_;
  MachineState round_state_;

  static BenchResult empty_result(const Sweep& sweep, const BenchOptions& options) {
    BenchResult result;
    result.sweep = sweep;
    result.devices = options.devices;
    for (const Peer& peer : options.peers) result.peers.push_back(peer.about);
    return result;
  }

  [[nodiscard]] bool cancelled() const { return options_.cancelled && options_.cancelled(); }

  void report(const Series& series) const {
    if (!options_.progress) return;
    options_.progress({schedule_.done(), schedule_.total(), schedule_.work_share(),
                       schedule_.seconds_left(forecast_), describe(series.labels())});
  }

  [[noreturn]] void interrupt() {
    if (!Parts::exist(options_.output)) {
      throw Error(ErrorKind::interrupted,
                  fmt::format("{}: interrupted before anything was measured", options_.output));
    }
    throw Error(ErrorKind::interrupted,
                fmt::format("{}: interrupted; {} of {} samples are kept, continue with --resume",
                            options_.output, schedule_.done(), schedule_.total()));
  }

  /// Adds one sample of one case, from its file or measured now.
  void visit(int index, int round) {
    Series& series = schedule_.at(index);
    report(series);
    if (series.result->status == CaseStatus::ok) {
      take(*series.result, round, sealed_record(index, round));
      if (series.result->status != CaseStatus::skipped) ++series.worked;
    }
    ++series.visits;
    report(series);
    if (options_.sampled) options_.sampled(result_);
  }

  void take(CaseResult& series, int round, const PartRecord& record) {
    series.status = record.status;
    series.reason = record.reason;
    series.facts = record.facts;
    series.samples[static_cast<std::size_t>(round)] = record.sample;
    round_state_ = record.machine;
    forecast_.learn(series.labels, record.facts.flops, record.sample.warm);
  }

  /// Returns whether a stored result remains valid. Skipped cases are predicted again, and a case
  /// that timed out is measured again if the time limit is longer now.
  [[nodiscard]] bool stands(const PartRecord& sealed) const {
    if (sealed.status == CaseStatus::skipped) return false;
    return sealed.status != CaseStatus::timed_out || sweep_.time_limit <= parts_.earlier_limit();
  }

  PartRecord sealed_record(int index, int round) {
    if (auto sealed = parts_.load(index, round); sealed && stands(*sealed)) return *sealed;
    if (cancelled()) interrupt();
    const auto start = Clock::now();
    PartRecord record;
    try {
      record = measure(index);
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::interrupted) interrupt();
      throw;
    }
    record.machine = round_state_;
    // A signal to the whole process group may have ended the worker. This is not a result.
    if (record.status != CaseStatus::ok && cancelled()) interrupt();
    const Case& labels = schedule_.at(index).labels();
    forecast_.learn_sample(labels, seconds_since(start));
    if (record.status == CaseStatus::ok) {
      record.sample.bandwidth = bandwidth_.beside(labels, round, seconds_since(start_));
    }
    parts_.seal(index, round, record);
    return record;
  }

  PartRecord measure(int index) {
    const Series& series = schedule_.at(index);
    PartRecord record;
    record.facts = series.result->facts;
    admission_.decide(index, forecast_);
    if (series.why_skipped->empty()) {
      workers_.measure(index, record);
    } else {
      record.status = CaseStatus::skipped;
      record.reason = *series.why_skipped;
    }
    return record;
  }
};

// ---- the result file at the output --------------------------------------------------------------

/// Returns how a run that measures something will end. Throws misuse if the output must not be
/// replaced.
BenchEnding ending_at(const Sweep& sweep, const BenchOptions& options) {
  const std::string& output = options.output;
  if (!result_exists(output)) return BenchEnding::written;
  if (!options.resume || Parts::begun(output)) return BenchEnding::replaced;
  const SandboxLimits limits{.cancelled = options.cancelled};
  const std::string difference =
      identity_difference(items_of_result(output, limits), sweep.items());
  if (!difference.empty()) {
    misuse("{}: is finished, and another sweep: {}", output, difference);
  }
  return BenchEnding::was_finished;
}

bool measured_something(const BenchResult& result) {
  return std::ranges::any_of(result.cases,
                             [](const CaseResult& c) { return c.status == CaseStatus::ok; });
}

[[noreturn]] void refuse(const BenchResult& result, const std::string& output, BenchEnding ending) {
  const CaseResult& first = result.cases.front();
  fail("{}: {}: no case was measured ({}: {}: {})", output,
       ending == BenchEnding::replaced ? "is left as it was" : "is not written",
       describe(first.labels), status_name(first.status), first.reason);
}

}  // namespace

BenchEnding run_bench(const Sweep& sweep, const Workload& workload, const BenchOptions& options) {
  check_sweep(sweep, known_operators(workload, options.peers));
  check_parameters(sweep, workload);
  const BenchEnding ending = ending_at(sweep, options);
  if (ending == BenchEnding::was_finished) {
    Parts::clear_finished(options.output);
    return ending;
  }
  probe_writable(options.output);
  Run run(sweep, workload, options);
  try {
    const BenchResult& result = run.measure_all();
    const bool measured = measured_something(result);
    if (measured) write_labelled(options.output, bench_file(result));
    run.discard_samples();
    if (!measured) refuse(result, options.output, ending);
    return ending;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::failure || !Parts::exist(options.output)) throw;
    throw Error(error.kind(), fmt::format("{}; the samples so far are kept, continue with --resume",
                                          error.what()));
  }
}

}  // namespace conelab
