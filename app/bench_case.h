// The cases of `conelab bench`, on whichever device they name.
#pragma once

#include "core/bench/executor.h"

namespace conelab {

[[nodiscard]] std::unique_ptr<CaseExecutor> make_bench_case(const Case& c, std::int64_t batch,
                                                            std::uint64_t seed);

}  // namespace conelab
