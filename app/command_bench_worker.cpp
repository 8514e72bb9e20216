// `conelab bench-worker`: measures one case of a benchmark, driven by `bench`.
#include "app/command.h"
#include "core/bench/operator_case.h"
#include "core/bench/worker.h"
#include "gpu/cuda_backend.h"

namespace conelab {
namespace {

std::unique_ptr<CaseExecutor> make_case(const Case& c, std::int64_t batch, std::uint64_t seed) {
  if (c["device"] == "cuda") return make_device_case(cuda_backend(), c, batch, seed);
  return operator_workload().make(c, batch, seed);
}

}  // namespace

Action declare_bench_worker(CLI::App&) {
  return [] { return run_worker(make_case); };
}

}  // namespace conelab
