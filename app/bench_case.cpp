#include "app/bench_case.h"

#include "core/bench/attention_case.h"
#include "core/bench/device_case.h"
#include "gpu/cuda_backend.h"

namespace conelab {
namespace {

std::unique_ptr<CaseExecutor> make_case(const Case& c, std::int64_t batch, std::uint64_t seed) {
  if (c.device == "cuda") return make_device_case(cuda_backend(), c, batch, seed);
  return attention_workload().make(c, batch, seed);
}

}  // namespace

Workload bench_workload() {
  Workload workload = attention_workload();
  workload.make = make_case;
  return workload;
}

}  // namespace conelab
