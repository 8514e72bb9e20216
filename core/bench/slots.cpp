#include "core/bench/slots.h"

#include <algorithm>
#include <numeric>

namespace conelab {
namespace {

/// What a sample is taken to cost where only the share of it counts: seconds beside its runs, and
/// FLOP/s of a thread. Constants, and no measurements: shares of the work must be the same from one
/// moment, and from one resumed run, to the next.
constexpr double nominal_overhead = 0.1;
constexpr double nominal_rate = 2e10;

/// Of the shorter half of the lengths: the long ones cost most, may be skipped, and show no other
/// false positives.
std::vector<CaseResult> chosen_controls(const Sweep& sweep, std::vector<CaseResult> cases) {
  const std::int64_t longest = sweep.lengths[(sweep.lengths.size() - 1) / 2];
  std::erase_if(cases, [&](const CaseResult& c) { return c.labels.seq_len > longest; });
  const std::size_t count = std::min(static_cast<std::size_t>(sweep.controls), cases.size());
  std::vector<CaseResult> controls;
  for (std::size_t i = 0; i < count; ++i) controls.push_back(cases[i * cases.size() / count]);
  return controls;
}

}  // namespace

Slots::Slots(const Sweep& sweep, BenchResult& result) : sweep_(&sweep) {
  const std::vector<Sample> none(static_cast<std::size_t>(sweep.rounds));
  for (const Case& c : sweep.cases()) result.cases.push_back({c, {}, {}, {}, none});
  result.controls = chosen_controls(sweep, result.cases);
  for (CaseResult& c : result.cases) slots_.push_back({&c});
  for (CaseResult& c : result.controls) slots_.push_back({&c});
}

int Slots::done() const {
  return std::accumulate(slots_.begin(), slots_.end(), 0,
                         [](int sum, const Slot& slot) { return sum + slot.visits; });
}

double Slots::nominal_cost(const Slot& slot) const {
  const Case& c = slot.labels();
  const double runs = sweep_->cold ? 2 : 1;
  if (c.device != "cpu") return nominal_overhead;
  const double rate = nominal_rate * static_cast<double>(c.threads);
  return nominal_overhead + std::min(runs * slot.prediction.flops / rate, sweep_->time_limit);
}

double Slots::work_share() const {
  double over = 0, left = 0;
  for (const Slot& slot : slots_) {
    over += slot.worked * nominal_cost(slot);
    if (!slot.ended()) left += (sweep_->rounds - slot.visits) * nominal_cost(slot);
  }
  return over + left > 0 ? over / (over + left) : static_cast<double>(done()) / total();
}

double Slots::seconds_left(const Forecast& forecast) const {
  double left = 0;
  for (const Slot& slot : slots_) {
    const int rounds = slot.ended() ? 0 : sweep_->rounds - slot.visits;
    if (rounds == 0) continue;
    left += rounds * forecast.sample_seconds(slot.labels(), slot.prediction.flops);
  }
  return left;
}

}  // namespace conelab
