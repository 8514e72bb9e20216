#include "widgets/jobs/job_pool.h"

#include <gtest/gtest.h>

#include <chrono>

#include "core/base/error.h"

namespace conelab::desktop {
namespace {

using namespace std::chrono_literals;

/// The window's queue, run by hand.
class Queue {
 public:
  Deliver deliver() {
    return [this](std::function<void()> call) {
      const std::lock_guard lock(mutex_);
      calls_.push_back(std::move(call));
    };
  }
  void run_for(std::chrono::milliseconds time, const std::function<bool()>& until) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end && !until()) {
      std::vector<std::function<void()>> calls;
      {
        const std::lock_guard lock(mutex_);
        calls.swap(calls_);
      }
      for (const auto& call : calls) call();
      std::this_thread::sleep_for(1ms);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> calls_;
};

TEST(JobPool, BringsTheResultToTheWindowsThread) {
  Queue queue;
  JobPool pool(queue.deliver());
  std::thread::id where;
  int result = 0;
  const JobHandle job = pool.start<int>(
      "add", [](const PoolContext&) { return 42; },
      [&](int value) {
        result = value;
        where = std::this_thread::get_id();
      },
      nullptr);
  queue.run_for(2000ms, [&] { return result != 0; });
  EXPECT_EQ(result, 42);
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(JobPool, TellsAnErrorInOneLine) {
  Queue queue;
  JobPool pool(queue.deliver());
  std::string message;
  const JobHandle job = pool.start<int>(
      "fail", [](const PoolContext&) -> int { fail("x.h5: damaged"); }, [](int) { FAIL(); },
      [&](const std::string& text) { message = text; });
  queue.run_for(2000ms, [&] { return !message.empty(); });
  EXPECT_EQ(message, "x.h5: damaged");
}

TEST(JobPool, ADroppedHandleCancelsAndNothingIsHeard) {
  Queue queue;
  JobPool pool(queue.deliver());
  std::atomic<bool> started{false}, ended{false};
  bool heard = false;
  {
    const JobHandle job = pool.start<int>(
        "endless",
        [&](const PoolContext& context) {
          started = true;
          while (!context.cancelled()) std::this_thread::sleep_for(1ms);
          ended = true;
          return 1;
        },
        [&](int) { heard = true; }, [&](const std::string&) { heard = true; });
    queue.run_for(2000ms, [&] { return started.load(); });
  }
  queue.run_for(2000ms, [&] { return ended.load(); });
  queue.run_for(30ms, [] { return false; });
  EXPECT_TRUE(ended);
  EXPECT_FALSE(heard);
}

TEST(JobPool, WhatItCancelsIsToldOnceUnlessTheHandleIsGone) {
  Queue queue;
  JobPool pool(queue.deliver(), 1);
  std::vector<std::string> heard;
  const auto endless = [&](const char* name) {
    return pool.start<int>(
        name,
        [](const PoolContext& context) {
          while (!context.cancelled()) std::this_thread::sleep_for(1ms);
          return 1;
        },
        [&heard](int) { heard.emplace_back("done"); },
        [&heard, name](const std::string& message) {
          heard.push_back(std::string(name) + " " + message);
        });
  };
  const JobHandle running = endless("running"), waiting = endless("waiting");
  {
    const JobHandle dropped = endless("dropped");
    pool.cancel_all();
    pool.cancel_all();
    EXPECT_TRUE(dropped.active());
  }
  EXPECT_TRUE(running.active()) << "it has not been told yet";
  queue.run_for(2000ms, [&] { return pool.running().empty() && heard.size() >= 2; });
  queue.run_for(30ms, [] { return false; });
  EXPECT_EQ(heard, (std::vector<std::string>{"running cancelled", "waiting cancelled"}));
  EXPECT_FALSE(running.active());
  EXPECT_FALSE(waiting.active());
}

TEST(JobPool, ClosesInTheMiddleOfManyJobs) {
  Queue queue;
  std::vector<JobHandle> jobs;
  std::atomic<int> running{0};
  {
    JobPool pool(queue.deliver());
    for (int i = 0; i < 50; ++i) {
      jobs.push_back(pool.start<int>(
          "work",
          [&](const PoolContext& context) {
            ++running;
            while (!context.cancelled()) std::this_thread::sleep_for(1ms);
            return 0;
          },
          [](int) { FAIL(); }, nullptr));
    }
    queue.run_for(1000ms, [&] { return running > 0; });
  }
  queue.run_for(30ms, [] { return false; });
  EXPECT_LE(running, 2);
}

TEST(JobPool, UrgentWorkGoesFirst) {
  Queue queue;
  JobPool pool(queue.deliver(), 1);
  std::vector<int> order;
  std::atomic<bool> go{false};
  std::vector<JobHandle> jobs;
  const auto add = [&](int number, bool urgent) {
    jobs.push_back(pool.start<int>(
        "n",
        [number, &go](const PoolContext&) {
          while (!go) std::this_thread::sleep_for(1ms);
          return number;
        },
        [&](int n) { order.push_back(n); }, nullptr, urgent));
  };
  add(0, false);
  queue.run_for(50ms, [] { return false; });
  add(1, false), add(2, false), add(3, true);
  go = true;
  queue.run_for(2000ms, [&] { return order.size() == 4; });
  EXPECT_EQ(order, (std::vector<int>{0, 3, 1, 2}));
}

}  // namespace
}  // namespace conelab::desktop
