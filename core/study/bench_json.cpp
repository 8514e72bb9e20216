#include "core/study/bench_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/bench/summary.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

Json numbers_json(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number_json(value));
  return list;
}

Json case_json(const MeasuredCase& c) {
  Json json = labels_json(c.labels);
  json["status"] = status_name(c.status);
  if (c.status != CaseStatus::ok) {
    json["reason"] = c.reason;
    return json;
  }
  json["time"] = number_json(c.time);
  json["time_low"] = number_json(c.time_low);
  json["time_high"] = number_json(c.time_high);
  json["time_cold"] = number_json(c.time_cold);
  json["time_samples"] = numbers_json(c.samples);
  json["flops"] = number_json(c.flops);
  json["bytes"] = number_json(c.bytes);
  json["peak_flops"] = number_json(c.peak_flops);
  json["of_peak"] = number_json(peak_share(c));
  json["of_peak_trusted"] = std::isfinite(peak_share(c)) && !peak_disturbed(c);
  json["bandwidth"] = number_json(c.bandwidth);
  json["intensity"] = number_json(intensity(c));
  json["peak_bytes"] = number_json(c.peak_bytes);
  json["extra_bytes"] = number_json(c.extra_bytes);
  json["error"] = number_json(c.error);
  return json;
}

Json exponent_json(const MeasuredExponent& e) {
  Json json = labels_json(e.labels);
  json.erase(axes().back().name);
  json["resolved"] = std::isfinite(e.value);
  if (std::isfinite(e.value)) {
    json["exponent"] = e.value;
    json["exponent_low"] = number_json(e.low);
    json["exponent_high"] = number_json(e.high);
  } else {
    json["reason"] = e.why_not;
  }
  json["local"] = numbers_json(e.local);
  return json;
}

}  // namespace

Json labels_json(const Case& c) {
  Json json;
  for (const Axis& axis : axes()) {
    if (axis.numeric)
      json[axis.name] = c.number(axis.name);
    else
      json[axis.name] = c[axis];
  }
  return json;
}

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json control_json(const MeasuredControl& control) {
  return {{"comparisons", control.comparisons},
          {"false_positive_rate", number_json(control.rate)},
          {"false_positive_rate_low", number_json(control.rate_low)},
          {"false_positive_rate_high", number_json(control.rate_high)}};
}

Json bench_json(const LabelledFile& file, const std::string& name) {
  Json json{{"output", name}, {"cases", Json::array()}, {"exponents", Json::array()}};
  for (const MeasuredCase& c : measured_cases(file, name)) json["cases"].push_back(case_json(c));
  for (const MeasuredExponent& e : measured_exponents(file, name)) {
    json["exponents"].push_back(exponent_json(e));
  }
  json["control"] = control_json(measured_control(file));
  json["notes"] = summary_notes(file);
  return json;
}

}  // namespace conelab
