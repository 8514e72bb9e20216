#include "core/report/same_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/report/report_study.h"

namespace conelab {
namespace {

constexpr double tolerance_of_other_processors = 1e-4;

bool is_environment(const std::string& group) { return group.ends_with("environment"); }

bool is_time(const std::string& name) { return name.find("seconds") != std::string::npos; }

std::string attribute_as_text(const AttributeValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "" : *text;
}

/// Returns what of the environment decides over the last bits of results.
std::string processor_of(const LabelledFile& file) {
  std::string text = file.creator;
  for (const auto& [name, group] : file.groups) {
    if (!is_environment(name)) continue;
    for (const char* key : {"git_hash", "compiler", "compiler_flags", "cpu", "simd"}) {
      if (const auto* value = value_at(group.attributes, key))
        text += "\n" + attribute_as_text(*value);
      const LabelledVariable* variable = group.variable(key);
      const auto* words =
          variable == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&variable->data);
      if (words != nullptr && !words->empty()) text += "\n" + words->front();
    }
  }
  return text;
}

template <class T>
std::string data_difference(const std::vector<T>& a, const std::vector<T>& b, double tolerance) {
  if (a.size() != b.size()) return fmt::format("has {} values, then {}", a.size(), b.size());
  if constexpr (std::is_same_v<T, std::string>) {
    return a == b ? "" : "holds other texts";
  } else {
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      difference = std::isfinite(x - y) ? std::max(difference, std::abs(x - y)) : INFINITY;
    }
    for (const T& x : a) {
      if (std::isfinite(static_cast<double>(x))) {
        largest = std::max(largest, std::abs(static_cast<double>(x)));
      }
    }
    if (difference <= tolerance * largest) return "";
    return fmt::format("differs by {:.2g} of its largest number", difference / largest);
  }
}

std::string group_difference(const LabelledArray& a, const LabelledArray& b, double tolerance) {
  for (const LabelledVariable& variable : a.variables) {
    if (is_time(variable.name)) continue;
    const LabelledVariable* other = b.variable(variable.name);
    if (other == nullptr || other->data.index() != variable.data.index()) {
      return variable.name + " is missing";
    }
    const std::string difference = std::visit(
        [&](const auto& data) {
          return data_difference(data, std::get<std::decay_t<decltype(data)>>(other->data),
                                 tolerance);
        },
        variable.data);
    if (!difference.empty()) return variable.name + " " + difference;
  }
  for (const auto& [name, value] : a.attributes) {
    const auto* number = std::get_if<double>(&value);
    if (number == nullptr || is_time(name)) continue;
    const AttributeValue* other = value_at(b.attributes, name);
    const double* twin = other == nullptr ? nullptr : std::get_if<double>(other);
    if (twin == nullptr) return name + " is missing";
    const std::string difference =
        data_difference(std::vector<double>{*number}, std::vector<double>{*twin}, tolerance);
    if (!difference.empty()) return fmt::format("{} is {}, then {}", name, *number, *twin);
  }
  return "";
}

}  // namespace

std::string results_difference(const std::string& first, const std::string& second,
                               const SandboxLimits& limits) {
  const LabelledFile a = read_labelled_file_sandboxed(first, limits);
  const LabelledFile b = read_labelled_file_sandboxed(second, limits);
  const double tolerance = processor_of(a) == processor_of(b) ? 0 : tolerance_of_other_processors;
  for (const auto& [name, group] : a.groups) {
    if (is_environment(name)) continue;
    const LabelledArray* other = b.group(name);
    const std::string difference =
        other == nullptr ? "is missing" : group_difference(group, *other, tolerance);
    if (!difference.empty()) return "/" + name + "/" + difference;
  }
  return "";
}

bool same_measure(const std::string& name, double first, double second) {
  const bool missing = std::isnan(first) && std::isnan(second);
  const double most = tolerance_of_other_processors * std::max(std::abs(first), std::abs(second));
  return is_time(name) || missing || std::abs(first - second) <= most;
}

}  // namespace conelab
