// What the benchmark's tests share: a folder of their own, a fake sweep, results to look into.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/bench/measured.h"
#include "core/bench/runner.h"
#include "tests/helpers/fake_workload.h"

namespace conelab::fixtures {

inline std::string fake_bench() { return CONELAB_BINARY_DIR "/bin/conelab_fake_bench"; }

/// A folder that vanishes after the test.
class BenchTest : public ::testing::Test {
 protected:
  std::filesystem::path folder;

  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::temp_directory_path() /
             fmt::format("conelab-{}-{}-{}", info->test_suite_name(), info->name(), getpid());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] std::string output() const { return (folder / "out.h5").string(); }
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

/// The message of the Error that `work` throws, with its exit status in front: "2: unknown ...".
template <class F>
std::string failure_of(F work) {
  try {
    work();
  } catch (const Error& e) {
    return fmt::format("{}: {}", e.exit_status(), e.what());
  }
  return "no error";
}

}  // namespace conelab::fixtures
