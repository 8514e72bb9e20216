// `conelab bench`: measures operators in interleaved rounds, a worker process per case.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/bench_case.h"
#include "app/bench_summary.h"
#include "app/call_json.h"
#include "app/commands.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/progress.h"
#include "core/bench/runner.h"
#include "core/bench/worker.h"

namespace conelab {
namespace {

struct Typed {
  std::string output, operators = "dot,laplacian,penumbral,umbral", lengths = "256..16384:x2",
                      dims = "64", heads = "8", passes = "forward,backward", dtypes = "f32",
                      devices = "cpu", threads;
  Sweep sweep;
  bool resume = false, warm_only = false, json = false;
};

Sweep sweep_of(const Typed& typed) {
  Sweep sweep = typed.sweep;
  sweep.operations = split_list(typed.operators, "--operators");
  sweep.passes = split_list(typed.passes, "--passes");
  sweep.dtypes = split_list(typed.dtypes, "--dtypes");
  sweep.devices = split_list(typed.devices, "--devices");
  sweep.lengths = parse_integers("--lengths", typed.lengths);
  sweep.dims = parse_integers("--dims", typed.dims);
  sweep.heads = parse_integers("--heads", typed.heads);
  if (!typed.threads.empty()) sweep.threads = parse_integers("--threads", typed.threads);
  sweep.cold = !typed.warm_only;
  check_sweep(sweep);
  return sweep;
}

int run(const Typed& typed) {
  const Sweep sweep = sweep_of(typed);
  Progress bar("bench");
  BenchOptions options;
  options.output = typed.output;
  options.resume = typed.resume;
  options.worker = {"/proc/self/exe", "bench-worker"};
  options.cancelled = interrupted;
  options.progress = [&bar](int done, int total, const std::string& what) {
    bar.update(static_cast<double>(done) / std::max(1, total), what);
  };
  const BenchResult result = run_bench(sweep, options);
  bar.clear();
  typed.json ? print_json(bench_summary_json(result, typed.output))
             : print_text(bench_summary_text(result, typed.output));
  return 0;
}

}  // namespace

Action declare_bench(CLI::App& options) {
  const auto typed = std::make_shared<Typed>();
  options.add_option("-o,--output", typed->output, "the HDF5 file to write")->required();
  options.add_option("--operators", typed->operators, "names (`conelab list operators`)")
      ->capture_default_str();
  options.add_option("--lengths", typed->lengths, "256,512 or 256..16384:x2 or 256..2048:+256")
      ->capture_default_str();
  options.add_option("--dims", typed->dims, "d = d_v per head")->capture_default_str();
  options.add_option("--heads", typed->heads, "numbers of heads")->capture_default_str();
  options.add_option("--batch", typed->sweep.batch, "batch size")->capture_default_str();
  options.add_option("--passes", typed->passes, "forward, backward")->capture_default_str();
  options.add_option("--dtypes", typed->dtypes, "f64, f32, bf16, f16")->capture_default_str();
  options.add_option("--devices", typed->devices, "cpu, cuda")->capture_default_str();
  options.add_option("--threads", typed->threads, "numbers of threads; default: 1");
  options.add_option("--rounds", typed->sweep.rounds, "each case once in each round")
      ->capture_default_str();
  options.add_option("--seed", typed->sweep.seed, "of inputs and orders")->capture_default_str();
  options.add_option("--time-limit", typed->sweep.time_limit, "seconds that one sample may take")
      ->capture_default_str();
  options.add_flag("--warm-only", typed->warm_only, "do not time runs with flushed caches");
  options.add_flag("--resume", typed->resume, "go on with an unfinished run");
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run(*typed); };
}

Action declare_bench_worker(CLI::App&) {
  return [] { return run_worker(make_bench_case); };
}

}  // namespace conelab
