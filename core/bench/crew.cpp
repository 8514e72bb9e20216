#include "core/bench/crew.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/bench/peak.h"

namespace conelab {
namespace {

/// Of each of the two measurements of the machine's peak around a peer's sample.
constexpr double peak_seconds = 0.002;

double machine_peak(const Case& c) {
  return measure_peak(dtype_from_name(c.dtype), static_cast<int>(c.threads), peak_seconds);
}

}  // namespace

bool has_operator(const Peer& peer, const std::string& name) {
  return std::find(peer.operations.begin(), peer.operations.end(), name) != peer.operations.end();
}

WorkerProcess& Crew::Seat::started() {
  if (process == nullptr) process = std::make_unique<WorkerProcess>(command);
  return *process;
}

void Crew::Seat::end() {
  process.reset();
  prepared = -1;
}

Crew::Crew(const Sweep& sweep, const Workload& workload, const BenchOptions& options, Slots& slots)
    : sweep_(&sweep), workload_(&workload), options_(&options), slots_(&slots) {
  const auto& peers = options.peers;
  for (const Peer& peer : peers) seats_.push_back({peer.command, true});
  for (const Slot& slot : slots) {
    const auto has = [&](const Peer& p) { return has_operator(p, slot.labels().operation); };
    const auto peer = std::find_if(peers.begin(), peers.end(), has);
    const bool own = peer == peers.end();
    seat_of_.push_back(own ? seats_.size() : static_cast<std::size_t>(peer - peers.begin()));
    if (own) seats_.push_back({options.worker});
  }
}

Prediction Crew::predict(int slot) {
  const Case& c = slots_->at(slot).labels();
  Seat& own = seat(slot);
  if (!own.peer) return workload_->predict(c, sweep_->batch);
  Prediction prediction;
  const CaseStatus status = own.started().predict(c, sweep_->batch, patience(), prediction);
  if (status == CaseStatus::skipped) {
    slots_->at(slot).why_skipped = own.process->reason();
  } else if (status != CaseStatus::ok) {
    fail("{}: does not say what {} needs: {}", own.command.back(), describe(c),
         own.process->reason());
  }
  return prediction;
}

Crew::Probe Crew::probe(int slot, std::int64_t length) {
  Case c = slots_->at(slot).labels();
  c.seq_len = length;
  Seat one{seat(slot).command, false};
  CaseFacts facts;
  Sample sample;
  WorkerProcess& worker = one.started();
  const bool done = worker.prepare(c, sweep_->batch, sweep_->seed, patience()) == CaseStatus::ok &&
                    worker.facts(patience(), facts) == CaseStatus::ok &&
                    worker.sample(false, patience(), sample) == CaseStatus::ok;
  return done ? Probe{facts.flops, sample.warm} : Probe{};
}

void Crew::measure(int slot, PartRecord& record) {
  Seat& own = seat(slot);
  record.status = ask(slot, own.started(), record);
  if (record.status != CaseStatus::ok) record.reason = own.process->reason();
  if (record.status != CaseStatus::ok || !(keeps_ || own.peer)) own.end();
}

CaseStatus Crew::ask(int slot, WorkerProcess& worker, PartRecord& record) {
  const CaseResult& result = *slots_->at(slot).result;
  const Case& c = result.labels;
  Seat& own = seat(slot);
  CaseStatus status = CaseStatus::ok;
  if (own.prepared != slot) status = worker.prepare(c, sweep_->batch, sweep_->seed, patience());
  own.prepared = slot;
  const bool first = result.facts.flops == 0;
  if (status == CaseStatus::ok && first) status = worker.facts(patience(), record.facts);
  if (status != CaseStatus::ok) return status;
  const double before = own.peer ? machine_peak(c) : std::numeric_limits<double>::quiet_NaN();
  status = worker.sample(sweep_->cold, patience(), record.sample);
  if (own.peer && std::isnan(record.sample.peak_flops)) {
    record.sample.peak_flops = std::min(before, machine_peak(c));
  }
  return status;
}

}  // namespace conelab
