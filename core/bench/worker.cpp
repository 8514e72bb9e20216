#include "core/bench/worker.h"

#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <new>
#include <sstream>

#include "core/base/error.h"
#include "core/bench/case_axes.h"
#include "core/tiles/backend.h"

namespace conelab {
namespace {

Case read_case(std::istringstream& words) {
  Case c;
  for (const CaseAxis& axis : case_axes) {
    if (axis.text != nullptr)
      words >> c.*axis.text;
    else
      words >> c.*axis.number;
  }
  return c;
}

/// One line of the protocol: what went wrong, without line breaks.
std::string failure(std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  const std::string skipped = "skipped: ";
  return what.starts_with(skipped) ? "skipped " + what.substr(skipped.size()) : "failed " + what;
}

std::string serve(ExecutorFactory factory, std::unique_ptr<CaseExecutor>& executor,
                  const std::string& line) {
  std::istringstream words(line);
  std::string request;
  words >> request;
  if (request == "case") {
    const Case c = read_case(words);
    std::int64_t batch = 1;
    std::uint64_t seed = 1;
    if (!(words >> batch >> seed)) return "failed the request is malformed";
    executor.reset();
    executor = factory(c, batch, seed);
    return "ready";
  }
  if (!executor) return "failed no case was prepared";
  std::string numbers;
  const auto append = [&](const char*, double number) { numbers += fmt::format(" {}", number); };
  if (request == "facts") {
    const CaseFacts facts = executor->facts();
    each_fact(facts, append);
    return "facts" + numbers;
  }
  int cold = 0;
  if (request != "sample" || !(words >> cold)) return "failed the request is malformed";
  const Sample sample = executor->sample(cold == 1);
  each_measurement(sample, append);
  return "sample" + numbers;
}

/// False where nobody reads any more.
bool answer(const std::string& line) {
  return std::fputs((line + "\n").c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

void end_with_the_parent() {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  std::ofstream("/proc/self/oom_score_adj") << "1000";
}

}  // namespace

int run_worker(ExecutorFactory factory) {
  end_with_the_parent();
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<CaseExecutor> executor;
  bool heard = true;
  for (std::string line; heard && std::getline(std::cin, line);) {
    try {
      heard = answer(serve(factory, executor, line));
    } catch (const std::bad_alloc&) {
      heard = answer("memory out of memory");
    } catch (const DeviceMemoryError& e) {
      heard = answer(fmt::format("memory {}", e.what()));
    } catch (const std::exception& e) {
      heard = answer(failure(e.what()));
    }
  }
  return heard ? 0 : 1;
}

}  // namespace conelab
