#include "widgets/benchmarks/bench_form.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/bench/parts.h"
#include "core/files/atomic_file.h"
#include "core/job/call_json.h"
#include "core/jobs/job_table.h"
#include "core/statistics/exponent.h"
#include "core/statistics/interval.h"
#include "widgets/forms/field_form.h"

namespace conelab::desktop {
namespace {

namespace fs = std::filesystem;

constexpr int most_rounds = 10000;

/// Reads one field. An error is stored under the field's name, without the name at its beginning.
template <class Reading>
void read_field(BenchCheck& check, const std::string& field, const Reading& reading) {
  try {
    reading();
  } catch (const Error& error) {
    std::string text = error.what();
    const std::string prefix = field + ": ";
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
    check.errors.emplace(field, text);
  }
}

/// Throws misuse unless a sweep can have this text in the field.
void check_text(const JobField& field, const std::string& text) {
  if (field.kind != FieldKind::list) {
    if (!parse_number(text)) misuse("expected one number (found '{}')", text);
    const Sweep sweep = sweep_of_items({{field.name, text}});
    check_sweep(sweep, {});
    if (std::max(sweep.rounds, sweep.controls) <= most_rounds) return;
    misuse("expected at most {} (found {})", most_rounds, text);
  }
  if (text.empty() && field.choices.empty()) {
    misuse("expected a number, a list (256,512) or a range (256..4096:x2)");
  }
  if (text.empty()) misuse("choose at least one");
  (void)sweep_of_items({{field.name, text}});
}

void check_devices(const Labels& chosen, const std::vector<DeviceState>& known) {
  for (const DeviceState& device : known) {
    const bool wanted = contains(chosen, device.name);
    if (wanted && !device.available) misuse("{}: {}", device.name, device.about);
  }
}

/// Returns whether a file's text can be typed in the field. check_bench says whether a number is in
/// its range, so that no other sweep is measured.
bool can_be_typed(const JobField& field, const std::string& text) {
  if (field.kind != FieldKind::list) return parse_number(text).has_value();
  try {
    (void)sweep_of_items({{field.name, text}});
    return !text.empty();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<JobField> sweep_fields(const std::vector<std::string>& operators) {
  std::vector<JobField> fields = typed_fields(job_named("bench"));
  std::erase_if(
      fields, [](const JobField& field) { return field.name == "peer" || field.name == "resume"; });
  std::ranges::rotate(fields, std::next(fields.begin()));  // The output stands last.
  for (const Axis& axis : axes()) {
    JobField& field = *std::ranges::find(fields, axis.option, &JobField::name);
    field.choices = index_of(axis) == 0 ? operators : choices_of(axis);
    if (axis.numeric) field.about += ": a number, a list or a range (256..4096:x2)";
  }
  return fields;
}

std::string typed_text(const BenchChoice& typed, const JobField& field) {
  const auto found = typed.fields.find(field.name);
  return found == typed.fields.end() ? field.initial : found->second;
}

BenchCheck check_bench(const BenchChoice& typed, const std::vector<std::string>& operators,
                       const std::vector<DeviceState>& devices) {
  BenchCheck check;
  std::vector<std::pair<std::string, std::string>> items;
  for (const JobField& field : sweep_fields(operators)) {
    const std::string text = typed_text(typed, field);
    if (field.kind == FieldKind::flag) items.emplace_back("cold", text.empty() ? "1" : "0");
    if (field.kind == FieldKind::flag || field.kind == FieldKind::output) continue;
    read_field(check, field.name, [&] {
      check_text(field, text);
      items.emplace_back(field.name, text);
    });
  }
  Sweep& sweep = check.sweep = sweep_of_items(items);
  read_field(check, "devices", [&] { check_devices(sweep["device"], devices); });
  if (check.sound()) {
    read_field(check, "operators", [&] { check_sweep(sweep, operators); });
  }
  if (!check.sound()) {
    check.extent = "Nothing can be run before the marked fields are right.";
    return check;
  }
  const std::size_t cases = sweep.cases().size();
  check.extent = counted(cases, "case") + " in " + counted(sweep.rounds, "round");
  if (const int enough = samples_to_cover(); sweep.rounds < enough) {
    check.extent += fmt::format("; 95 % intervals need {} rounds", enough);
  }
  const std::vector<std::int64_t> lengths = sweep.numbers(axis_named("seq_len"));
  const auto [least, most] = std::ranges::minmax(lengths);
  const double octaves = std::log2(static_cast<double>(most) / static_cast<double>(least));
  if (octaves > 0 && octaves < octaves_needed - 1e-9) {
    check.extent += fmt::format("; exponents need {} octaves of n", octaves_needed);
  }
  return check;
}

BenchChoice form_of_sweep(BenchChoice typed, const std::vector<std::string>& lines,
                          const std::vector<std::string>& operators) {
  for (const std::string& line : lines) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = line.substr(0, equals), value = line.substr(equals + 1);
    if (name == "cold") typed.fields["warm_only"] = value == "1" ? "" : "yes";
    for (const JobField& field : sweep_fields(operators)) {
      const bool measured = field.kind != FieldKind::flag && field.kind != FieldKind::output;
      if (name == field.name && measured && can_be_typed(field, value)) typed.fields[name] = value;
    }
  }
  std::vector<std::string> known = names_in(typed.fields["operators"]);
  std::erase_if(known, [&](const std::string& name) {
    return !contains(operators, operator_of_label(name));
  });
  typed.fields["operators"] = join(known, ",");
  return typed;
}

std::string bench_command(const BenchChoice& typed, const std::string& output) {
  JobSpec spec{&job_named("bench"), {}};
  for (const JobField& field : sweep_fields({})) {
    const std::string text = typed_text(typed, field);
    const bool is_flag = field.kind == FieldKind::flag;
    spec.values[field.name] = is_flag ? FieldValue(text == "yes") : FieldValue(text);
  }
  spec.values["output"] = output;
  return shell_line(command_words(spec));
}

std::string result_path(const std::string& typed, const std::string& folder) {
  fs::path path = typed.empty() ? "bench.h5" : typed;
  if (path.extension().empty()) path += ".h5";
  return (path.is_absolute() ? path : fs::path(folder) / path).lexically_normal().string();
}

std::string free_path(const std::string& path) {
  constexpr int most_tried = 1000;
  const fs::path whole(path);
  std::error_code error;
  std::string stem = whole.stem().string();
  int number = 2;
  // After bench-2.h5, which was named beside bench.h5, comes bench-3.h5.
  static const std::regex numbered("(.+)-([1-9][0-9]{0,2})");
  std::smatch parts;
  if (std::regex_match(stem, parts, numbered) &&
      fs::exists(whole.parent_path() / (parts.str(1) + whole.extension().string()), error)) {
    number = std::stoi(parts.str(2)) + 1;
    stem = parts.str(1);
  }
  // If the folder cannot be read or written, no other name is free either.
  if (!fs::exists(path, error)) probe_writable(path);
  std::string tried = path;
  for (; fs::exists(tried, error) || Parts::exist(tried); ++number) {
    if (number > most_tried) fail("{}: neither it nor any name like it is free", path);
    const std::string name = fmt::format("{}-{}{}", stem, number, whole.extension().string());
    tried = (whole.parent_path() / name).string();
  }
  return tried;
}

}  // namespace conelab::desktop
