#include "core/bench/rank_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/bench/operator_case.h"
#include "core/ring/blocks.h"

namespace conelab {
namespace {

constexpr double bytes_per_gigabit = 1e9 / 8;

double operations(Case labels, std::int64_t length) {
  labels.set("seq_len", length);
  labels.set("ranks", "1");
  return operator_workload().predict(labels, 1).flops;
}

/// Returns the passes of a case at a length. The measured time is divided among them by their
/// operations: d + d_v products of a pair forward, 3 d + 2 d_v backward.
std::vector<SharedPass> passes_of(const MeasuredCase& c, std::int64_t length, double speed) {
  const Case& labels = c.labels;
  const std::int64_t own_heads = labels.number("key_head"), own_values = labels.number("value_dim");
  const double d = static_cast<double>(labels.number("dim"));
  const double d_v = own_values == 0 ? d : static_cast<double>(own_values);
  const std::int64_t heads = own_heads == 0 ? labels.number("head") : own_heads;
  const double measured = operations(labels, labels.number("seq_len"));
  const double batch = std::round(c.flops / measured);
  const double columns = batch * static_cast<double>(heads) * (d + d_v);
  const double number = labels["dtype"] == "f64" ? sizeof(double) : sizeof(float);
  const double seconds = c.time * static_cast<double>(labels.number("ranks")) *
                         operations(labels, length) / measured / speed;
  SharedPass forward{seconds, length, number * columns, 0};
  if (labels["pass"] == "forward") return {forward};
  const double share = (d + d_v) / (4 * d + 3 * d_v);
  const SharedPass backward{seconds * (1 - share), length, number * columns,
                            sizeof(double) * columns};
  forward.seconds *= share;
  return {forward, backward};
}

/// Returns the case that the prediction for a line starts from: the longest, with the fewest ranks
/// above one if there are any. Null: no case has a time.
const MeasuredCase* base_of(const std::vector<const MeasuredCase*>& line) {
  const auto order = [](const MeasuredCase* c) {
    const std::int64_t ranks = c->labels.number("ranks");
    return std::pair(-c->labels.number("seq_len"),
                     ranks == 1 ? std::numeric_limits<std::int64_t>::max() : ranks);
  };
  const auto found = std::ranges::min_element(line, {}, order);
  return found == line.end() ? nullptr : *found;
}

double bandwidth_of(const std::string& network) {
  const std::optional<double> gigabits = parse_number(network);
  if (!gigabits || !(*gigabits > 0)) {
    misuse("-p networks: '{}' is no bandwidth in Gbit/s (expected a number above 0)", network);
  }
  return *gigabits * bytes_per_gigabit;
}

}  // namespace

double predicted_seconds(const SharedPass& pass, std::int64_t ranks, double bandwidth) {
  const Blocks blocks(pass.tokens, pass.tokens, 1);
  const std::int64_t slabs = blocks.slabs(), active = std::min(ranks, slabs);
  const std::int64_t own = (slabs + active - 1) / active;  // Of the busiest rank.
  const double m = static_cast<double>(slabs), mine = static_cast<double>(own);
  const double compute = pass.seconds * mine / m / m;
  const double tokens = static_cast<double>(pass.tokens) / m;
  const double slab = tokens * pass.token_bytes / bandwidth;
  const double sums = tokens * pass.gradient_bytes / bandwidth;
  const double step = own == 1 ? std::max(compute, slab) + sums : std::max(compute, slab + sums);
  return mine * compute + (m - mine) * step;
}

std::vector<MeasuredCase> cases_by_ranks(const std::vector<MeasuredCase>& cases,
                                         const RankForecast& forecast) {
  const std::int64_t length = forecast.length;
  std::vector<MeasuredCase> found;
  std::vector<std::pair<Case, std::vector<const MeasuredCase*>>> lines;
  for (const MeasuredCase& c : cases) {
    Case line = c.labels;
    line.set("ranks", "1"), line.set("seq_len", "0");
    if (std::isfinite(c.time)) {
      auto at = std::ranges::find(lines, line, [](const auto& each) { return each.first; });
      if (at == lines.end()) at = lines.insert(at, {line, {}});
      at->second.push_back(&c);
    }
    if (c.labels.number("seq_len") != length) continue;
    MeasuredCase& one = found.emplace_back(c);
    one.labels.set("seq_len", c.labels["ranks"]), one.labels.set("ranks", "1");
  }
  for (const std::string& network : forecast.networks) {
    const double bandwidth = bandwidth_of(network);
    for (const auto& [line, measured] : lines) {
      const MeasuredCase& base = *base_of(measured);
      for (const std::int64_t ranks : forecast.ranks) {
        MeasuredCase& one = found.emplace_back();
        one.labels = line;
        one.labels.set("operator",
                       fmt::format("{}, predicted for {} Gbit/s", line["operator"], network));
        one.labels.set("seq_len", ranks);
        for (const SharedPass& pass : passes_of(base, length, forecast.speed)) {
          one.time += predicted_seconds(pass, ranks, bandwidth);
        }
        one.time_low = one.time_high = std::nan("");
      }
    }
  }
  if (found.empty())
    misuse("nothing was measured at n = {}, and no network is given (-p networks=10)", length);
  return found;
}

}  // namespace conelab
