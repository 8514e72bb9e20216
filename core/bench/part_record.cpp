#include "core/bench/part_record.h"

#include "core/base/error.h"
#include "core/files/bench_file.h"

namespace conelab {
namespace {

/// f(name, number) for every number of a record but its status, in a fixed order.
template <class Record, class F>
void each_number(Record& r, const F& f) {
  each_fact(r.facts, f);
  each_measurement(r.sample, f);
  f("bandwidth", r.sample.bandwidth);
  f("load", r.machine.load);
  f("clock", r.machine.clock);
  f("temperature", r.machine.temperature);
}

/// Arrays of one number: single numbers have no checksum in HDF5.
LabelledVariable one_number(const char* name, double value) {
  return {name, {"index"}, std::vector<double>{value}, "", {}};
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
  array.axes = {{"index", std::vector<std::int64_t>{0}, ""}};
  array.variables = {one_number("status", static_cast<double>(r.status))};
  each_number(r, [&](const char* name, double value) {
    array.variables.push_back(one_number(name, value));
  });
  array.attributes.emplace_back("reason", r.reason);
  write_labelled(file, {program_version(), {{"sample", array}}, {}});
}

PartRecord read_part(const std::string& file) {
  const LabelledArray a = read_labelled(file, "sample");
  PartRecord r;
  const double status = number(a, "status", file);
  if (!(status >= 0 && status <= static_cast<double>(CaseStatus::out_of_memory))) {
    fail("{}: status {} (expected 0 to 5)", file, status);
  }
  r.status = static_cast<CaseStatus>(static_cast<int>(status));
  for (const auto& [name, value] : a.attributes) {
    const auto* text = std::get_if<std::string>(&value);
    if (name == "reason" && text != nullptr) r.reason = *text;
  }
  each_number(r, [&](const char* name, double& value) { value = number(a, name, file); });
  return r;
}

}  // namespace conelab
