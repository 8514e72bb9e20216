#include "core/bench/result_place.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/bench/parts.h"
#include "core/files/atomic_file.h"
#include "core/files/replaceable.h"

namespace conelab {
namespace {

constexpr const char* kind = "bench";

/// What a file does not say, because it is older than the option, was the default.
RunIdentity sweep_of_file(const std::string& path, const SandboxLimits& limits) {
  RunIdentity items = {{"controls", std::to_string(Sweep().controls)}};
  const LabelledArray runtime = read_labelled_sandboxed(path, "bench/runtime", limits);
  for (const auto& [name, value] : runtime.attributes) {
    const auto* lines = std::get_if<std::vector<std::string>>(&value);
    if (name != "sweep" || lines == nullptr) continue;
    for (const std::string& line : *lines) {
      const std::size_t equals = std::min(line.find('='), line.size() - 1);
      items.emplace(items.begin(), line.substr(0, equals), line.substr(equals + 1));
    }
  }
  return items;
}

void check_same_sweep(const std::string& path, const Sweep& sweep, const SandboxLimits& limits) {
  const std::string difference = identity_difference(sweep_of_file(path, limits), sweep.items());
  if (!difference.empty()) misuse("{}: is finished, and another sweep: {}", path, difference);
}

/// Throws misuse where what lies there must not be lost.
BenchEnding ending_at(const Sweep& sweep, const BenchOptions& options) {
  check_replaceable_result(options.output, kind, "bench");
  std::error_code error;
  const auto size = std::filesystem::file_size(options.output, error);
  if (error || size == 0) return BenchEnding::written;
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
