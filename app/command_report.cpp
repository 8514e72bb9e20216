// `conelab report`: a page, figures and LaTeX from studies that `conelab run` has computed, and
// whether an earlier report still agrees with them.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/command_job.h"
#include "app/output.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/report/check_report.h"
#include "core/report/report.h"

namespace conelab {
namespace {

struct TypedReport {
  std::vector<std::string> folders;
  std::string output;
  std::optional<std::uint64_t> seed;
  bool check = false, json = false;
};

int check(const TypedReport& typed, const std::string& folder) {
  const std::uint64_t seed = typed.seed ? *typed.seed : std::random_device{}() % 1000000;
  const JobContext context = command_context();
  const CheckedReport found = check_report(folder, seed, {"/proc/self/exe", "job-worker"}, context);
  if (typed.json) {
    print_json({{"report", folder},
                {"problems", found.problems},
                {"digests", found.digests},
                {"numbers", found.numbers},
                {"figures", found.figures},
                {"files", found.files},
                {"run_again", found.run_again},
                {"failed", found.failed},
                {"missing", found.missing},
                {"seed", seed}});
    return found.problems.empty() ? 0 : 1;
  }
  for (const std::string& problem : found.problems) say("{}", problem);
  say("{}: compared {} digests, {} numbers, {} figures drawn again, {} files; run again: {} "
      "(--seed "
      "{})",
      folder, found.digests, found.numbers, found.figures, found.files,
      found.run_again.empty() ? "none" : join(found.run_again), seed);
  say("{}{}", found.problems.empty() ? "everything agrees" : "not everything agrees",
      found.failed + found.missing == 0 ? ""
                                        : fmt::format("; of the studies' jobs, {} failed and {} "
                                                      "have not run",
                                                      found.failed, found.missing));
  return found.problems.empty() ? 0 : 1;
}

int run(const TypedReport& typed) {
  if (typed.output.empty() && !typed.check) misuse("give the folder of the report: -o OUT");
  if (typed.output.empty()) {
    if (typed.folders.size() != 1) misuse("--check takes the folder of one report");
    return check(typed, typed.folders.front());
  }
  const Report report = make_report(typed.folders, typed.output, command_context());
  write_report(report, typed.output);
  if (typed.check) return check(typed, typed.output);
  if (typed.json) {
    print_json({{"output", typed.output},
                {"sections", report.sections.size()},
                {"numbers", report.numbers.size()}});
  } else {
    say("{}/index.html: {} sections, {} numbers", typed.output, report.sections.size(),
        report.numbers.size());
  }
  return 0;
}

}  // namespace

Action declare_report(CLI::App& options) {
  const auto typed = std::make_shared<TypedReport>();
  options
      .add_option("DIR", typed->folders,
                  "folders that `run` wrote, side by side; with --check alone, that of a report")
      ->required();
  options.add_option("-o,--output", typed->output,
                     "the folder of the report; needed unless --check is given");
  options.add_flag("--check", typed->check,
                   "compare a report with its studies; draw figures and run a tenth of the jobs "
                   "again");
  options.add_option("--seed", typed->seed, "which jobs --check runs again; default: any");
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run(*typed); };
}

}  // namespace conelab
