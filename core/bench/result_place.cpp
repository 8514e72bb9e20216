#include "core/bench/result_place.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/bench/parts.h"
#include "core/bench/stored_run.h"
#include "core/files/atomic_file.h"

namespace conelab {
namespace {

void check_same_sweep(const std::string& path, const Sweep& sweep, const SandboxLimits& limits) {
  const std::string difference = identity_difference(items_of_result(path, limits), sweep.items());
  if (!difference.empty()) misuse("{}: is finished, and another sweep: {}", path, difference);
}

/// Throws misuse where what lies there must not be lost.
BenchEnding ending_at(const Sweep& sweep, const BenchOptions& options) {
  if (!result_lies_at(options.output)) return BenchEnding::written;
  if (!options.resume || Parts::exist(options.output)) return BenchEnding::replaced;
  check_same_sweep(options.output, sweep, {.cancelled = options.cancelled});
  return BenchEnding::was_finished;
}

}  // namespace

ResultPlace::ResultPlace(const Sweep& sweep, const BenchOptions& options)
    : output_(options.output), ending_(ending_at(sweep, options)) {
  if (!finished()) probe_writable(output_);
}

bool ResultPlace::accepts(const BenchResult& result) {
  return std::any_of(result.cases.begin(), result.cases.end(),
                     [](const CaseResult& c) { return c.status == CaseStatus::ok; });
}

BenchEnding ResultPlace::write(const BenchResult& result) const {
  write_labelled(output_, bench_file(result));
  return ending_;
}

void ResultPlace::refuse(const BenchResult& result) const {
  const CaseResult& first = result.cases.front();
  fail("{}: {}: no case was measured ({}: {}: {})", output_,
       ending_ == BenchEnding::replaced ? "is left as it was" : "is not written",
       describe(first.labels), status_name(first.status), first.reason);
}

}  // namespace conelab
