// `conelab bench-worker`: measures one case of a benchmark, driven by `bench`.
#include "app/command.h"
#include "app/ranks.h"
#include "core/bench/operator_case.h"
#include "core/bench/worker.h"
#include "gpu/cuda_backend.h"

namespace conelab {
namespace {

/// The ranks that share the worker's cases; null: none. A factory of cases is a plain function.
JobRanks* shared_by = nullptr;

std::unique_ptr<CaseExecutor> make_case(const Case& c, std::int64_t batch, std::uint64_t seed) {
  if (shared_by != nullptr) return make_shared_case(*shared_by, c, batch, seed);
  if (c["device"] == "cuda") return make_device_case(cuda_backend(), c, batch, seed);
  return operator_workload().make(c, batch, seed);
}

}  // namespace

Action declare_bench_worker(CLI::App&) {
  return [] {
    if (launched().size < 2) return run_worker(make_case);
    const std::unique_ptr<JobRanks> ranks = join_ranks();
    shared_by = ranks.get();
    const int status = run_worker(make_case, shared_by);
    ranks->leave();
    return status;
  };
}

}  // namespace conelab
