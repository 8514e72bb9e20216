#include "core/bench/schedule.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/bench/machine.h"

namespace conelab {

// ---- forecast -----------------------------------------------------------------------------------

namespace {

/// Seconds that a sample takes in addition to its run, for peaks, cold caches and messages.
constexpr double overhead = 0.05;

std::string line_of(Case c) {
  c.set(axes().back().name, 0);
  return describe(c);
}

}  // namespace

void Forecast::learn(const Case& c, double flops, double seconds) {
  if (!(seconds > 0) || !(flops > 0)) return;
  Rate& line = rates_[line_of(c)];
  const std::int64_t length = c.number("seq_len");
  if (length >= line.length) line = {flops / seconds, length};
  flops_ += flops;
  seconds_ += seconds;
}

Forecast::Rate Forecast::rate(const Case& c) const {
  const auto line = rates_.find(line_of(c));
  return line == rates_.end() ? Rate{} : line->second;
}

void Forecast::learn_sample(const Case& c, double wall) { wall_[describe(c)] = wall; }

double Forecast::sample_seconds(const Case& c, double flops) const {
  if (const auto known = wall_.find(describe(c)); known != wall_.end()) return known->second;
  if (seconds_ <= 0) return std::numeric_limits<double>::quiet_NaN();
  const double line = rate(c).flops;
  return overhead + flops / (line > 0 ? line : flops_ / seconds_);
}

// ---- schedule -----------------------------------------------------------------------------------

namespace {

/// The assumed cost of a sample where only its share of all the work matters: seconds in addition
/// to its runs, and FLOP/s of a thread. They are constants instead of measurements, because the
/// shares must not change during a run or when it is resumed.
constexpr double nominal_overhead = 0.1;
constexpr double nominal_rate = 2e10;

/// Returns controls, evenly chosen from the cases of the shorter half of the lengths: long cases
/// cost most, may be skipped, and show no other false positives.
std::vector<CaseResult> chosen_controls(const Sweep& sweep, std::vector<CaseResult> cases) {
  const std::vector<std::int64_t> lengths = sweep.numbers(axes().back());
  const std::int64_t longest = lengths[(lengths.size() - 1) / 2];
  std::erase_if(cases, [&](const CaseResult& c) { return c.labels.number("seq_len") > longest; });
  const std::size_t count = std::min(static_cast<std::size_t>(sweep.controls), cases.size());
  std::vector<CaseResult> controls;
  for (std::size_t i = 0; i < count; ++i) controls.push_back(cases[i * cases.size() / count]);
  return controls;
}

}  // namespace

Schedule::Schedule(const Sweep& sweep, BenchResult& result) : sweep_(&sweep) {
  const std::vector<Sample> none(static_cast<std::size_t>(sweep.rounds));
  for (const Case& c : sweep.cases()) result.cases.push_back({c, {}, {}, {}, none});
  result.controls = chosen_controls(sweep, result.cases);
  for (CaseResult& c : result.cases) series_.push_back({&c});
  for (CaseResult& c : result.controls) series_.push_back({&c});
}

int Schedule::done() const {
  return std::accumulate(series_.begin(), series_.end(), 0,
                         [](int sum, const Series& series) { return sum + series.visits; });
}

double Schedule::nominal_cost(const Series& series) const {
  const Case& c = series.labels();
  const double runs = sweep_->cold ? 2 : 1;
  if (c["device"] != "cpu") return nominal_overhead;
  const double rate = nominal_rate * static_cast<double>(c.number("threads"));
  return nominal_overhead + std::min(runs * series.prediction.flops / rate, sweep_->time_limit);
}

double Schedule::work_share() const {
  double over = 0, left = 0;
  for (const Series& series : series_) {
    over += series.worked * nominal_cost(series);
    if (!series.ended()) left += (sweep_->rounds - series.visits) * nominal_cost(series);
  }
  return over + left > 0 ? over / (over + left) : static_cast<double>(done()) / total();
}

double Schedule::seconds_left(const Forecast& forecast) const {
  double left = 0;
  for (const Series& series : series_) {
    const int rounds = series.ended() ? 0 : sweep_->rounds - series.visits;
    if (rounds == 0) continue;
    left += rounds * forecast.sample_seconds(series.labels(), series.prediction.flops);
  }
  return left;
}

// ---- workers ------------------------------------------------------------------------------------

namespace {

double machine_peak(const Case& c) {
  return measure_peak(dtype_from_name(c["dtype"]), static_cast<int>(c.number("threads")));
}

/// Returns the command that starts the worker of a case, by mpirun if ranks share it.
std::vector<std::string> command_of(const Case& c, std::vector<std::string> command) {
  if (c.number("ranks") == 1) return command;
  if (command.front() == "/proc/self/exe") {
    command.front() = std::filesystem::read_symlink(command.front());
  }
  // The runner gives each rank its threads; Open MPI would bind it to one core.
  std::vector<std::string> words = {"env",
                                    "OMPI_MCA_hwloc_base_binding_policy=none",
                                    "OMPI_MCA_rmaps_base_oversubscribe=1",
                                    "mpirun",
                                    "-n",
                                    c["ranks"]};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace

WorkerProcess& Workers::Worker::started() {
  if (process == nullptr) process = std::make_unique<WorkerProcess>(command);
  return *process;
}

void Workers::Worker::end() {
  process.reset();
  prepared = -1;
}

Workers::Workers(const Sweep& sweep, const Workload& workload, const BenchOptions& options,
                 Schedule& schedule)
    : sweep_(&sweep), workload_(&workload), options_(&options), schedule_(&schedule) {
  const auto& peers = options.peers;
  for (const Peer& peer : peers) workers_.push_back({peer.command, true});
  for (const Series& series : schedule) {
    const auto has = [&](const Peer& p) { return p.has(series.labels()["operator"]); };
    const auto peer = std::ranges::find_if(peers, has);
    const bool own = peer == peers.end();
    worker_of_.push_back(own ? workers_.size() : static_cast<std::size_t>(peer - peers.begin()));
    if (own) workers_.push_back({command_of(series.labels(), options.worker)});
  }
}

Prediction Workers::predict(int series) {
  const Case& c = schedule_->at(series).labels();
  Worker& own = worker(series);
  Prediction prediction;
  if (!own.peer) {
    const std::string_view skipped = "skipped: ";
    try {
      return workload_->predict(c, sweep_->batch);
    } catch (const Error& error) {
      const std::string_view why = error.what();
      if (!why.starts_with(skipped)) throw;
      schedule_->at(series).why_skipped = std::string(why.substr(skipped.size()));
      return prediction;
    }
  }
  const CaseStatus status = own.started().predict(c, sweep_->batch, limit(), prediction);
  if (status == CaseStatus::skipped) {
    schedule_->at(series).why_skipped = own.process->reason();
  } else if (status != CaseStatus::ok) {
    fail("{}: does not say what {} needs: {}", own.command.back(), describe(c),
         own.process->reason());
  }
  return prediction;
}

Workers::Probe Workers::probe(int series, std::int64_t length) {
  Case c = schedule_->at(series).labels();
  c.set("seq_len", length);
  Worker one{worker(series).command, false};
  CaseFacts facts;
  Sample sample;
  WorkerProcess& process = one.started();
  const bool done = process.prepare(c, sweep_->batch, sweep_->seed, limit()) == CaseStatus::ok &&
                    process.facts(limit(), facts) == CaseStatus::ok &&
                    process.sample(false, limit(), sample) == CaseStatus::ok;
  return done ? Probe{facts.flops, sample.warm} : Probe{};
}

void Workers::measure(int series, PartRecord& record) {
  Worker& own = worker(series);
  record.status = ask(series, own.started(), record);
  if (record.status != CaseStatus::ok) record.reason = own.process->reason();
  if (record.status != CaseStatus::ok || !(keeps_ || own.peer)) own.end();
}

CaseStatus Workers::ask(int series, WorkerProcess& process, PartRecord& record) {
  const CaseResult& result = *schedule_->at(series).result;
  const Case& c = result.labels;
  Worker& own = worker(series);
  CaseStatus status = CaseStatus::ok;
  if (own.prepared != series) status = process.prepare(c, sweep_->batch, sweep_->seed, limit());
  own.prepared = series;
  const bool first = result.facts.flops == 0;
  if (status == CaseStatus::ok && first) status = process.facts(limit(), record.facts);
  if (status != CaseStatus::ok) return status;
  const double before = own.peer ? machine_peak(c) : std::numeric_limits<double>::quiet_NaN();
  status = process.sample(sweep_->cold, limit(), record.sample);
  if (own.peer && std::isnan(record.sample.peak_flops)) {
    record.sample.peak_flops = std::min(before, machine_peak(c));
  }
  return status;
}

// ---- admission ----------------------------------------------------------------------------------

namespace {

/// A case is doubtful if it would take longer than the limit at this share of the peak. Its speed
/// is measured at a shorter length before it starts.
constexpr double doubtful_share = 0.02;
/// This speed is measured at this length, or at the shortest length of the sweep if that is longer.
constexpr std::int64_t probe_length = 1024;

std::string too_large(const Prediction& prediction, double memory) {
  return fmt::format("would need {:.1f} GB of memory, {:.1f} GB are free", prediction.bytes * 1e-9,
                     memory * 1e-9);
}

/// Returns the number of open files that so many workers need: two for the pipes of each, and those
/// of everything else.
std::int64_t pipes_of(int workers) { return 64 + 2 * static_cast<std::int64_t>(workers); }

/// Returns whether so many files may be open at the same time. Raises the limit if the system
/// permits it.
bool may_open(std::int64_t files) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  const auto wanted = static_cast<rlim_t>(files);
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted) return true;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  return limit.rlim_cur >= wanted && setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace

Admission::Admission(std::string output, const Sweep& sweep, Workers& workers, Schedule& schedule)
    : output_(std::move(output)),
      sweep_(&sweep),
      workers_(&workers),
      schedule_(&schedule),
      peak_(measure_peak(Dtype::f64, 1, 0.02)),
      memory_(available_memory()) {
  double idle = 0, largest = 0;
  for (int i = 0; i < schedule.count(); ++i) {
    Series& series = schedule.at(i);
    series.prediction = workers.predict(i);
    if (series.why_skipped) continue;  // The peer reported that it has no such case.
    if (memory_ > 0 && series.prediction.bytes > memory_) {
      series.why_skipped = too_large(series.prediction, memory_);
      continue;
    }
    idle += series.prediction.idle_bytes;
    largest = std::max(largest, series.prediction.bytes);
  }
  const bool fit = memory_ == 0 || idle + largest < memory_ / 2;
  if (!fit || !may_open(pipes_of(schedule.count()))) workers.keep_none();
}

void Admission::decide(int series, Forecast& forecast) {
  Series& s = schedule_->at(series);
  if (s.worked > 0) {
    const bool lacks = memory_ > 0 && s.prediction.bytes > memory_;
    if (lacks) {
      fail("{}: {} {}", output_, describe(s.labels()), too_large(s.prediction, memory_));
    }
    s.why_skipped = "";
  }
  if (!s.why_skipped) s.why_skipped = why_endless(series, forecast);
}

std::string Admission::why_endless(int series, Forecast& forecast) {
  const Case& c = schedule_->at(series).labels();
  const double runs = sweep_->cold ? 3 : 2;  // Of a sample: one to warm up, one warm and one cold.
  const double flops = schedule_->at(series).prediction.flops;
  if (c["device"] != "cpu" || runs * flops <= sweep_->time_limit * doubtful_share * peak_)
    return "";
  if (forecast.rate(c).flops == 0) {
    Case shorter = c;
    const std::int64_t shortest = sweep_->numbers(axes().back()).front();
    const std::int64_t length = std::min(c.number("seq_len"), std::max(probe_length, shortest));
    shorter.set("seq_len", length);
    const Workers::Probe run = workers_->probe(series, length);
    forecast.learn(shorter, run.flops, run.seconds);
  }
  const Forecast::Rate rate = forecast.rate(c);
  if (rate.flops == 0 || runs * flops <= sweep_->time_limit * rate.flops) return "";
  return fmt::format(
      "would take {:.3g} s a run at the {:.3g} GFLOP/s measured at n = {}, the limit is {:.3g} s a "
      "sample, {} runs",
      flops / rate.flops, rate.flops * 1e-9, rate.length, sweep_->time_limit, runs);
}

}  // namespace conelab
