#include "core/jobs/bench_job.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/bench/operator_case.h"
#include "core/bench/parts.h"
#include "core/bench/summary.h"
#include "core/files/sandbox.h"
#include "core/jobs/shared_fields.h"

namespace conelab {
namespace {

constexpr double peer_limit = 120;

std::string output_of(const JobSpec& spec) {
  const std::string output = spec.text("output"), resumed = spec.text("resume");
  if (output.empty() && resumed.empty()) {
    misuse("--output is required, or --resume FILE (see `conelab bench --help`)");
  }
  const auto path = [](const std::string& text) {
    return std::filesystem::absolute(text).lexically_normal();
  };
  if (!output.empty() && !resumed.empty() && path(output) != path(resumed)) {
    misuse("--output {} and --resume {} are not the same file", output, resumed);
  }
  return output.empty() ? resumed : output;
}

/// Returns the run that is resumed, or nothing for a new run. A call that names an output and no
/// part of a sweep wants to go on, not to begin with the default sweep.
std::optional<StoredRun> run_to_resume(const JobSpec& spec, const JobContext& context) {
  if (!spec.given("resume")) return std::nullopt;
  const std::string output = output_of(spec);
  std::optional<StoredRun> run = stored_run(output, {.cancelled = context.cancelled});
  const bool names_sweep =
      std::ranges::any_of(axes(), [&](const Axis& axis) { return spec.given(axis.option); });
  if (!run && (!spec.given("output") || !names_sweep)) {
    misuse("{}: there is no run to resume", output);
  }
  if (run && !run->peers.empty() && !spec.given("peer")) {
    misuse("{}: its run had peers, name their commands with --peer again: {}", output,
           join(run->peers));
  }
  return run;
}

Labels labels_of(const JobSpec& spec, const Axis& axis) {
  return parse_labels(axis, std::string("--") + axis.option, join(spec.list(axis.option), ","));
}

/// Returns the sweep that the fields describe. What was not given is taken from the resumed run, if
/// there is one. The runner refuses a sweep that differs from it.
Sweep sweep_of(const JobSpec& spec, const std::optional<StoredRun>& resumed = {}) {
  Sweep sweep = resumed ? resumed->sweep : Sweep();
  const auto take = [&](const std::string& field, auto& item, const auto& value) {
    if (!resumed || spec.given(field)) item = value;
  };
  for (const Axis& axis : axes()) take(axis.option, sweep[axis], labels_of(spec, axis));
  take("batch", sweep.batch, spec.integer("batch"));
  take("rounds", sweep.rounds, static_cast<int>(spec.integer("rounds")));
  take("controls", sweep.controls, static_cast<int>(spec.integer("controls")));
  take("seed", sweep.seed, static_cast<std::uint64_t>(spec.integer("seed")));
  take("warm_only", sweep.cold, !spec.flag("warm_only"));
  take("time_limit", sweep.time_limit, spec.number("time_limit"));
  return sweep;
}

std::string ending_text(const std::string& name, BenchEnding ending) {
  if (ending == BenchEnding::was_finished)
    return name + " was finished already: nothing was left to measure";
  const bool replaced = ending == BenchEnding::replaced;
  return fmt::format("written to {}{}", name, replaced ? ", in the place of an earlier file" : "");
}

std::vector<std::string> result_lines(const LabelledFile& file, const std::string& name,
                                      BenchEnding ending) {
  std::vector<std::string> lines = table_lines(summary_table(measured_cases(file, name)));
  lines.emplace_back();
  for (const std::string& line : exponent_lines(measured_exponents(file, name)))
    lines.push_back(line);
  lines.emplace_back();
  for (const std::string& note : summary_notes(file)) lines.push_back(note);
  lines.push_back(ending_text(name, ending));
  return lines;
}

std::vector<std::string> words_of_command(const std::string& command) {
  std::istringstream stream(command);
  std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  if (words.empty()) misuse("--peer: expected a command (found '{}')", command);
  return words;
}

/// Remarks on peers that measure nothing in the sweep, which is probably a mistake.
void remark_idle_peers(const Sweep& sweep, const std::vector<Peer>& peers,
                       const JobContext& context) {
  for (const Peer& peer : peers) {
    const Labels& operators = sweep["operator"];
    const bool used =
        std::ranges::any_of(operators, [&](const std::string& name) { return peer.has(name); });
    if (!used) {
      context.say("--peer {}: --operators names none of its operators ({})",
                  fmt::join(peer.command, " "), join(peer.operations));
    }
  }
}

std::vector<std::string> device_lines(const Sweep& sweep, const JobContext& context) {
  const Labels& devices = sweep["device"];
  if (!contains(devices, "cuda")) return {};
  const DeviceState state = context.cuda == nullptr ? DeviceState() : context.cuda->state();
  const std::string driver = state.driver.empty() ? "" : fmt::format(", driver {}", state.driver);
  return {fmt::format("{}: {}{}", state.name, state.about, driver)};
}

void report_progress(const BenchProgress& p, const JobContext& context) {
  if (context.seconds_left) context.seconds_left(p.eta);
  const std::string stage = fmt::format("{}/{} {}", p.done, p.total, p.current);
  if (context.progress) context.progress(stage.c_str(), p.share);
}

/// Returns the resolved exponents by their lines: "exponent_umbral", with the labels of further
/// axes that have several.
std::map<std::string, double> exponents(const Sweep& sweep,
                                        const std::vector<MeasuredExponent>& fitted) {
  std::map<std::string, double> found;
  for (const MeasuredExponent& e : fitted) {
    std::string name = "exponent_" + e.labels["operator"];
    for (const Axis& axis : fixed_axes()) {
      if (sweep[axis].size() > 1) name += "_" + e.labels[axis];
    }
    if (e.why_not.empty()) found[name] = e.value;
  }
  return found;
}

JobReport run_benchmark(const JobSpec& spec, const JobContext& context) {
  BenchOptions options;
  options.output = output_of(spec);
  options.resume = spec.given("resume");
  options.cancelled = context.cancelled;
  options.warned = context.remark;
  options.progress = [&](const BenchProgress& p) { report_progress(p, context); };
  const std::optional<StoredRun> resumed = run_to_resume(spec, context);
  for (const std::string& command : spec.list("peer")) {
    options.peers.push_back(ask_peer(words_of_command(command), {peer_limit, context.cancelled}));
  }
  const Sweep sweep = sweep_of(spec, resumed);
  remark_idle_peers(sweep, options.peers, context);
  const BenchEnding ending =
      run_bench(sweep, operator_workload(), with_context(sweep, options, context));
  const std::string& name = options.output;
  const LabelledFile file = read_labelled_file_sandboxed(name, {.cancelled = context.cancelled});
  return {.summary = bench_json(file, name),
          .lines = result_lines(file, name, ending),
          .files = {name},
          .measures = exponents(sweep, measured_exponents(file, name))};
}

/// Checks what is known before a resumed run and the operators of peers are.
void check_benchmark(const JobSpec& spec) {
  (void)output_of(spec);
  if (spec.given("resume") || spec.given("peer")) return;
  check_sweep(sweep_of(spec), operator_workload().operations);
}

/// Returns the seconds that the rounds take: each sample fills at least 20 ms and is repeated with
/// flushed caches, and about as long again goes into the machine's peak and into starting a case.
double seconds_of_sweep(const JobSpec& spec) {
  constexpr double flops_a_second = 2e10, least = 0.02, around_a_sample = 0.05, start = 0.2;
  const Sweep sweep = sweep_of(spec);
  const Workload workload = operator_workload();
  double seconds = 0;
  const std::vector<Case> cases = sweep.cases();
  for (const Case& c : cases) {
    const double once = workload.predict(c, sweep.batch).flops / flops_a_second /
                        static_cast<double>(std::max<std::int64_t>(1, c.number("threads")));
    const double sample = std::max(least, once) + (sweep.cold ? once : 0) + around_a_sample;
    seconds += start + sweep.rounds * sample;
  }
  const auto count = static_cast<double>(cases.size());
  return seconds * (count + std::min<double>(count, sweep.controls)) / std::max(1.0, count);
}

std::vector<std::string> varied_axes(const JobSpec& spec) {
  const Sweep sweep = sweep_of(spec);
  std::vector<std::string> names;
  for (const Axis& axis : axes()) {
    if (sweep[axis].size() > 1) names.emplace_back(axis.name);
  }
  return names;
}

std::vector<JobField> axis_fields() {
  std::vector<JobField> fields;
  for (const Axis& axis : axes()) {
    fields.push_back({.name = axis.option,
                      .option = std::string("--") + axis.option,
                      .about = axis.about,
                      .kind = FieldKind::list,
                      .initial = axis.initial});
  }
  return fields;
}

std::vector<JobField> bench_fields() {
  JobField output = output_field(
      "the HDF5 file to write; a run that measured something replaces an earlier result");
  output.required = false;
  std::vector<JobField> fields = axis_fields();
  fields.insert(fields.begin(), output);
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  const std::vector<JobField> others = {
      integer_field("batch", "batch size", "1", 1, most),
      integer_field("rounds", "each case once in each round", "9", 1, most),
      integer_field("controls", "at most so many cases are measured twice (A/A)", "4", 0, most),
      integer_field("seed", "of inputs and orders", "1", 0,
                    std::numeric_limits<std::int64_t>::max()),
      {"time_limit", "--time-limit", "seconds that one sample may take", FieldKind::number, "600"},
      {"peer", "--peer", "command of a program whose operators join (see tests/peers)",
       FieldKind::texts},
      {"warm_only", "--warm-only", "do not time runs with flushed caches", FieldKind::flag},
      {.name = "resume",
       .option = "--resume",
       .about = "go on with the unfinished run of FILE, or of --output; its sweep needs not be "
                "said again",
       .kind = FieldKind::optional_text,
       .changes_result = false}};
  fields.insert(fields.end(), others.begin(), others.end());
  return fields;
}

std::vector<std::string> bench_measures() {
  std::vector<std::string> names = names_of(case_measures());
  names.emplace_back(exponent_measure);
  return names;
}

}  // namespace

BenchOptions with_context(const Sweep& sweep, BenchOptions options, const JobContext& context) {
  options.worker = context.worker;
  options.devices = device_lines(sweep, context);
  return options;
}

JobKind bench_job() {
  return {.name = "bench",
          .about = "measure operators against sequence length",
          .example =
              "  conelab bench -o bench.h5 --operators dot,penumbral --lengths 256..4096:x2 "
              "--heads 1\n"
              "  conelab bench --resume bench.h5    (after Ctrl-C)\n",
          .fields = bench_fields(),
          .run = run_benchmark,
          .check = check_benchmark,
          .measures = bench_measures(),
          .case_keys = varied_axes,
          .seconds = seconds_of_sweep,
          .measures_time = true};
}

namespace {

Json case_json(const MeasuredCase& c) {
  Json json = labels_json(c.labels);
  json["status"] = status_name(c.status);
  if (c.status != CaseStatus::ok) {
    json["reason"] = c.reason;
    return json;
  }
  json["time"] = c.time;
  json["time_low"] = c.time_low;
  json["time_high"] = c.time_high;
  json["time_cold"] = c.time_cold;
  json["time_samples"] = c.samples;
  json["flops"] = c.flops;
  json["bytes"] = c.bytes;
  json["peak_flops"] = c.peak_flops;
  json["of_peak"] = peak_share(c);
  json["of_peak_trusted"] = std::isfinite(peak_share(c)) && !peak_disturbed(c);
  json["bandwidth"] = c.bandwidth;
  json["intensity"] = intensity(c);
  json["peak_bytes"] = c.peak_bytes;
  json["extra_bytes"] = c.extra_bytes;
  json["error"] = c.error;
  return json;
}

Json exponent_json(const MeasuredExponent& e) {
  Json json = labels_json(e.labels);
  json.erase(axes().back().name);
  json["resolved"] = std::isfinite(e.value);
  if (std::isfinite(e.value)) {
    json["exponent"] = e.value;
    json["exponent_low"] = e.low;
    json["exponent_high"] = e.high;
  } else {
    json["reason"] = e.why_not;
  }
  json["local"] = e.local;
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

Json control_json(const MeasuredControl& control) {
  return {{"comparisons", control.comparisons},
          {"false_positive_rate", control.rate},
          {"false_positive_rate_low", control.rate_low},
          {"false_positive_rate_high", control.rate_high}};
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
