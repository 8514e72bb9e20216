#include "core/job/job_spec.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/job/call_json.h"

namespace conelab {
namespace {

template <class T>
T value_or_default(const JobSpec& spec, const std::string& name) {
  if (const auto given = spec.values.find(name); given != spec.values.end()) {
    return std::get<T>(given->second);
  }
  const JobField* field = find_field(*spec.kind, name);
  if (field == nullptr || field->initial.empty()) return T();
  return std::get<T>(value_of_text(*field, field->initial));
}

}  // namespace

Execution JobContext::execution(std::int64_t threads, const char* stage) const {
  Execution execution;
  execution.threads = static_cast<int>(threads);
  execution.cancelled = cancelled;
  if (progress && stage != nullptr) {
    execution.progress = [report = progress, stage](double done) { report(stage, done); };
  }
  return execution;
}

std::string JobSpec::text(const std::string& field) const {
  return value_or_default<std::string>(*this, field);
}
std::int64_t JobSpec::integer(const std::string& field) const {
  return value_or_default<std::int64_t>(*this, field);
}
double JobSpec::number(const std::string& field) const {
  return value_or_default<double>(*this, field);
}
bool JobSpec::flag(const std::string& field) const { return value_or_default<bool>(*this, field); }
std::vector<std::string> JobSpec::list(const std::string& field) const {
  return value_or_default<std::vector<std::string>>(*this, field);
}
std::map<std::string, std::string> JobSpec::parameters() const {
  return value_or_default<std::map<std::string, std::string>>(*this, "parameters");
}
Call JobSpec::call() const { return value_or_default<Call>(*this, "call"); }

const JobField* find_field(const JobKind& kind, const std::string& name) {
  return find_named(kind.fields, name);
}

const JobField* find_field(const JobKind& kind, FieldKind wanted) {
  const auto found = std::ranges::find_if(
      kind.fields, [&](const JobField& field) { return field.kind == wanted; });
  return found == kind.fields.end() ? nullptr : &*found;
}

std::vector<JobField> typed_fields(const JobKind& kind) {
  std::vector<JobField> all;
  for (const JobField& field : kind.fields) {
    if (field.kind != FieldKind::call) {
      all.push_back(field);
      continue;
    }
    const std::vector<JobField> parts = call_word_fields();
    all.insert(all.end(), parts.begin(), parts.end());
  }
  return all;
}

Json spec_to_json(const JobSpec& spec) {
  Json json{{"command", spec.kind->name}};
  for (const JobField& field : spec.kind->fields) {
    if (!field.changes_result) continue;
    const auto given = spec.values.find(field.name);
    if (given != spec.values.end()) {
      json[field.name] = value_to_json(given->second);
    } else if (!field.initial.empty()) {
      json[field.name] = value_to_json(value_of_text(field, field.initial));
    }
  }
  return json;
}

std::vector<std::string> command_words(const JobSpec& spec) {
  std::vector<std::string> words = {"conelab", spec.kind->name};
  for (const JobField& field : spec.kind->fields) {
    const auto given = spec.values.find(field.name);
    if (given == spec.values.end()) continue;
    const std::vector<std::string> own = words_of_value(field, given->second);
    words.insert(words.end(), own.begin(), own.end());
  }
  return words;
}

Backend* choose_device(const std::string& word, Dtype dtype, const JobContext& context) {
  if (word == "cpu") return nullptr;
  if (word != "cuda" && word != "auto") unknown_name("device", word, {"cpu", "cuda", "auto"});
  const DeviceState state = context.cuda == nullptr ? DeviceState() : context.cuda->state();
  const bool takes = state.available && context.cuda->takes(dtype);
  if (takes) return context.cuda;
  if (word == "auto") return nullptr;
  if (!state.available) fail("device cuda: {}", state.about);
  fail("device cuda does not compute {}; use --device cpu, or --dtype f32, bf16 or f16",
       dtype_name(dtype));
}

void remark_unusable_device(const std::string& word, const JobContext& context) {
  if (word != "auto" || context.cuda == nullptr) return;
  const DeviceState state = context.cuda->state();
  if (!state.available && !state.driver.empty()) {
    context.say("device cuda: {}; computing on the CPU", state.about);
  }
}

}  // namespace conelab
