#include "core/base/parallel.h"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "core/base/error.h"

namespace conelab {
namespace {

/// The state that the threads of one run share.
class Tasks {
 public:
  Tasks(std::int64_t count, const Execution& execution) : count_(count), execution_(execution) {}

  void work_until_done(
      const std::function<void(std::int64_t, const std::function<bool()>&)>& work) {
    const std::function<bool()> stopped = [this] {
      if (execution_.cancelled && execution_.cancelled()) cancelled_ = stop_ = true;
      return stop_.load(std::memory_order_relaxed);
    };
    while (!stopped()) {
      const std::int64_t task = next_.fetch_add(1, std::memory_order_relaxed);
      if (task >= count_) return;
      try {
        work(task, stopped);
      } catch (...) {
        remember(std::current_exception());
      }
      const std::int64_t done = done_.fetch_add(1) + 1;
      if (execution_.progress) {
        execution_.progress(static_cast<double>(done) / static_cast<double>(count_));
      }
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
    if (cancelled_) throw Error(ErrorKind::interrupted, "interrupted");
  }

 private:
  std::int64_t count_;
  const Execution& execution_;
  std::atomic<std::int64_t> next_{0}, done_{0};
  std::atomic<bool> stop_{false}, cancelled_{false};
  std::mutex mutex_;
  std::exception_ptr error_;

  void remember(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    stop_ = true;
  }
};

}  // namespace

int thread_count(const Execution& execution) {
  const int all = tbb::info::default_concurrency();
  return execution.threads > 0 ? std::min(execution.threads, all) : all;
}

void run_tasks(std::int64_t count, const Execution& execution,
               const std::function<void(std::int64_t, const std::function<bool()>&)>& work) {
  Tasks tasks(count, execution);
  const std::int64_t wanted = thread_count(execution);
  const int threads = static_cast<int>(std::max<std::int64_t>(1, std::min(wanted, count)));
  if (threads == 1) {
    tasks.work_until_done(work);
  } else {
    tbb::task_arena arena(threads);
    arena.execute([&] {
      tbb::parallel_for(
          0, threads, [&](int) { tasks.work_until_done(work); }, tbb::simple_partitioner());
    });
  }
  tasks.rethrow();
}

void run_blocks(std::int64_t count, std::int64_t block, const Execution& execution,
                const std::function<void(std::int64_t, std::int64_t)>& work) {
  run_tasks((count + block - 1) / block, quiet(execution), [&](std::int64_t task, const auto&) {
    work(task * block, std::min(count, (task + 1) * block));
  });
}

Execution stage(const Execution& run, double begin, double end) {
  Execution step = run;
  if (run.progress) {
    step.progress = [tell = run.progress, begin, end](double share) {
      tell(begin + (end - begin) * share);
    };
  }
  return step;
}

Execution quiet(const Execution& run) {
  Execution step = run;
  step.progress = {};
  return step;
}

}  // namespace conelab
