// What a worker runs: one case, prepared once and sampled many times.
#pragma once

#include <memory>
#include <string>

#include "core/bench/sweep.h"

namespace conelab {

/// Facts about a prepared case.
struct CaseFacts {
  double flops = 0;  ///< Of one run.
  double bytes = 0;  ///< Inputs read and outputs written by one run.
  double error = 0;  ///< Largest absolute difference to float64; NaN where not determined.
};

/// One sample of a case: seconds per run.
struct Sample {
  double warm = 0;
  double cold = 0;         ///< With flushed caches; NaN where not measured.
  double peak_flops = 0;   ///< Multiply-add peak of these threads, the lower of before and after.
  double peak_bytes = 0;   ///< Peak resident memory of the worker.
  double extra_bytes = 0;  ///< Peak growth during a run, beyond inputs and outputs.
};

class CaseExecutor {
 public:
  virtual ~CaseExecutor() = default;
  [[nodiscard]] virtual CaseFacts facts() = 0;
  [[nodiscard]] virtual Sample sample(bool cold) = 0;
};

/// Prepares a case: random N(0,1) tensors with planted twins and near-twins from `seed`.
/// Throws a failure where the case cannot run; "skipped: ..." says that it is not meant to.
using ExecutorFactory = std::unique_ptr<CaseExecutor> (*)(const Case& c, std::int64_t batch,
                                                          std::uint64_t seed);

}  // namespace conelab
