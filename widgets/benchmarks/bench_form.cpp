#include "widgets/benchmarks/bench_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/bench/parts.h"
#include "core/files/atomic_file.h"
#include "core/statistics/exponent.h"
#include "core/statistics/interval.h"

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

/// Returns the labels chosen or typed on an axis.
Labels read_labels(const Axis& axis, const Labels& chosen) {
  if (!axis.numeric) {
    if (chosen.empty()) misuse("choose at least one");
    return chosen;
  }
  const std::string& text = chosen.front();
  if (text.empty()) misuse("expected a number, a list (256,512) or a range (256..4096:x2)");
  return parse_labels(axis, axis.option, text);
}

/// Throws misuse unless a sweep can have this number.
void check_number(const std::string& name, const std::string& text) {
  if (!parse_number(text)) misuse("expected one number (found '{}')", text);
  const Sweep sweep = sweep_of_items({{name, text}});
  check_sweep(sweep, {});
  if (std::max(sweep.rounds, sweep.controls) > most_rounds) {
    misuse("expected at most {} (found {})", most_rounds, text);
  }
}

void check_devices(const Labels& chosen, const std::vector<DeviceState>& known) {
  for (const DeviceState& device : known) {
    const bool wanted = std::ranges::find(chosen, device.name) != chosen.end();
    if (wanted && !device.available) misuse("{}: {}", device.name, device.about);
  }
}

/// Whether a file's text lists labels of the axis.
bool holds_labels(const Axis& axis, const std::string& text) {
  try {
    return !parse_labels(axis, axis.option, text).empty();
  } catch (const Error&) {
    return false;
  }
}

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

BenchCheck check_bench(const BenchChoice& typed, const std::vector<std::string>& operators,
                       const std::vector<DeviceState>& devices) {
  BenchCheck check;
  std::vector<std::pair<std::string, std::string>> items = {{"cold", typed.cold ? "1" : "0"}};
  for (const BenchField& field : bench_fields) {
    const std::string& text = typed.*field.text;
    read_field(check, field.name, [&] {
      check_number(field.name, text);
      items.emplace_back(field.name, text);
    });
  }
  Sweep& sweep = check.sweep = sweep_of_items(items);
  for (const Axis& axis : axes()) {
    read_field(check, axis.option,
               [&] { sweep[axis] = read_labels(axis, typed.labels[index_of(axis)]); });
  }
  read_field(check, "devices", [&] { check_devices(sweep["device"], devices); });
  if (check.sound()) {
    read_field(check, "operators", [&] { check_sweep(sweep, operators); });
  }
  if (!check.sound()) {
    check.extent = "Nothing can be run before the marked fields are right.";
    return check;
  }
  const std::size_t cases = sweep.cases().size();
  check.extent =
      plural(cases, "case") + " in " + plural(static_cast<std::size_t>(sweep.rounds), "round");
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
    for (const Axis& axis : axes()) {
      if (name != axis.option || !holds_labels(axis, value)) continue;
      typed.names(axis.name) = axis.numeric ? Labels{value} : parse_names(name, value);
    }
    // check_bench says where a number is out of range, so that no other sweep is measured.
    for (const BenchField& field : bench_fields) {
      if (name == field.name && parse_number(value)) typed.*field.text = value;
    }
    if (name == "cold") typed.cold = value == "1";
  }
  std::erase_if(typed.names("operator"), [&](const std::string& name) {
    return std::ranges::find(operators, operator_of_label(name)) == operators.end();
  });
  return typed;
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
