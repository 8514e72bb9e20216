#include "app/bench_summary.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/progress.h"
#include "core/statistics/exponent.h"
#include "core/statistics/interval.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

const char* status_name(CaseStatus status) {
  switch (status) {
    case CaseStatus::ok:
      return "ok";
    case CaseStatus::skipped:
      return "skipped";
    case CaseStatus::crashed:
      return "crashed";
    case CaseStatus::timed_out:
      return "timed out";
    case CaseStatus::failed:
      return "failed";
  }
  return "?";
}

std::vector<double> warm_times(const CaseResult& c) {
  std::vector<double> times;
  for (const Sample& sample : c.samples) times.push_back(sample.warm);
  return times;
}

/// JSON has no NaN.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string case_line(const CaseResult& c) {
  const std::string labels = fmt::format(
      "  {:<20} {:<8} n={:<6} {:>4} d={:<3} heads={:<3} x{}", c.labels.operation, c.labels.pass,
      c.labels.seq_len, c.labels.dtype, c.labels.dim, c.labels.head, c.labels.threads);
  if (c.status != CaseStatus::ok) {
    return fmt::format("{}  {}: {}\n", labels, status_name(c.status), c.reason);
  }
  const Interval time = median_interval(warm_times(c));
  return fmt::format("{}  {:>9} [{}, {}]  {:6.1f} GFLOP/s  error {:.1e}\n", labels,
                     duration_text(time.value), duration_text(time.low), duration_text(time.high),
                     c.facts.flops / time.value * 1e-9, c.facts.error);
}

Json case_json(const CaseResult& c) {
  Json json{{"operator", c.labels.operation}, {"pass", c.labels.pass},
            {"device", c.labels.device},      {"dtype", c.labels.dtype},
            {"threads", c.labels.threads},    {"dim", c.labels.dim},
            {"head", c.labels.head},          {"seq_len", c.labels.seq_len},
            {"status", status_name(c.status)}};
  if (c.status != CaseStatus::ok) {
    json["reason"] = c.reason;
    return json;
  }
  const Interval time = median_interval(warm_times(c));
  json["time"] = number(time.value);
  json["time_low"] = number(time.low);
  json["time_high"] = number(time.high);
  json["flops"] = number(c.facts.flops);
  json["error"] = number(c.facts.error);
  json["peak_bytes"] = number(c.samples.front().peak_bytes);
  return json;
}

/// All lengths of one operator, pass, ...: a line of a scaling plot.
struct Line {
  const Case* labels;
  ExponentFit fit;
};

std::vector<Line> lines_of(const BenchResult& result) {
  std::vector<Line> lines;
  const std::size_t count = result.sweep.lengths.size();
  for (std::size_t first = 0; first + count <= result.cases.size(); first += count) {
    std::vector<double> lengths;
    std::vector<std::vector<double>> times;
    for (std::size_t i = first; i < first + count; ++i) {
      if (result.cases[i].status != CaseStatus::ok) continue;
      lengths.push_back(static_cast<double>(result.cases[i].labels.seq_len));
      times.push_back(warm_times(result.cases[i]));
    }
    lines.push_back({&result.cases[first].labels, fit_exponent(lengths, times)});
  }
  return lines;
}

}  // namespace

std::string bench_summary_text(const BenchResult& result, const std::string& output) {
  std::string text =
      fmt::format("{}: {} cases, {} rounds\n", output, result.cases.size(), result.sweep.rounds);
  for (const CaseResult& c : result.cases) text += case_line(c);
  for (const Line& line : lines_of(result)) {
    if (!line.fit.resolved) continue;
    const Interval& e = line.fit.exponent;
    text += fmt::format("  {:<20} {:<8} {} x{} d={} heads={}: time ~ n^{:.2f} [{:.2f}, {:.2f}]\n",
                        line.labels->operation, line.labels->pass, line.labels->dtype,
                        line.labels->threads, line.labels->dim, line.labels->head, e.value, e.low,
                        e.high);
  }
  return text;
}

Json bench_summary_json(const BenchResult& result, const std::string& output) {
  Json json{{"output", output},
            {"rounds", result.sweep.rounds},
            {"cases", Json::array()},
            {"exponents", Json::array()}};
  for (const CaseResult& c : result.cases) json["cases"].push_back(case_json(c));
  for (const Line& line : lines_of(result)) {
    Json row{{"operator", line.labels->operation}, {"pass", line.labels->pass},
             {"device", line.labels->device},      {"dtype", line.labels->dtype},
             {"threads", line.labels->threads},    {"dim", line.labels->dim},
             {"head", line.labels->head},          {"resolved", line.fit.resolved}};
    if (line.fit.resolved) {
      row["exponent"] = line.fit.exponent.value;
      row["exponent_low"] = line.fit.exponent.low;
      row["exponent_high"] = line.fit.exponent.high;
    } else {
      row["reason"] = line.fit.why_not;
    }
    json["exponents"].push_back(row);
  }
  return json;
}

}  // namespace conelab
