#include "widgets/benchmarks/bench_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <regex>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/bench/parts.h"
#include "core/files/atomic_file.h"
#include "core/statistics/interval.h"

namespace conelab::desktop {
namespace {

namespace fs = std::filesystem;

/// Reads one field. An error is stored under the field's name, without the name at its beginning.
class Fields {
 public:
  explicit Fields(std::map<std::string, std::string>& errors) : errors_(errors) {}

  void read(const std::string& field, const std::function<void()>& reading) {
    try {
      reading();
    } catch (const Error& error) {
      std::string text = error.what();
      const std::string prefix = field + ": ";
      if (text.starts_with(prefix)) text.erase(0, prefix.size());
      errors_.emplace(field, text);
    }
  }
  /// The labels chosen or typed on an axis.
  void labels(const Axis& axis, const Labels& chosen, Labels& labels) {
    read(axis.option, [&] {
      if (!axis.numeric) {
        if (chosen.empty()) misuse("choose at least one");
        labels = chosen;
        return;
      }
      const std::string& text = chosen.front();
      if (text.empty()) misuse("expected a number, a list (256,512) or a range (256..4096:x2)");
      labels = parse_labels(axis, axis.option, text);
    });
  }
  void count(const std::string& field, const std::string& text, std::int64_t& value) {
    read(field, [&] {
      std::vector<std::int64_t> values;
      if (!text.empty()) values = parse_integers(field, text);
      if (values.size() != 1) misuse("expected one whole number from 1");
      value = values.front();
    });
  }
  void seed(const std::string& field, const std::string& text, std::uint64_t& value) {
    read(field, [&] { value = sweep_of_items({{field, text}}).seed; });
  }
  void count_from_zero(const std::string& field, const std::string& text, std::int64_t& value) {
    read(field, [&] {
      const std::optional<std::int64_t> number = parse_integer(text);
      if (!number || *number < 0) misuse("expected one whole number from 0");
      value = *number;
    });
  }
  void seconds(const std::string& field, const std::string& text, double& value) {
    read(field, [&] {
      const std::optional<double> number = parse_number(text);
      if (!number || !(*number > 0)) misuse("expected a positive number of seconds");
      value = *number;
    });
  }

 private:
  std::map<std::string, std::string>& errors_;
};

void check_devices(const Labels& chosen, const std::vector<DeviceState>& known) {
  for (const DeviceState& device : known) {
    const bool wanted = std::find(chosen.begin(), chosen.end(), device.name) != chosen.end();
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
  Sweep& sweep = check.sweep;
  sweep.cold = typed.cold;
  Fields fields(check.errors);
  for (const Axis& axis : axes()) {
    fields.labels(axis, typed.labels[index_of(axis)], sweep[axis]);
  }
  fields.read("devices", [&] { check_devices(sweep["device"], devices); });
  std::int64_t rounds = 0, controls = 0;
  fields.count("batch", typed.batch, sweep.batch);
  fields.count("rounds", typed.rounds, rounds);
  fields.count_from_zero("controls", typed.controls, controls);
  fields.seed("seed", typed.seed, sweep.seed);
  fields.seconds("time_limit", typed.time_limit, sweep.time_limit);
  fields.read("rounds", [&] {
    if (rounds > 10000) misuse("expected at most 10000 (found {})", rounds);
  });
  fields.read("controls", [&] {
    if (controls > 10000) misuse("expected at most 10000 (found {})", controls);
  });
  sweep.rounds = static_cast<int>(rounds);
  sweep.controls = static_cast<int>(controls);
  if (check.sound()) fields.read("operators", [&] { check_sweep(sweep, operators); });
  if (!check.sound()) {
    check.extent = "Nothing can be run before the marked fields are right.";
    return check;
  }
  const std::size_t cases = sweep.cases().size();
  check.extent = plural(cases, "case") + " in " + plural(static_cast<std::size_t>(rounds), "round");
  if (const int enough = samples_to_cover(); rounds < enough) {
    check.extent += fmt::format("; 95 % intervals need {} rounds", enough);
  }
  return check;
}

BenchChoice form_of_sweep(BenchChoice typed, const std::vector<std::string>& lines,
                          const std::vector<std::string>& operators) {
  static const std::map<std::string, std::string BenchChoice::*> texts = {
      {"batch", &BenchChoice::batch},
      {"rounds", &BenchChoice::rounds},
      {"controls", &BenchChoice::controls},
      {"seed", &BenchChoice::seed},
      {"time_limit", &BenchChoice::time_limit}};
  for (const std::string& line : lines) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = line.substr(0, equals), value = line.substr(equals + 1);
    for (const Axis& axis : axes()) {
      if (name != axis.option || !holds_labels(axis, value)) continue;
      typed.names(axis.name) = axis.numeric ? Labels{value} : parse_names(name, value);
    }
    // check_bench says where a number is out of range, so that no other sweep is measured.
    if (texts.contains(name) && parse_number(value)) typed.*texts.at(name) = value;
    if (name == "cold") typed.cold = value == "1";
  }
  std::erase_if(typed.names("operator"), [&](const std::string& name) {
    return std::find(operators.begin(), operators.end(), operator_of_label(name)) ==
           operators.end();
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
