#include "app/bench_setup.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/bench/operator_case.h"
#include "gpu/cuda_backend.h"

namespace conelab {
namespace {

std::unique_ptr<CaseExecutor> make_case(const Case& c, std::int64_t batch, std::uint64_t seed) {
  if (c["device"] == "cuda") return make_device_case(cuda_backend(), c, batch, seed);
  return operator_workload().make(c, batch, seed);
}

/// Returns a description of each device of the sweep except the CPU.
std::vector<std::string> device_lines(const Sweep& sweep) {
  const Labels& devices = sweep["device"];
  if (std::find(devices.begin(), devices.end(), "cuda") == devices.end()) return {};
  const DeviceState state = cuda_backend().state();
  const std::string driver = state.driver.empty() ? "" : fmt::format(", driver {}", state.driver);
  return {fmt::format("{}: {}{}", state.name, state.about, driver)};
}

}  // namespace

BenchOptions with_program(const Sweep& sweep, BenchOptions options) {
  options.worker = {"/proc/self/exe", "bench-worker"};
  options.devices = device_lines(sweep);
  return options;
}

Workload bench_workload() {
  Workload workload = operator_workload();
  workload.make = make_case;
  return workload;
}

std::vector<std::string> bench_command(const desktop::BenchChoice& typed,
                                       const std::string& output) {
  std::vector<std::string> words = {"conelab", "bench", "-o", output};
  const auto add = [&](const std::string& option, const std::string& value) {
    words.insert(words.end(), {"--" + option, value});
  };
  for (const Axis& axis : axes()) {
    add(axis.option, fmt::format("{}", fmt::join(typed.labels[index_of(axis)], ",")));
  }
  add("batch", typed.batch);
  add("rounds", typed.rounds);
  add("controls", typed.controls);
  add("seed", typed.seed);
  add("time-limit", typed.time_limit);
  if (!typed.cold) words.emplace_back("--warm-only");
  return words;
}

}  // namespace conelab
