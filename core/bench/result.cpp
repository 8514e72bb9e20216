#include "core/bench/result.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include "core/base/environment.h"
#include "core/base/tensor.h"
#include "core/bench/machine.h"
#include "core/simd/kernels.h"
#include "core/statistics/exponent.h"
#include "core/statistics/interval.h"
#include "core/statistics/order.h"
#include "core/statistics/ratio.h"

namespace conelab {
namespace {

/// Returns the sweep as its attribute in the file: "lengths=256,512", ...
std::vector<std::string> sweep_lines(const Sweep& sweep) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : sweep.items()) lines.push_back(name + "=" + value);
  return lines;
}

using Numbers = std::vector<double>;

/// Returns those of some axes that the file stores.
std::vector<LabelledAxis> axes_of(const Sweep& s, std::span<const Axis> some) {
  std::vector<LabelledAxis> all;
  for (const Axis& axis : some) {
    const Labels& labels = s[axis];
    if (all_implied(axis, labels)) continue;
    if (axis.numeric)
      all.push_back({axis.name, s.numbers(axis)});
    else
      all.push_back({axis.name, labels});
  }
  return all;
}

std::vector<std::string> names_of(const Sweep& s, std::span<const Axis> some) {
  std::vector<std::string> names;
  for (const LabelledAxis& axis : axes_of(s, some)) names.push_back(axis.name);
  return names;
}

/// Returns how many cases a line has.
std::size_t line_size(const BenchResult& r) { return r.sweep[axes().back()].size(); }

/// Returns the variables `name`, `name`_low and `name`_high over these axes.
std::vector<LabelledVariable> interval_variables(const std::string& name,
                                                 const std::vector<std::string>& axes,
                                                 const std::vector<Interval>& intervals) {
  Numbers value, low, high;
  for (const Interval& i : intervals) {
    value.push_back(i.value);
    low.push_back(i.low);
    high.push_back(i.high);
  }
  return {{name, axes, value}, {name + "_low", axes, low}, {name + "_high", axes, high}};
}

/// Returns one field of all samples [round]. It is NaN for missing ones.
Numbers field_of(const CaseResult& c, double Sample::*field) {
  Numbers values;
  for (const Sample& s : c.samples) values.push_back(s.*field);
  return values;
}

/// Returns the same of the rounds that have been measured, without missing ones. It is empty for a
/// case that did not end well, because a median over some of its rounds could be mistaken for one
/// over all rounds.
Numbers complete_field_of(const CaseResult& c, double Sample::*field) {
  Numbers values;
  if (c.status != CaseStatus::ok) return values;
  for (const Sample& s : c.samples) {
    if (!std::isnan(s.warm) && !std::isnan(s.*field)) values.push_back(s.*field);
  }
  return values;
}

double largest_of(const CaseResult& c, double Sample::*field) {
  const Numbers values = complete_field_of(c, field);
  return values.empty() ? unknown : *std::ranges::max_element(values);
}

/// Collects the variables of bench/runtime.
class RuntimeGroup {
 public:
  explicit RuntimeGroup(const BenchResult& result)
      : result_(result), case_labels_(names_of(result.sweep, axes())) {}

  /// Adds a variable with one number for each case.
  template <class F>
  void per_case(const char* name, const char* units, const char* about, F value) {
    Numbers data;
    for (const CaseResult& c : result_.cases) data.push_back(value(c));
    add({name, case_labels_, std::move(data), units, {}}, about);
  }
  /// Adds a variable with one number for each case and round.
  void per_round(const char* name, const char* units, const char* about, double Sample::*field) {
    Numbers data;
    for (const CaseResult& c : result_.cases) {
      const Numbers values = field_of(c, field);
      data.insert(data.end(), values.begin(), values.end());
    }
    std::vector<std::string> axes = case_labels_;
    axes.emplace_back("round");
    add({name, std::move(axes), std::move(data), units, {}}, about);
  }
  void statuses() {
    std::vector<std::int64_t> status;
    std::vector<std::string> reasons;
    for (const CaseResult& c : result_.cases) {
      status.push_back(static_cast<std::int64_t>(c.status));
      reasons.push_back(c.reason);
    }
    add({"status", case_labels_, std::move(status)},
        "0 ok, 1 skipped, 2 crashed, 3 timed out, 4 failed, 5 out of memory");
    add({"status_reason", case_labels_, std::move(reasons)}, "why a case has no time");
  }
  [[nodiscard]] std::vector<LabelledVariable> take() { return std::move(variables_); }

 private:
  const BenchResult& result_;
  std::vector<std::string> case_labels_;
  std::vector<LabelledVariable> variables_;

  void add(LabelledVariable variable, const char* about) {
    variable.attributes.emplace_back("long_name", std::string(about));
    variables_.push_back(std::move(variable));
  }
};

void add_times(RuntimeGroup& g) {
  const auto interval = [](const CaseResult& c) {
    return median_interval(complete_field_of(c, &Sample::warm));
  };
  g.per_case("time", "s", "time of one run, warm, median over rounds",
             [&](const auto& c) { return interval(c).value; });
  g.per_case("time_low", "s", "lower end of the 95 % interval of the median",
             [&](const auto& c) { return interval(c).low; });
  g.per_case("time_high", "s", "upper end of the 95 % interval of the median",
             [&](const auto& c) { return interval(c).high; });
  g.per_case("time_cold", "s", "time of one run with flushed caches, median over rounds",
             [](const auto& c) { return median(complete_field_of(c, &Sample::cold)); });
  g.per_round("time_samples", "s", "mean time of one run in each round, warm", &Sample::warm);
  g.per_round("time_cold_samples", "s", "time of one run with flushed caches", &Sample::cold);
  g.per_round("runs", "", "runs that a warm sample is the mean of", &Sample::runs);
}

/// Peaks are comparable only between cases with the same device, number of threads and width of
/// numbers. A tile unit may process 16-bit numbers.
using PeakKey = std::tuple<std::string, std::size_t, std::int64_t>;
PeakKey peak_key(const CaseResult& c) {
  return {c.labels["device"], dtype_size(dtype_from_name(c.labels["dtype"])),
          c.labels.number("threads")};
}

std::map<PeakKey, Numbers> peaks_by_key(const BenchResult& r) {
  std::map<PeakKey, Numbers> peaks;
  for (const CaseResult& c : r.cases) {
    const Numbers more = complete_field_of(c, &Sample::peak_flops);
    peaks[peak_key(c)].insert(peaks[peak_key(c)].end(), more.begin(), more.end());
  }
  return peaks;
}

/// Returns the largest bandwidth for each number of threads on the CPU; all cases with this number
/// share it. Other programs that use the memory at the same time can only reduce a measurement.
std::map<std::int64_t, double> bandwidths(const BenchResult& r) {
  std::map<std::int64_t, double> largest;
  for (const CaseResult& c : r.cases) {
    if (c.labels["device"] != "cpu") continue;
    double& known = largest.emplace(c.labels.number("threads"), unknown).first->second;
    known = std::fmax(known, largest_of(c, &Sample::bandwidth));
  }
  return largest;
}

void add_bandwidth(RuntimeGroup& g, const BenchResult& r) {
  const auto known = bandwidths(r);
  g.per_case("bandwidth", "byte/s", "what as many threads read from memory, beyond the caches",
             [&](const CaseResult& c) {
               const auto found = known.find(c.labels.number("threads"));
               const bool has = c.status == CaseStatus::ok && c.labels["device"] == "cpu";
               return has && found != known.end() ? found->second : unknown;
             });
  g.per_round(
      "bandwidth_samples", "byte/s",
      "the same in each round that measured it, which the cases of a number of threads share",
      &Sample::bandwidth);
}

void add_machine(RuntimeGroup& g, const BenchResult& r) {
  const auto peaks = peaks_by_key(r);
  g.per_case("peak_flops", "1/s", "multiply-add peak that as many threads reached repeatedly",
             [&](const CaseResult& c) {
               return c.status == CaseStatus::ok ? repeated_peak(peaks.at(peak_key(c))) : unknown;
             });
  g.per_round("peak_flops_samples", "1/s", "lower of the peaks before and after each sample",
              &Sample::peak_flops);
  add_bandwidth(g, r);
  g.per_case("peak_bytes", "byte", "largest resident memory of the case's own process",
             [](const auto& c) { return largest_of(c, &Sample::peak_bytes); });
  g.per_case("extra_bytes", "byte", "growth of that memory in a run, beyond inputs and outputs",
             [](const auto& c) { return largest_of(c, &Sample::extra_bytes); });
  g.per_case("device_bytes", "byte", "largest memory on the device",
             [](const auto& c) { return largest_of(c, &Sample::device_bytes); });
}

/// Adds what a device reports after each sample. Files of sweeps on the CPU alone do not have these
/// variables.
void add_device(RuntimeGroup& g, const BenchResult& r) {
  const auto on_cpu = [](const std::string& device) { return device == "cpu"; };
  const Labels& devices = r.sweep["device"];
  if (std::ranges::all_of(devices, on_cpu)) return;
  g.per_round("device_clock_samples", "Hz", "clock of the device's multiprocessors",
              &Sample::device_clock);
  g.per_round("device_memory_clock_samples", "Hz", "clock of the device's memory",
              &Sample::device_memory_clock);
  g.per_round("device_temperature_samples", "degree_Celsius", "temperature of the device",
              &Sample::device_temperature);
  g.per_round("device_power_samples", "W", "power that the device draws", &Sample::device_power);
  g.per_round("device_throttle_samples", "",
              "what holds the device's clocks back, a sum of: 4 power cap, 8 hardware slowdown, 32 "
              "software thermal, 64 hardware thermal, 128 power brake; 0 nothing",
              &Sample::device_throttle);
}

void add_facts(RuntimeGroup& g) {
  const auto fact = [&](const char* name, const char* units, const char* about,
                        double CaseFacts::*field) {
    g.per_case(name, units, about, [field](const CaseResult& c) {
      return complete_field_of(c, &Sample::warm).empty() ? unknown : c.facts.*field;
    });
  };
  fact("flops", "", "operations of the products of one run", &CaseFacts::flops);
  fact("bytes", "byte", "inputs read and outputs written by one run", &CaseFacts::bytes);
  fact("error", "", "largest absolute difference to float64", &CaseFacts::error);
  fact("evaluation_taken", "", "1: sums over pairs were computed pair by pair, 2: over intervals",
       &CaseFacts::evaluation);
}

/// Returns the coverage of the intervals of medians over this number of rounds. It is below 95 %
/// for few rounds.
double interval_coverage(int rounds) {
  return median_interval(Numbers(static_cast<std::size_t>(rounds))).coverage;
}

LabelledArray runtime_group(const BenchResult& r) {
  LabelledArray a;
  a.axes = axes_of(r.sweep, axes());
  a.axes.push_back(counted_axis("round", static_cast<std::size_t>(r.sweep.rounds)));
  a.signal = "time";
  RuntimeGroup group(r);
  add_times(group);
  add_machine(group, r);
  add_device(group, r);
  add_facts(group);
  group.statuses();
  a.variables = group.take();
  a.attributes = {{"batch", r.sweep.batch},
                  {"rounds", static_cast<std::int64_t>(r.sweep.rounds)},
                  {"seed", static_cast<std::int64_t>(r.sweep.seed)},
                  {"sweep", sweep_lines(r.sweep)},
                  {"interval_coverage", interval_coverage(r.sweep.rounds)}};
  const std::vector<std::string> notes = machine_notes(r);
  if (!notes.empty()) a.attributes.emplace_back("notes", notes);
  return a;
}

/// Fits one line of a scaling plot: all lengths of cases that ended well, with the same other
/// labels. `first` is the index of its first case. `local` has an entry for each length, NaN where
/// there is none.
ExponentFit fit_line(const BenchResult& r, std::size_t first) {
  Numbers lengths;
  std::vector<Numbers> times;
  std::vector<std::size_t> at;
  const std::vector<std::int64_t> all = r.sweep.numbers(axes().back());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const CaseResult& c = r.cases[first + i];
    if (c.status != CaseStatus::ok) continue;
    lengths.push_back(static_cast<double>(all[i]));
    times.push_back(field_of(c, &Sample::warm));
    at.push_back(i);
  }
  ExponentFit fit = fit_exponent(lengths, times);
  std::vector<Interval> spread(all.size(), lone(unknown));
  for (std::size_t i = 0; i < fit.local.size(); ++i) spread[at[i + 1]] = fit.local[i];
  fit.local = std::move(spread);
  return fit;
}

/// Returns the fits of all lines.
std::vector<ExponentFit> fits_of(const BenchResult& r) {
  std::vector<ExponentFit> fits;
  for (std::size_t first = 0; first < r.cases.size(); first += line_size(r)) {
    fits.push_back(fit_line(r, first));
  }
  return fits;
}

LabelledArray fit_group(const BenchResult& r, const std::vector<ExponentFit>& fits) {
  std::vector<Interval> exponents;
  std::vector<std::uint8_t> resolved;
  std::vector<std::string> why;
  for (const ExponentFit& fit : fits) {
    exponents.push_back(fit.exponent);
    resolved.push_back(fit.resolved ? 1 : 0);
    why.push_back(fit.why_not);
  }
  LabelledArray a;
  a.axes = axes_of(r.sweep, line_axes());
  const std::vector<std::string> names = names_of(r.sweep, line_axes());
  a.variables = interval_variables("exponent", names, exponents);
  a.add("resolved", names, resolved);
  a.add("resolved_reason", names, why);
  a.attributes.emplace_back("about",
                            std::string("e of time = c seq_len^e: one slope per round, mean "
                                        "and 95 % t-interval over rounds"));
  return a;
}

LabelledArray local_fit_group(const BenchResult& r, const std::vector<ExponentFit>& fits) {
  std::vector<Interval> local;
  for (const ExponentFit& fit : fits) {
    local.insert(local.end(), fit.local.begin(), fit.local.end());
  }
  LabelledArray a;
  a.axes = axes_of(r.sweep, axes());
  a.variables = interval_variables("exponent", names_of(r.sweep, axes()), local);
  a.attributes.emplace_back("about", std::string("exponent over the octave that ends at seq_len"));
  return a;
}

/// Returns the A/A control: cases measured twice, between which there should be no difference.
LabelledArray control_group(const BenchResult& r) {
  std::vector<Numbers> first, second;
  std::vector<std::string> names;
  Numbers samples;
  for (const CaseResult& control : r.controls) {
    const auto twin =
        std::ranges::find_if(r.cases, [&](const auto& c) { return c.labels == control.labels; });
    if (twin->status != CaseStatus::ok || control.status != CaseStatus::ok) continue;
    first.push_back(field_of(*twin, &Sample::warm));
    second.push_back(field_of(control, &Sample::warm));
    names.push_back(describe(control.labels));
    samples.insert(samples.end(), second.back().begin(), second.back().end());
  }
  const ControlResult result = control_rate(first, second);
  std::vector<Interval> ratios;
  std::vector<std::string> verdicts;
  for (const RatioResult& c : result.comparisons) {
    ratios.push_back(c.ratio);
    verdicts.emplace_back(verdict_name(c.verdict));
  }
  LabelledArray a;
  a.variables =
      interval_variables("false_positive_rate", {},
                         {{result.false_positive_rate, result.rate_low, result.rate_high, 0}});
  a.attributes.emplace_back("about",
                            std::string("A/A: some cases of bench/runtime measured twice"));
  if (names.empty()) return a;
  a.axes = {{"control", names}, counted_axis("round", static_cast<std::size_t>(r.sweep.rounds))};
  a.variables.push_back({"time_samples", {"control", "round"}, samples, "s"});
  for (LabelledVariable& v : interval_variables("ratio", {"control"}, ratios)) {
    a.variables.push_back(std::move(v));
  }
  a.add("verdict", {"control"}, verdicts);
  return a;
}

LabelledArray environment_group(const BenchResult& r) {
  LabelledArray a;
  a.axes = {counted_axis("round", r.load.size())};
  a.variables = {{"load", {"round"}, r.load},
                 {"clock", {"round"}, r.clock, "Hz"},
                 {"temperature", {"round"}, r.temperature, "degree_Celsius"}};
  for (const auto& [name, value] : environment(simd_summary())) {
    std::visit([&, key = name](const auto& v) { a.attributes.emplace_back(key, v); }, value);
  }
  if (!r.peers.empty()) a.attributes.emplace_back("peers", r.peers);
  if (!r.devices.empty()) a.attributes.emplace_back("devices", r.devices);
  return a;
}

}  // namespace

std::vector<std::string> machine_notes(const BenchResult& r) {
  const auto most_threads = static_cast<int>(r.sweep.numbers(axis_named("threads")).back());
  MachineRecord all{{}, r.load, r.clock, most_threads};
  for (const auto& [key, peaks] : peaks_by_key(r)) {
    const double best = repeated_peak(peaks);
    for (const double p : peaks) all.peaks.push_back(p / best);
  }
  return machine_notes(all);
}

LabelledFile bench_file(const BenchResult& result) {
  LabelledFile file;
  file.creator = program_version();
  file.groups.emplace_back("bench/runtime", runtime_group(result));
  const std::vector<ExponentFit> fits = fits_of(result);
  file.groups.emplace_back("bench/fit", fit_group(result, fits));
  file.groups.emplace_back("bench/local_fit", local_fit_group(result, fits));
  file.groups.emplace_back("bench/control", control_group(result));
  file.groups.emplace_back("bench/environment", environment_group(result));
  return file;
}

}  // namespace conelab
