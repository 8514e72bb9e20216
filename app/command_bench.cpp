// `conelab bench`: measures operators in interleaved rounds, with one worker process for each case.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "app/bench_json.h"
#include "app/bench_setup.h"
#include "app/command.h"
#include "app/command_line.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/progress.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/bench/parts.h"
#include "core/bench/runner.h"
#include "core/bench/summary.h"
#include "core/bench/worker.h"
#include "core/files/sandbox.h"

namespace conelab {
namespace {

/// Seconds within which a peer must start and describe itself.
constexpr double peer_limit = 120;

struct TypedBench {
  std::string output;
  std::vector<std::string> labels;  ///< [axis] As the user typed them.
  std::string resumed;              ///< FILE of `--resume FILE`.
  std::vector<std::string> peers;
  Sweep sweep;
  bool warm_only = false, json = false;
  const CLI::App* options = nullptr;

  TypedBench() {
    for (const Axis& axis : axes()) labels.emplace_back(axis.initial);
  }
  [[nodiscard]] bool given(const std::string& option) const { return options->count(option) > 0; }
};

/// Returns the file that `-o FILE` or `--resume FILE` names.
std::string output_of(const TypedBench& typed) {
  if (typed.output.empty() && typed.resumed.empty()) {
    misuse("--output is required, or --resume FILE (see `conelab bench --help`)");
  }
  const auto path = [](const std::string& text) {
    return std::filesystem::absolute(text).lexically_normal();
  };
  if (!typed.output.empty() && !typed.resumed.empty() &&
      path(typed.output) != path(typed.resumed)) {
    misuse("--output {} and --resume {} are not the same file", typed.output, typed.resumed);
  }
  return typed.output.empty() ? typed.resumed : typed.output;
}

/// Returns the run that is resumed, or nothing for a new run. A call that names an output and no
/// part of a sweep wants to go on, not to begin with the default sweep.
std::optional<StoredRun> run_to_resume(const TypedBench& typed, const std::string& output) {
  if (!typed.given("--resume")) return std::nullopt;
  std::optional<StoredRun> run = stored_run(output, {.cancelled = interrupted});
  const bool names_sweep = std::any_of(axes().begin(), axes().end(), [&](const Axis& axis) {
    return typed.given(std::string("--") + axis.option);
  });
  if (!run && (typed.output.empty() || !names_sweep)) {
    misuse("{}: there is no run to resume", output);
  }
  if (run && !run->peers.empty() && typed.peers.empty()) {
    misuse("{}: its run had peers, name their commands with --peer again: {}", output,
           join(run->peers));
  }
  return run;
}

std::string option_of(const Axis& axis) { return std::string("--") + axis.option; }

Labels labels_of(const TypedBench& typed, const Axis& axis) {
  const std::string& text = typed.labels[index_of(axis)];
  // Only numbers may begin with a minus sign; CLI11 must not read them as options.
  return parse_labels(axis, option_of(axis), axis.numeric ? std::string(unshielded(text)) : text);
}

/// Returns the sweep that the options describe. What the user did not type is taken from the
/// resumed run, if there is one. The runner refuses a sweep that differs from it.
Sweep sweep_of(const TypedBench& typed, const std::optional<StoredRun>& resumed) {
  Sweep sweep = resumed ? resumed->sweep : Sweep();
  const auto take = [&](const std::string& option, auto& item, const auto& value) {
    if (!resumed || typed.given(option)) item = value;
  };
  for (const Axis& axis : axes()) take(option_of(axis), sweep[axis], labels_of(typed, axis));
  take("--batch", sweep.batch, typed.sweep.batch);
  take("--rounds", sweep.rounds, typed.sweep.rounds);
  take("--controls", sweep.controls, typed.sweep.controls);
  take("--seed", sweep.seed, typed.sweep.seed);
  take("--warm-only", sweep.cold, !typed.warm_only);
  take("--time-limit", sweep.time_limit, typed.sweep.time_limit);
  return sweep;
}

/// Returns what happened to the file as text.
std::string ending_text(const std::string& name, BenchEnding ending) {
  if (ending == BenchEnding::was_finished)
    return name + " was finished already: nothing was left to measure";
  const bool replaced = ending == BenchEnding::replaced;
  return fmt::format("written to {}{}", name, replaced ? ", in the place of an earlier file" : "");
}

void print_tables(const LabelledFile& file, const std::string& name, BenchEnding ending) {
  const auto print = [](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) say("{}", line);
    say("");
  };
  print(table_lines(summary_table(measured_cases(file, name))));
  print(exponent_lines(measured_exponents(file, name)));
  for (const std::string& note : summary_notes(file)) say("{}", note);
  say("{}", ending_text(name, ending));
}

/// Returns the words of a peer's command, which blanks separate.
std::vector<std::string> command_words(const std::string& command) {
  std::istringstream stream(command);
  std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  if (words.empty()) misuse("--peer: expected a command (found '{}')", command);
  return words;
}

/// Warns of peers that measure nothing in the sweep, which is probably a mistake.
void warn_of_idle_peers(const Sweep& sweep, const std::vector<Peer>& peers) {
  for (const Peer& peer : peers) {
    const Labels& operators = sweep["operator"];
    const bool used = std::any_of(operators.begin(), operators.end(),
                                  [&](const std::string& name) { return peer.has(name); });
    if (!used) {
      warn("--peer {}: --operators names none of its operators ({})", fmt::join(peer.command, " "),
           join(peer.operations));
    }
  }
}

int run(const TypedBench& typed) {
  Progress bar("bench");
  BenchOptions options;
  options.output = output_of(typed);
  options.resume = typed.given("--resume");
  options.cancelled = interrupted;
  const std::optional<StoredRun> resumed = run_to_resume(typed, options.output);
  for (const std::string& command : typed.peers) {
    options.peers.push_back(ask_peer(command_words(command), {peer_limit, interrupted}));
  }
  const Sweep sweep = sweep_of(typed, resumed);
  warn_of_idle_peers(sweep, options.peers);
  options.warned = [&](const std::string& what) {
    bar.clear();
    print_warning(what);
  };
  options.progress = [&](const BenchProgress& p) {
    bar.update(p.share, fmt::format("{}/{} {}", p.done, p.total, p.current), p.eta);
  };
  const BenchEnding ending = run_bench(sweep, bench_workload(), with_program(sweep, options));
  bar.clear();
  const std::string& name = options.output;
  const LabelledFile file = read_labelled_file_sandboxed(name, {.cancelled = interrupted});
  if (typed.json) {
    print_json(bench_json(file, name));
  } else {
    print_tables(file, name, ending);
  }
  return 0;
}

/// Throws misuse for a negative number, because CLI11 would read -1 as the largest unsigned number.
std::string check_seed(const std::string& number) {
  if (!unshielded(number).starts_with('-')) return "";
  misuse(
      "--seed: wrong value (expected a whole number from 0, found '{}'; see `conelab bench "
      "--help`)",
      unshielded(number));
}

void declare_axes(CLI::App& options, TypedBench& typed) {
  for (const Axis& axis : axes()) {
    options.add_option(option_of(axis), typed.labels[index_of(axis)], axis.about)
        ->capture_default_str();
  }
  options.add_option("--batch", typed.sweep.batch, "batch size")->capture_default_str();
}

}  // namespace

Action declare_bench(CLI::App& options) {
  const auto typed = std::make_shared<TypedBench>();
  typed->options = &options;
  options.add_option("-o,--output", typed->output,
                     "the HDF5 file to write; a run that measured something replaces an earlier "
                     "result");
  declare_axes(options, *typed);
  options.add_option("--rounds", typed->sweep.rounds, "each case once in each round")
      ->capture_default_str();
  options
      .add_option("--controls", typed->sweep.controls,
                  "at most so many cases are measured twice (A/A)")
      ->capture_default_str();
  options.add_option("--seed", typed->sweep.seed, "of inputs and orders")
      ->capture_default_str()
      ->check(check_seed);
  options.add_option("--time-limit", typed->sweep.time_limit, "seconds that one sample may take")
      ->capture_default_str();
  options.add_option("--peer", typed->peers,
                     "command of a program whose operators join (see tests/peers)");
  options.add_flag("--warm-only", typed->warm_only, "do not time runs with flushed caches");
  options
      .add_option("--resume", typed->resumed,
                  "go on with the unfinished run of FILE, or of --output; its sweep needs not be "
                  "said again")
      ->type_name("[FILE]")
      ->expected(0, 1);
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run(*typed); };
}

Action declare_bench_worker(CLI::App&) {
  return [] { return run_worker(bench_workload().make); };
}

}  // namespace conelab
