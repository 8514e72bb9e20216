#include "app/bench_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/bench/attention_case.h"
#include "core/bench/device_case.h"
#include "gpu/cuda_backend.h"

namespace conelab {
namespace {

std::unique_ptr<CaseExecutor> make_case(const Case& c, std::int64_t batch, std::uint64_t seed) {
  if (c.device == "cuda") return make_device_case(cuda_backend(), c, batch, seed);
  return attention_workload().make(c, batch, seed);
}

/// What the sweep's devices are, the CPU aside.
std::vector<std::string> device_lines(const Sweep& sweep) {
  if (std::find(sweep.devices.begin(), sweep.devices.end(), "cuda") == sweep.devices.end())
    return {};
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
  Workload workload = attention_workload();
  workload.make = make_case;
  return workload;
}

}  // namespace conelab
