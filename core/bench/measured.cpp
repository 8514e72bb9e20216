#include "core/bench/measured.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/bench/machine.h"
#include "core/bench/sweep.h"
#include "core/files/tensor_source.h"
#include "core/statistics/interval.h"

namespace conelab {
namespace {

/// A group of a benchmark file. Its errors name the file and the group.
class Group {
 public:
  Group(const LabelledArray& array, const std::string& where) : array_(array), where_(where) {}

  [[nodiscard]] const LabelledAxis& axis(const char* name) const {
    const LabelledAxis* found = array_.axis(name);
    if (found == nullptr) fail("{} has no axis {}", where_, name);
    return *found;
  }
  /// Returns the labels on an axis of the cases.
  [[nodiscard]] Labels labels(const Axis& wanted) const {
    if (*wanted.implied_label != '\0' && array_.axis(wanted.name) == nullptr)
      return {wanted.implied_label};
    const LabelledAxis& found = axis(wanted.name);
    if (!wanted.numeric) {
      const auto* names = std::get_if<Labels>(&found.labels);
      if (names == nullptr) fail("{}/{} has no names", where_, wanted.name);
      return *names;
    }
    const auto* numbers = std::get_if<std::vector<std::int64_t>>(&found.labels);
    if (numbers == nullptr) fail("{}/{} does not hold integers", where_, wanted.name);
    Labels digits;
    for (const std::int64_t number : *numbers) digits.push_back(std::to_string(number));
    return digits;
  }
  /// Returns a variable of `size` numbers. If it is missing, returns null, or throws a failure if
  /// it is `needed`.
  template <class T>
  [[nodiscard]] const std::vector<T>* numbers(const char* name, std::size_t size,
                                              bool needed) const {
    const auto* data = array_.data<T>(name);
    if (data != nullptr && data->size() == size) return data;
    const LabelledVariable* v = array_.variable(name);
    if (v == nullptr && !needed) return nullptr;
    fail("{}/{} {} (expected {} values over its axes)", where_, name,
         v == nullptr ? "is missing" : "has the wrong type or size", size);
  }

 private:
  const LabelledArray& array_;
  std::string where_;
};

/// Returns the cases of a group over `lengths`. Checks first that its variable `name` has as many
/// numbers, because a small file may declare axes whose product does not fit into memory.
std::vector<Case> cases_over(const Group& r, Sweep sweep, Labels lengths, const char* name) {
  sweep[axes().back()] = std::move(lengths);
  std::vector<std::int64_t> sizes;
  for (const Axis& axis : axes()) sizes.push_back(static_cast<std::int64_t>(sweep[axis].size()));
  (void)r.numbers<double>(name, static_cast<std::size_t>(checked_product(sizes).value_or(0)), true);
  return sweep.cases();
}

/// Returns a sweep with all axes of the group except the lengths.
Sweep sweep_of(const Group& r) {
  Sweep s;
  for (const Axis& axis : line_axes()) s[axis] = r.labels(axis);
  return s;
}

void read_field(const Group& r, const char* name, double MeasuredCase::*field, bool needed,
                std::vector<MeasuredCase>& cases) {
  const auto* values = r.numbers<double>(name, cases.size(), needed);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].*field = values == nullptr ? unknown : (*values)[i];
  }
}

void read_statuses(const Group& r, std::vector<MeasuredCase>& cases) {
  const auto& status = *r.numbers<std::int64_t>("status", cases.size(), true);
  const auto* reasons = r.numbers<std::string>("status_reason", cases.size(), false);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].status = static_cast<CaseStatus>(status[i]);
    if (reasons != nullptr) cases[i].reason = (*reasons)[i];
  }
}

void read_samples(const Group& r, const char* name, std::vector<double> MeasuredCase::*field,
                  bool needed, std::vector<MeasuredCase>& cases) {
  const std::size_t rounds = r.axis("round").size();
  const auto* all = r.numbers<double>(name, cases.size() * rounds, needed);
  for (std::size_t i = 0; i < cases.size() && all != nullptr; ++i) {
    const auto begin = all->begin() + static_cast<std::ptrdiff_t>(i * rounds);
    (cases[i].*field).assign(begin, begin + static_cast<std::ptrdiff_t>(rounds));
  }
}

/// Returns the local exponents [line][length] of /bench/local_fit. The lists are empty if there is
/// no such group.
std::vector<std::vector<double>> local_exponents(const LabelledFile& file, const std::string& name,
                                                 std::size_t lines) {
  std::vector<std::vector<double>> local(lines);
  const LabelledArray* group = file.group("bench/local_fit");
  if (group == nullptr) return local;
  const Group fit(*group, name + ": /bench/local_fit");
  const std::size_t lengths = fit.axis(axes().back().name).size();
  const auto& all = *fit.numbers<double>("exponent", lines * lengths, true);
  for (std::size_t i = 0; i < all.size(); ++i) local[i / lengths].push_back(all[i]);
  return local;
}

/// Returns a single number of a group, or NaN if there is none.
double real(const LabelledArray& array, const char* name) {
  const auto* values = array.data<double>(name);
  return values == nullptr || values->size() != 1 ? unknown : values->front();
}

/// Returns how many rounds measured every copy. The samples are [copy, round].
int rounds_of(const LabelledArray& control, std::size_t copies) {
  const auto* samples = control.data<double>("time_samples");
  if (samples == nullptr || samples->size() % copies != 0) return 0;
  const std::size_t rounds = samples->size() / copies;
  std::vector<bool> complete(rounds, true);
  for (std::size_t i = 0; i < samples->size(); ++i) {
    if (!std::isfinite((*samples)[i])) complete[i % rounds] = false;
  }
  return static_cast<int>(std::ranges::count(complete, true));
}

}  // namespace

double intensity(const MeasuredCase& c) { return c.flops / c.bytes; }

double peak_share(const MeasuredCase& c) { return c.flops / c.time / c.peak_flops; }

bool peak_disturbed(const MeasuredCase& c) { return peak_share(c) > 1; }

std::span<const CaseMeasure> case_measures() {
  static constexpr CaseMeasure measures[] = {
      {"time",
       [](const MeasuredCase& c) {
         return Interval{c.time, c.time_low, c.time_high, unknown};
       }},
      {"time_cold", [](const MeasuredCase& c) { return lone(c.time_cold); }},
      {"flops", [](const MeasuredCase& c) { return lone(c.flops); }},
      {"throughput",
       [](const MeasuredCase& c) {
         return Interval{c.flops / c.time, c.flops / c.time_high, c.flops / c.time_low, unknown};
       }},
      {"peak_share", [](const MeasuredCase& c) { return lone(peak_share(c)); }},
      {"peak_bytes", [](const MeasuredCase& c) { return lone(c.peak_bytes); }},
      {"extra_bytes", [](const MeasuredCase& c) { return lone(c.extra_bytes); }},
      {"error", [](const MeasuredCase& c) { return lone(c.error); }},
  };
  return measures;
}

Labels label_values(const std::vector<MeasuredCase>& cases, std::string_view axis) {
  const Axis& wanted = axis_named(axis);
  Labels values;
  for (const MeasuredCase& c : cases) {
    const std::string& label = c.labels[wanted];
    add_once(values, label);
  }
  return values;
}

double time_coverage(const std::vector<MeasuredCase>& cases) {
  double least = usual_level;
  for (const MeasuredCase& c : cases) {
    if (c.status != CaseStatus::ok) continue;  // Its earlier rounds do not count.
    const double coverage = median_interval(c.samples).coverage;
    if (coverage < least) least = coverage;  // It is false for NaN, the coverage of no samples.
  }
  return least;
}

std::string coverage_text(double coverage) {
  return fmt::format("{:.0f} %", 100 * std::min(coverage, usual_level));
}

std::vector<MeasuredCase> measured_cases(const LabelledFile& file, const std::string& name) {
  const LabelledArray* group = file.group("bench/runtime");
  if (group == nullptr) {
    fail("{}: there is no group /bench/runtime (expected a result of `bench`)", name);
  }
  const Group runtime(*group, name + ": /bench/runtime");
  const Sweep sweep = sweep_of(runtime);
  std::vector<MeasuredCase> cases;
  for (const Case& labels : cases_over(runtime, sweep, runtime.labels(axes().back()), "time")) {
    cases.emplace_back();
    cases.back().labels = labels;
  }
  read_field(runtime, "time", &MeasuredCase::time, true, cases);
  read_field(runtime, "time_low", &MeasuredCase::time_low, true, cases);
  read_field(runtime, "time_high", &MeasuredCase::time_high, true, cases);
  read_field(runtime, "time_cold", &MeasuredCase::time_cold, false, cases);
  read_field(runtime, "flops", &MeasuredCase::flops, true, cases);
  read_field(runtime, "bytes", &MeasuredCase::bytes, false, cases);
  read_field(runtime, "peak_flops", &MeasuredCase::peak_flops, false, cases);
  read_field(runtime, "bandwidth", &MeasuredCase::bandwidth, false, cases);
  read_field(runtime, "peak_bytes", &MeasuredCase::peak_bytes, true, cases);
  read_field(runtime, "extra_bytes", &MeasuredCase::extra_bytes, false, cases);
  read_field(runtime, "error", &MeasuredCase::error, true, cases);
  read_field(runtime, "evaluation_taken", &MeasuredCase::evaluation, false, cases);
  read_statuses(runtime, cases);
  read_samples(runtime, "time_samples", &MeasuredCase::samples, true, cases);
  read_samples(runtime, "peak_flops_samples", &MeasuredCase::peak_samples, false, cases);
  return cases;
}

std::vector<MeasuredExponent> measured_exponents(const LabelledFile& file,
                                                 const std::string& name) {
  const LabelledArray* group = file.group("bench/fit");
  if (group == nullptr) return {};
  const Group fit(*group, name + ": /bench/fit");
  const std::vector<Case> lines = cases_over(fit, sweep_of(fit), {"0"}, "exponent");
  const auto& value = *fit.numbers<double>("exponent", lines.size(), true);
  const auto& low = *fit.numbers<double>("exponent_low", lines.size(), true);
  const auto& high = *fit.numbers<double>("exponent_high", lines.size(), true);
  const auto* why = fit.numbers<std::string>("resolved_reason", lines.size(), false);
  const auto local = local_exponents(file, name, lines.size());
  std::vector<MeasuredExponent> exponents;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    exponents.push_back(
        {lines[i], value[i], low[i], high[i], why == nullptr ? "" : (*why)[i], local[i]});
  }
  return exponents;
}

MeasuredControl measured_control(const LabelledFile& file) {
  const LabelledArray* control = file.group("bench/control");
  const LabelledAxis* copies = control == nullptr ? nullptr : control->axis("control");
  if (copies == nullptr || copies->size() == 0) return {0, unknown, unknown, unknown, 0};
  return {static_cast<int>(copies->size()), real(*control, "false_positive_rate"),
          real(*control, "false_positive_rate_low"), real(*control, "false_positive_rate_high"),
          rounds_of(*control, copies->size())};
}

std::vector<std::string> stored_notes(const LabelledFile& file) {
  const LabelledArray* runtime = file.group("bench/runtime");
  if (runtime == nullptr) return {};
  return attribute_or_empty<std::vector<std::string>>(runtime->attributes, "notes");
}

}  // namespace conelab
