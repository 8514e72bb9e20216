#include "app/bench_case.h"

#include "core/bench/attention_case.h"
#include "core/bench/device_case.h"
#include "gpu/cuda_backend.h"

namespace conelab {

std::unique_ptr<CaseExecutor> make_bench_case(const Case& c, std::int64_t batch,
                                              std::uint64_t seed) {
  if (c.device == "cuda") return make_device_case(cuda_backend(), c, batch, seed);
  return make_attention_case(c, batch, seed);
}

}  // namespace conelab
