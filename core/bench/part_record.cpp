#include "core/bench/part_record.h"

#include "core/base/error.h"
#include "core/files/bench_file.h"

namespace conelab {
namespace {

LabelledVariable scalar(const char* name, double value) {
  return {name, {}, std::vector<double>{value}, "", {}};
}

double number(const LabelledArray& array, const char* name, const std::string& file) {
  const LabelledVariable* v = array.variable(name);
  const auto* values = v == nullptr ? nullptr : std::get_if<std::vector<double>>(&v->data);
  if (values == nullptr || values->size() != 1) fail("{}: no number '{}'", file, name);
  return values->front();
}

}  // namespace

void write_part(const std::string& file, const PartRecord& r) {
  LabelledArray array;
  array.variables = {scalar("status", static_cast<double>(r.status)),
                     scalar("flops", r.facts.flops),
                     scalar("bytes", r.facts.bytes),
                     scalar("error", r.facts.error),
                     scalar("warm", r.sample.warm),
                     scalar("cold", r.sample.cold),
                     scalar("runs", r.sample.runs),
                     scalar("peak_flops", r.sample.peak_flops),
                     scalar("peak_bytes", r.sample.peak_bytes),
                     scalar("extra_bytes", r.sample.extra_bytes),
                     scalar("device_bytes", r.sample.device_bytes),
                     scalar("device_clock", r.sample.device_clock),
                     scalar("device_memory_clock", r.sample.device_memory_clock),
                     scalar("device_temperature", r.sample.device_temperature),
                     scalar("device_power", r.sample.device_power),
                     scalar("device_throttle", r.sample.device_throttle),
                     scalar("load", r.machine.load),
                     scalar("clock", r.machine.clock),
                     scalar("temperature", r.machine.temperature)};
  array.attributes.emplace_back("reason", r.reason);
  write_labelled(file, {program_version(), {{"sample", array}}, {}});
}

PartRecord read_part(const std::string& file) {
  const LabelledArray a = read_labelled(file, "sample");
  const auto at = [&](const char* name) { return number(a, name, file); };
  PartRecord r;
  const double status = at("status");
  if (!(status >= 0 && status <= static_cast<double>(CaseStatus::out_of_memory))) {
    fail("{}: status {} (expected 0 to 5)", file, status);
  }
  r.status = static_cast<CaseStatus>(static_cast<int>(status));
  for (const auto& [name, value] : a.attributes) {
    const auto* text = std::get_if<std::string>(&value);
    if (name == "reason" && text != nullptr) r.reason = *text;
  }
  r.facts = {at("flops"), at("bytes"), at("error")};
  r.sample = {at("warm"),
              at("cold"),
              at("runs"),
              at("peak_flops"),
              at("peak_bytes"),
              at("extra_bytes"),
              at("device_bytes"),
              at("device_clock"),
              at("device_memory_clock"),
              at("device_temperature"),
              at("device_power"),
              at("device_throttle")};
  r.machine = {at("load"), at("clock"), at("temperature")};
  return r;
}

}  // namespace conelab
