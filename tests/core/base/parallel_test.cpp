#include "core/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "tests/helpers/errors.h"
#include "tests/helpers/memory.h"

namespace conelab {
namespace {

constexpr std::int64_t many = 2000;

Execution with_threads(int threads) {
  Execution execution;
  execution.threads = threads;
  return execution;
}

TEST(RunTasks, RunsEveryTaskOnceAndAllAreDoneAfterwards) {
  for (const int threads : {0, 1, 2}) {
    std::vector<int> runs(many, 0);
    run_tasks(many, with_threads(threads), [&](std::int64_t task, const auto&) {
      ++runs[static_cast<std::size_t>(task)];  // Each element belongs to one task.
    });
    EXPECT_EQ(runs, std::vector<int>(many, 1));
  }
  run_tasks(0, {}, [](std::int64_t, const auto&) { FAIL() << "there is no task"; });
}

TEST(RunTasks, LetsATaskWaitForAnEarlierOne) {
  std::atomic<std::int64_t> done{0};
  run_tasks(many, {}, [&](std::int64_t task, const auto& stopped) {
    while (done.load() < task && !stopped()) std::this_thread::yield();
    ++done;
  });
  EXPECT_EQ(done, many);
}

TEST(RunTasks, ThrowsWhatATaskThrewAndStartsNoOtherAfterwards) {
  std::atomic<int> started{0};
  const auto run = [&] {
    run_tasks(many, {}, [&](std::int64_t task, const auto& stopped) {
      ++started;
      if (task == 3) fail("task {}", task);
      while (task > 3 && !stopped()) std::this_thread::yield();
    });
  };
  EXPECT_THROW(run(), Error);
  EXPECT_LE(started, 4 + thread_count({}));
}

TEST(RunTasks, IsInterruptedByTheUser) {
  std::atomic<bool> cancelled{false};
  std::atomic<int> runs{0};
  Execution execution;
  execution.cancelled = [&] { return cancelled.load(); };
  const Error error = fixtures::error_of([&] {
    run_tasks(many, execution, [&](std::int64_t, const auto&) {
      if (++runs >= 10) cancelled = true;
    });
  });
  EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  EXPECT_LT(runs, 10 + thread_count({}));
}

TEST(RunTasks, ReportsProgressUpToTheEnd) {
  std::atomic<double> most{0};
  Execution execution;
  execution.progress = [&](double fraction) {
    double before = most.load();
    while (fraction > before && !most.compare_exchange_weak(before, fraction)) {
    }
  };
  run_tasks(many, execution, [](std::int64_t, const auto&) {});
  EXPECT_EQ(most, 1);
}

TEST(RunTasks, MayBeCalledByTasksAndByThreadsAtOnce) {
  std::atomic<std::int64_t> runs{0};
  const auto run = [&] {
    run_tasks(20, {}, [&](std::int64_t, const auto&) {
      run_tasks(20, {}, [&](std::int64_t, const auto&) { ++runs; });
    });
  };
  std::thread other(run);
  run();
  other.join();
  EXPECT_EQ(runs, 2 * 20 * 20);
}

TEST(RunTasks, KeepsNoMemoryOfItsCalls) {
  fixtures::expect_calls_keep_no_memory(
      20'000, [](int) { run_tasks(2, with_threads(2), [](std::int64_t, const auto&) {}); });
}

}  // namespace
}  // namespace conelab
