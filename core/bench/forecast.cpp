#include "core/bench/forecast.h"

#include <limits>

namespace conelab {
namespace {

/// What a sample takes beside its run: peaks, cold caches, messages.
constexpr double overhead = 0.05;

std::string line_of(Case c) {
  c.seq_len = 0;
  return describe(c);
}

}  // namespace

void Forecast::learn(const Case& c, double flops, double seconds) {
  if (!(seconds > 0) || !(flops > 0)) return;
  Rate& line = rates_[line_of(c)];
  if (c.seq_len >= line.seq_len) line = {flops / seconds, c.seq_len};
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

}  // namespace conelab
