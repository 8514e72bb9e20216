#include "core/bench/admission.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/bench/peak.h"

namespace conelab {
namespace {

/// A case that would take longer than the limit at this share of the multiply-add peak is doubtful:
/// its rate is measured before it starts.
constexpr double modest_share = 0.02;
/// On a case of this length, or the sweep's shortest where that is longer.
constexpr std::int64_t probe_length = 1024;

std::string too_large(const Prediction& prediction, double memory) {
  return fmt::format("would need {:.1f} GB of memory, {:.1f} GB are free", prediction.bytes * 1e-9,
                     memory * 1e-9);
}

/// Files that the pipes of so many workers are, beside those of everything else.
std::int64_t pipes_of(int workers) { return 64 + 2 * static_cast<std::int64_t>(workers); }

/// Whether so many files may be open at once; raises the limit where the system lets it.
bool may_open(std::int64_t files) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  const auto wanted = static_cast<rlim_t>(files);
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted) return true;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  return limit.rlim_cur >= wanted && setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace

Admission::Admission(std::string output, const Sweep& sweep, Crew& crew, Slots& slots)
    : output_(std::move(output)),
      sweep_(&sweep),
      crew_(&crew),
      slots_(&slots),
      peak_(measure_peak(Dtype::f64, 1, 0.02)),
      memory_(available_memory()) {
  double idle = 0, largest = 0;
  for (int i = 0; i < slots.count(); ++i) {
    Slot& slot = slots.at(i);
    slot.prediction = crew.predict(i);
    if (slot.why_skipped) continue;  // A peer says that it has no such case.
    if (memory_ > 0 && slot.prediction.bytes > memory_) {
      slot.why_skipped = too_large(slot.prediction, memory_);
      continue;
    }
    idle += slot.prediction.idle_bytes;
    largest = std::max(largest, slot.prediction.bytes);
  }
  const bool fit = memory_ == 0 || idle + largest < memory_ / 2;
  if (!fit || !may_open(pipes_of(slots.count()))) crew.keep_none();
}

void Admission::decide(int slot, Forecast& forecast) {
  Slot& s = slots_->at(slot);
  if (s.worked > 0) {
    const bool lacks = memory_ > 0 && s.prediction.bytes > memory_;
    if (lacks) {
      fail("{}: {} {}", output_, describe(s.labels()), too_large(s.prediction, memory_));
    }
    s.why_skipped = "";
  }
  if (!s.why_skipped) s.why_skipped = why_endless(slot, forecast);
}

std::string Admission::why_endless(int slot, Forecast& forecast) {
  const Case& c = slots_->at(slot).labels();
  const double runs = sweep_->cold ? 3 : 2;  // Of a sample: to warm up, warm, and cold.
  const double flops = slots_->at(slot).prediction.flops;
  if (c.device != "cpu" || runs * flops <= sweep_->time_limit * modest_share * peak_) return "";
  if (forecast.rate(c).flops == 0) {
    Case shorter = c;
    shorter.seq_len = std::min(c.seq_len, std::max(probe_length, sweep_->lengths.front()));
    const Crew::Probe run = crew_->probe(slot, shorter.seq_len);
    forecast.learn(shorter, run.flops, run.seconds);
  }
  const Forecast::Rate rate = forecast.rate(c);
  if (rate.flops == 0 || runs * flops <= sweep_->time_limit * rate.flops) return "";
  return fmt::format(
      "would take {:.3g} s a run at the {:.3g} GFLOP/s measured at n = {}, the limit is {:.3g} s a "
      "sample, {} runs",
      flops / rate.flops, rate.flops * 1e-9, rate.seq_len, sweep_->time_limit, runs);
}

}  // namespace conelab
