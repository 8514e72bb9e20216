// A workload without an engine: cases that take no time, and cases that misbehave in every way that
// a worker can. Shared by the tests of the runner and the process that they start.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <new>
#include <thread>

#include "core/base/error.h"
#include "core/bench/executor.h"

namespace conelab::fixtures {

/// Times are 1 ns n^2, different from call to call by up to 1 %, so that a sample is known again.
class FakeCase : public CaseExecutor {
 public:
  explicit FakeCase(const Case& c) : case_(c) {}

  CaseFacts facts() override {
    const auto n = static_cast<double>(case_.number("seq_len"));
    return {4 * n * n * static_cast<double>(case_.number("dim")), 16 * n, 1e-7};
  }

  Sample sample(bool cold) override {
    const std::string& name = case_["operator"];
    ++samples_;
    if (name == "killed" || (name == "killed_later" && samples_ == 3)) kill(getpid(), SIGKILL);
    if (name == "exits") _exit(3);
    if (name == "hangs") std::this_thread::sleep_for(std::chrono::hours(1));
    if (name == "throws") fail("no such luck\nin two lines");
    if (name == "hungry") throw std::bad_alloc();
    if (name == "chatty") std::puts("hello");
    if (name == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
    const double t = 1e-9 * static_cast<double>(case_.number("seq_len") * case_.number("seq_len")) *
                     (1 + 1e-8 * static_cast<double>(ticks % 1000003));
    Sample s;
    s.warm = t;
    if (cold) s.cold = 2 * t;
    s.runs = 7;
    s.peak_flops = 1e11;
    s.peak_bytes = 5e6;
    s.extra_bytes = 1e3;
    return s;
  }

 private:
  Case case_;
  int samples_ = 0;
};

inline Workload fake_workload() {
  Workload w;
  w.operations = {"steady", "slow",   "killed",  "killed_later", "exits", "hangs",  "throws",
                  "hungry", "chatty", "refuses", "broken",       "huge",  "endless"};
  w.make = [](const Case& c, std::int64_t, std::uint64_t) -> std::unique_ptr<CaseExecutor> {
    if (c["operator"] == "refuses") fail("skipped: not on a {}", "Sunday");
    if (c["operator"] == "broken") fail("cannot be prepared");
    return std::make_unique<FakeCase>(c);
  };
  w.predict = [](const Case& c, std::int64_t) -> Prediction {
    return {c["operator"] == "huge" ? 1e18 : 1e6, 1e5, c["operator"] == "endless" ? 1e30 : 1e3};
  };
  return w;
}

}  // namespace conelab::fixtures
