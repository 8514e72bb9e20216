#include "core/bench/runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/bench/bandwidth.h"
#include "core/bench/forecast.h"
#include "core/bench/parts.h"
#include "core/bench/peak.h"
#include "core/bench/result_place.h"
#include "core/statistics/order.h"

namespace conelab {
namespace {

/// A case that would take longer than the limit at this share of the multiply-add peak is doubtful:
/// its rate is measured before it starts.
constexpr double modest_share = 0.02;
/// On a case of this length, or the sweep's shortest where that is longer.
constexpr std::int64_t probe_length = 1024;
/// What a sample is taken to cost where only the share of it counts: seconds beside its runs, and
/// FLOP/s of a thread. Constants, and no measurements: shares of the work must be the same from one
/// moment, and from one resumed run, to the next.
constexpr double nominal_overhead = 0.1;
constexpr double nominal_rate = 2e10;
/// Of each of the two measurements of the machine's peak around a peer's sample.
constexpr double peak_seconds = 0.002;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// A run can only be resumed by the same build on the same machine: its samples are compared.
RunIdentity run_identity(const Sweep& sweep, const BenchOptions& options) {
  RunIdentity identity = sweep.items();
  for (const auto& [name, value] : environment()) {
    if (name != "version" && name != "git_hash" && name != "cpu" && name != "simd") continue;
    identity.emplace_back(name, std::get<std::string>(value));
  }
  // Two builds of edited sources have the same hash.
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

bool has_operator(const Peer& peer, const std::string& name) {
  return std::find(peer.operations.begin(), peer.operations.end(), name) != peer.operations.end();
}

std::vector<std::string> known_operators(const Workload& workload, const std::vector<Peer>& peers) {
  std::vector<std::string> known = workload.operations;
  for (const Peer& peer : peers) {
    for (const std::string& name : peer.operations) {
      if (std::find(known.begin(), known.end(), name) != known.end()) {
        misuse("operator '{}' of {} has the name of another one", name, peer.command.back());
      }
      known.push_back(name);
    }
  }
  return known;
}

/// Parameters are for this program's own operators.
void check_parameters(const Sweep& sweep, const Workload& workload) {
  for (const std::string& operation : sweep.operations) {
    const std::string name = operator_name(operation);
    if (name == operation) continue;
    const auto& own = workload.operations;
    if (workload.check == nullptr || std::find(own.begin(), own.end(), name) == own.end()) {
      misuse("operator '{}': {} takes no parameters here", operation, name);
    }
    workload.check(operation);
  }
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A case of the sweep, or its copy in the A/A control, on its way through the rounds.
struct Slot {
  CaseResult* result;
  std::size_t seat;  ///< Which process measures it.
  Prediction prediction;
  std::optional<std::string> why_skipped;  ///< Empty text: it runs; nothing: not decided yet.
  int visits = 0;                          ///< Rounds that are over.
  int worked = 0;                          ///< Rounds in which it was measured.

  [[nodiscard]] bool ended() const {
    return result->status != CaseStatus::ok || (why_skipped && !why_skipped->empty());
  }
};

/// A process and the slot that it is prepared for, -1 for none.
struct Seat {
  std::vector<std::string> command;
  bool peer = false;
  std::unique_ptr<WorkerProcess> process = nullptr;
  int prepared = -1;

  WorkerProcess& started() {
    if (process == nullptr) process = std::make_unique<WorkerProcess>(command);
    return *process;
  }
  void end() {
    process.reset();
    prepared = -1;
  }
};

class Run {
 public:
  Run(const Sweep& sweep, const Workload& workload, const BenchOptions& options)
      : sweep_(sweep),
        workload_(workload),
        options_(options),
        parts_(options.output, run_identity(sweep, options), options.resume, options.cancelled),
        bandwidth_(workload.bandwidth, sweep.rounds) {
    warn_of_damaged();
    result_.sweep = sweep;
    result_.devices = options.devices;
    const std::vector<Sample> none(static_cast<std::size_t>(sweep.rounds));
    for (const Case& c : sweep.cases()) result_.cases.push_back({c, {}, {}, {}, none});
    for (const Peer& peer : options.peers) {
      result_.peers.push_back(peer.about);
      seats_.push_back({peer.command, true});
    }
    choose_controls();
    for (CaseResult& c : result_.cases) add_slot(c);
    for (CaseResult& c : result_.controls) add_slot(c);
    predict();
  }

  const BenchResult& measure_all() {
    const int count = static_cast<int>(slots_.size());
    const auto orders = balanced_orders(count, sweep_.rounds, sweep_.seed);
    for (int round = 0; round < sweep_.rounds; ++round) {
      round_state_ = machine_state();
      for (const int slot : orders[static_cast<std::size_t>(round)]) visit(slot, round);
      result_.load.push_back(round_state_.load);
      result_.clock.push_back(round_state_.clock);
      result_.temperature.push_back(round_state_.temperature);
    }
    seats_.clear();
    return result_;
  }

  void discard_samples() { parts_.discard(); }

 private:
  const Sweep& sweep_;
  const Workload& workload_;
  const BenchOptions& options_;
  Parts parts_;
  BandwidthWatch bandwidth_;
  Clock::time_point start_ = Clock::now();
  BenchResult result_;
  std::vector<Slot> slots_;  ///< Cases, then controls.
  std::vector<Seat> seats_;  ///< One a peer, then one a slot of our own.
  bool keep_workers_ = true;
  double memory_ = 0;  ///< That was free before the first worker.
  double peak_ = 0;    ///< Of one thread.
  Forecast forecast_;
  MachineState round_state_;
  int done_ = 0;

  [[nodiscard]] int total() const { return static_cast<int>(slots_.size()) * sweep_.rounds; }
  [[nodiscard]] bool cancelled() const { return options_.cancelled && options_.cancelled(); }

  void warn_of_damaged() const {
    if (!options_.warned) return;
    for (const std::string& why : parts_.damaged()) {
      options_.warned(why + "; it is measured again");
    }
  }

  /// Depends on the sweep alone, so that a resumed run has the same. Of the shorter half of the
  /// lengths: the long ones cost most, may be skipped, and show no other false positives.
  void choose_controls() {
    const std::int64_t longest = sweep_.lengths[(sweep_.lengths.size() - 1) / 2];
    std::vector<CaseResult> candidates = result_.cases;
    std::erase_if(candidates, [&](const CaseResult& c) { return c.labels.seq_len > longest; });
    const std::size_t controls =
        std::min(static_cast<std::size_t>(sweep_.controls), candidates.size());
    for (std::size_t i = 0; i < controls; ++i) {
      result_.controls.push_back(candidates[i * candidates.size() / controls]);
    }
  }

  void add_slot(CaseResult& c) {
    const auto& peers = options_.peers;
    const auto has = [&](const Peer& p) { return has_operator(p, c.labels.operation); };
    const auto peer = std::find_if(peers.begin(), peers.end(), has);
    auto seat = static_cast<std::size_t>(peer - peers.begin());
    if (peer == peers.end()) {
      seat = seats_.size();
      seats_.push_back({options_.worker});
    }
    slots_.push_back({&c, seat, {}, {}});
  }

  /// What each case needs, and whether all workers fit at once.
  void predict() {
    peak_ = measure_peak(Dtype::f64, 1, 0.02);
    memory_ = available_memory();
    double idle = 0, largest = 0;
    for (Slot& slot : slots_) {
      slot.prediction = predicted(slot);
      if (memory_ > 0 && slot.prediction.bytes > memory_) {
        slot.why_skipped = fmt::format("would need {:.1f} GB of memory, {:.1f} GB are free",
                                       slot.prediction.bytes * 1e-9, memory_ * 1e-9);
        continue;
      }
      idle += slot.prediction.idle_bytes;
      largest = std::max(largest, slot.prediction.bytes);
    }
    keep_workers_ = idle + largest < memory_ / 2;
  }

  Prediction predicted(const Slot& slot) {
    const Case& c = slot.result->labels;
    Seat& seat = seats_[slot.seat];
    if (!seat.peer) return workload_.predict(c, sweep_.batch);
    Prediction prediction;
    if (seat.started().predict(c, sweep_.batch, patience(), prediction) != CaseStatus::ok) {
      fail("{}: does not say what {} needs: {}", seat.command.back(), describe(c),
           seat.process->reason());
    }
    return prediction;
  }

  /// Why a case is not started: it would not end. Empty where it is. Doubt is settled by measuring
  /// the rate of a shorter case of the same line.
  std::string why_endless(const Slot& slot) {
    const Case& c = slot.result->labels;
    const double flops = slot.prediction.flops;
    if (c.device != "cpu" || flops <= sweep_.time_limit * modest_share * peak_) return "";
    if (forecast_.rate(c).flops == 0) probe(slot);
    const Forecast::Rate rate = forecast_.rate(c);
    if (rate.flops == 0 || flops <= sweep_.time_limit * rate.flops) return "";
    return fmt::format(
        "would take {:.3g} s a run at the {:.3g} GFLOP/s measured at n = {}, the "
        "limit is {:.3g} s",
        flops / rate.flops, rate.flops * 1e-9, rate.seq_len, sweep_.time_limit);
  }

  void probe(const Slot& slot) {
    Case c = slot.result->labels;
    c.seq_len = std::min(c.seq_len, std::max(probe_length, sweep_.lengths.front()));
    Seat one{seats_[slot.seat].command, false};
    CaseFacts facts;
    Sample sample;
    WorkerProcess& worker = one.started();
    if (worker.prepare(c, sweep_.batch, sweep_.seed, patience()) == CaseStatus::ok &&
        worker.facts(patience(), facts) == CaseStatus::ok &&
        worker.sample(false, patience(), sample) == CaseStatus::ok) {
      forecast_.learn(c, facts.flops, sample.warm);
    }
  }

  [[nodiscard]] Patience patience() const { return {sweep_.time_limit, options_.cancelled}; }

  /// Seconds that the rest of the sweep will take; NaN where unknown.
  [[nodiscard]] double seconds_left() const {
    double left = 0;
    for (const Slot& slot : slots_) {
      const int rounds = slot.ended() ? 0 : sweep_.rounds - slot.visits;
      if (rounds == 0) continue;
      left += rounds * forecast_.sample_seconds(slot.result->labels, slot.prediction.flops);
    }
    return left;
  }

  [[nodiscard]] double nominal_cost(const Slot& slot) const {
    const Case& c = slot.result->labels;
    const double runs = sweep_.cold ? 2 : 1;
    if (c.device != "cpu") return nominal_overhead;
    const double rate = nominal_rate * static_cast<double>(c.threads);
    return nominal_overhead + std::min(runs * slot.prediction.flops / rate, sweep_.time_limit);
  }

  /// What is over only grows, what is left only shrinks: so does not the share.
  [[nodiscard]] double work_share() const {
    double over = 0, left = 0;
    for (const Slot& slot : slots_) {
      over += slot.worked * nominal_cost(slot);
      if (!slot.ended()) left += (sweep_.rounds - slot.visits) * nominal_cost(slot);
    }
    return over + left > 0 ? over / (over + left) : static_cast<double>(done_) / total();
  }

  void report(const CaseResult& slot) const {
    if (!options_.progress) return;
    options_.progress({done_, total(), work_share(), seconds_left(), describe(slot.labels)});
  }

  [[noreturn]] void interrupt() {
    if (!Parts::exist(options_.output)) {
      parts_.discard();
      throw Error(ErrorKind::interrupted,
                  fmt::format("{}: interrupted before anything was measured", options_.output));
    }
    throw Error(ErrorKind::interrupted,
                fmt::format("{}: interrupted; {} of {} samples are kept, continue with --resume",
                            options_.output, done_, total()));
  }

  /// One sample of one case, from its sealed file or measured now.
  void visit(int index, int round) {
    Slot& slot = slots_[static_cast<std::size_t>(index)];
    CaseResult& result = *slot.result;
    report(result);
    if (result.status == CaseStatus::ok) {
      take(result, round, sealed_record(index, round));
      if (result.status != CaseStatus::skipped) ++slot.worked;
    }
    ++slot.visits;
    ++done_;
    report(result);
    if (options_.sampled) options_.sampled(result_);
  }

  void take(CaseResult& slot, int round, const PartRecord& record) {
    slot.status = record.status;
    slot.reason = record.reason;
    slot.facts = record.facts;
    slot.samples[static_cast<std::size_t>(round)] = record.sample;
    round_state_ = record.machine;
    forecast_.learn(slot.labels, record.facts.flops, record.sample.warm);
  }

  PartRecord sealed_record(int index, int round) {
    if (auto sealed = parts_.load(index, round)) return *sealed;
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
    // A signal to the whole group may have ended the worker: that is no result.
    if (record.status != CaseStatus::ok && cancelled()) interrupt();
    const Case& labels = slots_[static_cast<std::size_t>(index)].result->labels;
    forecast_.learn_sample(labels, seconds_since(start));
    if (record.status == CaseStatus::ok) {
      record.sample.bandwidth = bandwidth_.beside(labels, round, seconds_since(start_));
    }
    parts_.seal(index, round, record);
    return record;
  }

  PartRecord measure(int index) {
    Slot& slot = slots_[static_cast<std::size_t>(index)];
    PartRecord record;
    record.facts = slot.result->facts;
    if (!slot.why_skipped) slot.why_skipped = why_endless(slot);
    if (!slot.why_skipped->empty()) {
      record.status = CaseStatus::skipped;
      record.reason = *slot.why_skipped;
      return record;
    }
    Seat& seat = seats_[slot.seat];
    record.status = ask_worker(index, seat.started(), record);
    if (record.status != CaseStatus::ok) record.reason = seat.process->reason();
    if (record.status != CaseStatus::ok || !(keep_workers_ || seat.peer)) seat.end();
    return record;
  }

  CaseStatus ask_worker(int index, WorkerProcess& worker, PartRecord& record) {
    const Slot& slot = slots_[static_cast<std::size_t>(index)];
    const Case& c = slot.result->labels;
    Seat& seat = seats_[slot.seat];
    CaseStatus status = CaseStatus::ok;
    if (seat.prepared != index) status = worker.prepare(c, sweep_.batch, sweep_.seed, patience());
    seat.prepared = index;
    const bool first = slot.result->facts.flops == 0;
    if (status == CaseStatus::ok && first) status = worker.facts(patience(), record.facts);
    if (status != CaseStatus::ok) return status;
    const double before = seat.peer ? machine_peak(c) : unknown;
    status = worker.sample(sweep_.cold, patience(), record.sample);
    if (seat.peer && std::isnan(record.sample.peak_flops)) {
      record.sample.peak_flops = std::min(before, machine_peak(c));
    }
    return status;
  }

  static double machine_peak(const Case& c) {
    return measure_peak(dtype_from_name(c.dtype), static_cast<int>(c.threads), peak_seconds);
  }
};

}  // namespace

BenchEnding run_bench(const Sweep& sweep, const Workload& workload, const BenchOptions& options) {
  check_sweep(sweep, known_operators(workload, options.peers));
  check_parameters(sweep, workload);
  const ResultPlace place(sweep, options);
  if (place.finished()) {
    Parts::clear_finished(options.output);
    return BenchEnding::was_finished;
  }
  Run run(sweep, workload, options);
  const BenchResult& result = run.measure_all();
  const bool accepted = ResultPlace::accepts(result);
  const BenchEnding ending = accepted ? place.write(result) : BenchEnding::written;
  run.discard_samples();
  if (!accepted) place.refuse(result);
  return ending;
}

}  // namespace conelab
