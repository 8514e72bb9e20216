// What the benchmark's tests share: a folder of their own, a fake sweep, results to look into.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/bench/measured.h"
#include "core/bench/runner.h"
#include "tests/core/files/fixture.h"
#include "tests/helpers/fake_workload.h"

namespace conelab::fixtures {

inline std::string fake_bench() { return CONELAB_BINARY_DIR "/bin/conelab_fake_bench"; }

/// Runs in a folder that vanishes after the test.
class BenchTest : public FilesTest {
 protected:
  [[nodiscard]] std::string output() const { return path("out.h5"); }
  [[nodiscard]] bool parts_exist() const { return std::filesystem::exists(output() + ".parts"); }

  [[nodiscard]] BenchOptions options() const {
    BenchOptions o;
    o.output = output();
    o.worker = {fake_bench(), "worker"};
    return o;
  }
  void run(const Sweep& sweep, const BenchOptions& o) const {
    run_bench(sweep, fake_workload(), o);
  }
  void run(const Sweep& sweep) const { run(sweep, options()); }
  /// Runs until so many samples are done, and returns the error with which it is interrupted.
  std::string interrupt(const Sweep& sweep, int samples) const {
    int done = 0;
    BenchOptions o = options();
    o.progress = [&](const BenchProgress& p) { done = p.done; };
    o.cancelled = [&] { return done >= samples; };
    const std::string error = failure_of([&] { run(sweep, o); });
    EXPECT_TRUE(error.starts_with("130: ")) << error;
    return error;
  }
  [[nodiscard]] BenchOptions resuming() const {
    BenchOptions o = options();
    o.resume = true;
    return o;
  }
  [[nodiscard]] std::vector<MeasuredCase> measured() const {
    return measured_cases(read_labelled_file(output()), output());
  }
};

inline Sweep fake_sweep(Labels operators, const std::vector<std::int64_t>& lengths,
                        int rounds = 3) {
  Sweep sweep;
  sweep["operator"] = std::move(operators);
  sweep["pass"] = {"forward"};
  sweep["seq_len"].clear();
  for (const std::int64_t n : lengths) sweep["seq_len"].push_back(std::to_string(n));
  sweep.rounds = rounds;
  return sweep;
}

}  // namespace conelab::fixtures
