// The result of a benchmark as one labelled hyper-rectangle, with fits and controls.
#include <cmath>
#include <limits>

#include "core/base/environment.h"
#include "core/bench/runner.h"
#include "core/statistics/control.h"
#include "core/statistics/exponent.h"
#include "core/statistics/interval.h"

namespace conelab {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<double>;

const std::vector<std::string> case_axes = {"operator", "pass", "device", "dtype",
                                            "threads",  "dim",  "head",   "seq_len"};

std::vector<std::string> with(std::vector<std::string> axes, const char* last) {
  axes.emplace_back(last);
  return axes;
}

std::vector<LabelledAxis> case_axis_list(const Sweep& s) {
  return {{"operator", s.operations, ""}, {"pass", s.passes, ""},     {"device", s.devices, ""},
          {"dtype", s.dtypes, ""},        {"threads", s.threads, ""}, {"dim", s.dims, ""},
          {"head", s.heads, ""},          {"seq_len", s.lengths, ""}};
}

LabelledAxis counted(const char* name, std::size_t count) {
  std::vector<std::int64_t> labels(count);
  for (std::size_t i = 0; i < count; ++i) labels[i] = static_cast<std::int64_t>(i);
  return {name, labels, ""};
}

/// One field of all samples of a case that ended well; empty otherwise.
Numbers samples_of(const CaseResult& c, double Sample::*field) {
  Numbers values;
  if (c.status != CaseStatus::ok) return values;
  for (const Sample& s : c.samples) {
    if (!std::isnan(s.*field)) values.push_back(s.*field);
  }
  return values;
}

/// A variable over the cases.
template <class F>
LabelledVariable per_case(const char* name, const BenchResult& r, const char* units, F value) {
  Numbers data;
  for (const CaseResult& c : r.cases) data.push_back(value(c));
  return {name, case_axes, data, units, {}};
}

LabelledVariable per_sample(const char* name, const BenchResult& r, const char* units,
                            double Sample::*field) {
  Numbers data;
  for (const CaseResult& c : r.cases) {
    for (const Sample& s : c.samples)
      data.push_back(c.status == CaseStatus::ok ? s.*field : unknown);
  }
  return {name, with(case_axes, "round"), data, units, {}};
}

LabelledArray runtime_group(const BenchResult& r) {
  LabelledArray a;
  a.axes = case_axis_list(r.sweep);
  a.axes.push_back(counted("round", static_cast<std::size_t>(r.sweep.rounds)));
  a.signal = "time";
  const auto interval = [](const CaseResult& c) {
    return median_interval(samples_of(c, &Sample::warm));
  };
  const auto or_unknown = [](const CaseResult& c, double value) {
    return c.status == CaseStatus::ok ? value : unknown;
  };
  a.variables.push_back(per_case("time", r, "s", [&](const auto& c) { return interval(c).value; }));
  a.variables.back().attributes.emplace_back("long_name",
                                             std::string("median time of one run, warm"));
  a.variables.push_back(
      per_case("time_low", r, "s", [&](const auto& c) { return interval(c).low; }));
  a.variables.push_back(
      per_case("time_high", r, "s", [&](const auto& c) { return interval(c).high; }));
  a.variables.push_back(per_case(
      "time_cold", r, "s", [](const auto& c) { return median(samples_of(c, &Sample::cold)); }));
  a.variables.push_back(per_sample("time_samples", r, "s", &Sample::warm));
  a.variables.push_back(per_sample("time_cold_samples", r, "s", &Sample::cold));
  a.variables.push_back(per_sample("peak_flops_samples", r, "1/s", &Sample::peak_flops));
  a.variables.push_back(per_case("peak_flops", r, "1/s", [](const auto& c) {
    return median(samples_of(c, &Sample::peak_flops));
  }));
  a.variables.push_back(per_case("peak_bytes", r, "byte", [&](const auto& c) {
    return or_unknown(c, c.samples.front().peak_bytes);
  }));
  a.variables.push_back(per_case("extra_bytes", r, "byte", [&](const auto& c) {
    return or_unknown(c, c.samples.front().extra_bytes);
  }));
  a.variables.push_back(per_case("device_bytes", r, "byte", [](const auto&) { return 0.0; }));
  a.variables.push_back(
      per_case("flops", r, "", [&](const auto& c) { return or_unknown(c, c.facts.flops); }));
  a.variables.push_back(
      per_case("bytes", r, "byte", [&](const auto& c) { return or_unknown(c, c.facts.bytes); }));
  a.variables.push_back(
      per_case("error", r, "", [&](const auto& c) { return or_unknown(c, c.facts.error); }));
  std::vector<std::int64_t> status;
  std::vector<std::string> reasons;
  for (const CaseResult& c : r.cases) {
    status.push_back(static_cast<std::int64_t>(c.status));
    reasons.push_back(c.reason);
  }
  a.variables.push_back({"status", case_axes, status, "", {}});
  a.variables.back().attributes.emplace_back(
      "meaning", std::string("0 ok, 1 skipped, 2 crashed, 3 timed out, 4 failed"));
  a.variables.push_back({"status_reason", case_axes, reasons, "", {}});
  a.attributes = {{"batch", r.sweep.batch},
                  {"rounds", static_cast<std::int64_t>(r.sweep.rounds)},
                  {"seed", static_cast<std::int64_t>(r.sweep.seed)},
                  {"sweep", r.sweep.text()}};
  return a;
}

/// The cases of one line of a scaling plot: all lengths for fixed other labels.
ExponentFit fit_line(const BenchResult& r, std::size_t first) {
  Numbers lengths;
  std::vector<Numbers> times;
  for (std::size_t i = 0; i < r.sweep.lengths.size(); ++i) {
    const Numbers t = samples_of(r.cases[first + i], &Sample::warm);
    if (t.empty()) continue;
    lengths.push_back(static_cast<double>(r.sweep.lengths[i]));
    times.push_back(t);
  }
  return fit_exponent(lengths, times);
}

LabelledArray fit_group(const BenchResult& r) {
  LabelledArray a;
  a.axes = case_axis_list(r.sweep);
  a.axes.pop_back();
  std::vector<std::string> axes(case_axes.begin(), case_axes.end() - 1);
  Numbers exponent, low, high;
  std::vector<std::uint8_t> resolved;
  std::vector<std::string> why;
  for (std::size_t first = 0; first < r.cases.size(); first += r.sweep.lengths.size()) {
    const ExponentFit fit = fit_line(r, first);
    resolved.push_back(fit.resolved ? 1 : 0);
    why.push_back(fit.why_not);
    exponent.push_back(fit.resolved ? fit.exponent.value : unknown);
    low.push_back(fit.resolved ? fit.exponent.low : unknown);
    high.push_back(fit.resolved ? fit.exponent.high : unknown);
  }
  a.variables = {{"exponent", axes, exponent, "", {}},
                 {"exponent_low", axes, low, "", {}},
                 {"exponent_high", axes, high, "", {}},
                 {"resolved", axes, resolved, "", {}},
                 {"resolved_reason", axes, why, "", {}}};
  return a;
}

LabelledArray local_fit_group(const BenchResult& r) {
  LabelledArray a;
  a.axes = case_axis_list(r.sweep);
  const auto& lengths = r.sweep.lengths;
  a.axes.back() = {"upper_seq_len", std::vector<std::int64_t>(lengths.begin() + 1, lengths.end()),
                   ""};
  std::vector<std::string> axes = case_axes;
  axes.back() = "upper_seq_len";
  Numbers value, low, high;
  for (std::size_t first = 0; first < r.cases.size(); first += lengths.size()) {
    const ExponentFit fit = fit_line(r, first);
    for (std::size_t i = 1; i < lengths.size(); ++i) {
      const bool complete = fit.local.size() + 1 == lengths.size();
      const Interval local = complete ? fit.local[i - 1] : Interval{unknown, unknown, unknown};
      value.push_back(local.value);
      low.push_back(local.low);
      high.push_back(local.high);
    }
  }
  a.variables = {{"local_exponent", axes, value, "", {}},
                 {"local_exponent_low", axes, low, "", {}},
                 {"local_exponent_high", axes, high, "", {}}};
  a.attributes.emplace_back("about",
                            std::string("exponent between a length and the one before it"));
  return a;
}

/// The A/A control: the same case measured twice must not differ.
LabelledArray control_group(const BenchResult& r) {
  LabelledArray a;
  std::vector<Numbers> first, second;
  std::vector<std::string> names;
  Numbers samples;
  for (const CaseResult& control : r.controls) {
    for (const CaseResult& c : r.cases) {
      if (!(c.labels == control.labels) || c.status != CaseStatus::ok ||
          control.status != CaseStatus::ok) {
        continue;
      }
      first.push_back(samples_of(c, &Sample::warm));
      second.push_back(samples_of(control, &Sample::warm));
      names.push_back(describe(c.labels));
      samples.insert(samples.end(), second.back().begin(), second.back().end());
    }
  }
  if (names.empty()) return a;
  const ControlResult result = control_rate(first, second);
  a.axes = {{"control", names, ""}, counted("round", static_cast<std::size_t>(r.sweep.rounds))};
  a.variables = {{"time_samples", {"control", "round"}, samples, "s", {}},
                 {"false_positive_rate", {}, Numbers{result.false_positive_rate}, "", {}},
                 {"false_positive_rate_low", {}, Numbers{result.rate_low}, "", {}},
                 {"false_positive_rate_high", {}, Numbers{result.rate_high}, "", {}}};
  a.attributes.emplace_back("about", std::string("A/A: a second series of cases of bench/runtime"));
  return a;
}

LabelledArray environment_group(const BenchResult& r) {
  LabelledArray a;
  a.axes = {counted("round", r.load.size())};
  a.variables = {{"load", {"round"}, r.load, "", {}},
                 {"clock", {"round"}, r.clock, "Hz", {}},
                 {"temperature", {"round"}, r.temperature, "degree_Celsius", {}}};
  for (const auto& [name, value] : environment()) {
    if (const auto* text = std::get_if<std::string>(&value)) {
      a.attributes.emplace_back(name, *text);
    } else {
      a.attributes.emplace_back(name, std::get<double>(value));
    }
  }
  return a;
}

}  // namespace

LabelledFile bench_file(const BenchResult& result) {
  LabelledFile file;
  file.creator = program_version();
  file.groups.emplace_back("bench/runtime", runtime_group(result));
  file.groups.emplace_back("bench/fit", fit_group(result));
  if (result.sweep.lengths.size() > 1) {
    file.groups.emplace_back("bench/local_fit", local_fit_group(result));
  }
  LabelledArray control = control_group(result);
  if (!control.variables.empty()) file.groups.emplace_back("bench/control", std::move(control));
  file.groups.emplace_back("bench/environment", environment_group(result));
  return file;
}

}  // namespace conelab
