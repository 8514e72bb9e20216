#include "core/bench/admission.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/environment.h"
#include "core/bench/peak.h"

namespace conelab {
namespace {

/// A case that would take longer than the limit at this share of the multiply-add peak is doubtful:
/// its rate is measured before it starts.
constexpr double modest_share = 0.02;
/// On a case of this length, or the sweep's shortest where that is longer.
constexpr std::int64_t probe_length = 1024;

}  // namespace

Admission::Admission(const Sweep& sweep, Crew& crew, Slots& slots)
    : sweep_(&sweep), crew_(&crew), slots_(&slots), peak_(measure_peak(Dtype::f64, 1, 0.02)) {
  const double memory = available_memory();
  double idle = 0, largest = 0;
  for (int i = 0; i < slots.count(); ++i) {
    Slot& slot = slots.at(i);
    slot.prediction = crew.predict(i);
    if (memory > 0 && slot.prediction.bytes > memory) {
      slot.why_skipped = fmt::format("would need {:.1f} GB of memory, {:.1f} GB are free",
                                     slot.prediction.bytes * 1e-9, memory * 1e-9);
      continue;
    }
    idle += slot.prediction.idle_bytes;
    largest = std::max(largest, slot.prediction.bytes);
  }
  if (!(idle + largest < memory / 2)) crew.keep_none();
}

void Admission::decide(int slot, Forecast& forecast) {
  Slot& s = slots_->at(slot);
  if (!s.why_skipped) s.why_skipped = why_endless(slot, forecast);
}

std::string Admission::why_endless(int slot, Forecast& forecast) {
  const Case& c = slots_->at(slot).labels();
  const double flops = slots_->at(slot).prediction.flops;
  if (c.device != "cpu" || flops <= sweep_->time_limit * modest_share * peak_) return "";
  if (forecast.rate(c).flops == 0) {
    Case shorter = c;
    shorter.seq_len = std::min(c.seq_len, std::max(probe_length, sweep_->lengths.front()));
    const Crew::Probe run = crew_->probe(slot, shorter.seq_len);
    forecast.learn(shorter, run.flops, run.seconds);
  }
  const Forecast::Rate rate = forecast.rate(c);
  if (rate.flops == 0 || flops <= sweep_->time_limit * rate.flops) return "";
  return fmt::format(
      "would take {:.3g} s a run at the {:.3g} GFLOP/s measured at n = {}, the "
      "limit is {:.3g} s",
      flops / rate.flops, rate.flops * 1e-9, rate.seq_len, sweep_->time_limit);
}

}  // namespace conelab
