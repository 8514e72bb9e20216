// A benchmark of fake cases as a process of its own: the worker of the runner's tests, and a run
// that they can kill.
//
//   conelab_fake_bench worker
//   conelab_fake_bench run OUT.h5 [--resume]
#include <csignal>
#include <cstring>
#include <iostream>

#include "core/bench/runner.h"
#include "core/bench/worker.h"
#include "tests/helpers/fake_workload.h"

namespace {

volatile std::sig_atomic_t stop_asked = 0;
void ask_to_stop(int) { stop_asked = 1; }

int run(const std::string& self, const std::string& output, bool resume) {
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  conelab::Sweep sweep;
  sweep["operator"] = {"slow", "killed_later"};
  sweep["pass"] = {"forward"};
  sweep["seq_len"] = {"256", "512", "1024", "2048"};
  sweep.rounds = 8;
  conelab::BenchOptions options;
  options.output = output;
  options.resume = resume;
  options.worker = {self, "worker"};
  options.cancelled = [] { return stop_asked != 0; };
  try {
    conelab::run_bench(sweep, conelab::fixtures::fake_workload(), options);
  } catch (const conelab::Error& e) {
    std::cerr << e.what() << "\n";
    return e.exit_status();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 2 && std::strcmp(argv[1], "worker") == 0) {
    return conelab::run_worker(conelab::fixtures::fake_workload().make);
  }
  if (argc < 3) return 2;
  return run(argv[0], argv[2], argc > 3 && std::strcmp(argv[3], "--resume") == 0);
}
