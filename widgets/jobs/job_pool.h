// Jobs outside the window's thread: progress, cancellation, and a typed result or an error.
//
// Work runs on a thread of the pool and receives a `PoolContext`. Its result, or the error that it
// threw, is reported on the window's thread through `deliver`. The caller holds a `JobHandle`.
// Destroying the handle cancels the job, and nothing of it is reported afterwards; a view that is
// closed meanwhile therefore needs no further code. If the pool cancels a job, its caller is
// notified. There is no Qt in this file: tests deliver the calls themselves.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/parallel.h"

namespace conelab::desktop {

/// Adds a call to the queue of the window's thread.
using Deliver = std::function<void(std::function<void()>)>;

/// The message that `failed` receives for a job that the pool cancelled.
inline constexpr const char* job_cancelled = "cancelled";

/// The state that a job shares with its handle and with the list of running jobs.
struct JobState {
  std::string title;
  std::atomic<bool> cancelled{false};  ///< The work must stop.
  std::atomic<bool> settled{false};    ///< The end was reported, or no one waits for it any more.
  std::atomic<double> fraction{0};
  std::atomic<bool> running{false};
};

/// The interface of a job for its work.
class PoolContext {
 public:
  explicit PoolContext(std::shared_ptr<JobState> state) : state_(std::move(state)) {}
  [[nodiscard]] bool cancelled() const { return state_->cancelled; }
  void progress(double fraction) const { state_->fraction = fraction; }
  /// Returns a function for Execution::cancelled and similar members.
  [[nodiscard]] std::function<bool()> cancel_check() const {
    return [state = state_] { return state->cancelled.load(); };
  }
  /// Returns how a computation runs that ends when the job is cancelled; with `reports`, the
  /// fraction of the job that is done is that of the computation.
  [[nodiscard]] Execution execution(bool reports = false) const {
    Execution execution;
    execution.cancelled = cancel_check();
    if (reports) {
      execution.progress = [state = state_](double fraction) { state->fraction = fraction; };
    }
    return execution;
  }
  /// Throws interrupted if the job was cancelled.
  void stop_if_cancelled() const;

 private:
  std::shared_ptr<JobState> state_;
};

class JobHandle {
 public:
  JobHandle() = default;
  explicit JobHandle(std::shared_ptr<JobState> state) : state_(std::move(state)) {}
  ~JobHandle() { cancel(); }
  JobHandle(JobHandle&& other) noexcept = default;
  JobHandle& operator=(JobHandle&& other) noexcept {
    if (this != &other) cancel(), state_ = std::move(other.state_);
    return *this;
  }
  void cancel() {
    if (state_) state_->cancelled = state_->settled = true;
    state_.reset();
  }
  /// Returns whether the end of the job has not been reported yet.
  [[nodiscard]] bool active() const { return state_ != nullptr && !state_->settled; }

 private:
  std::shared_ptr<JobState> state_;
};

class JobPool {
 public:
  explicit JobPool(Deliver deliver, int threads = 2);
  /// Cancels all jobs and waits for the threads.
  ~JobPool();
  JobPool(const JobPool&) = delete;
  JobPool& operator=(const JobPool&) = delete;

  using Failed = std::function<void(const std::string& message)>;

  /// Runs `work` on a thread. Afterwards it calls, on the window's thread, either `done` with the
  /// result or `failed` with one line, exactly once; neither is called if the handle was destroyed
  /// or cancelled. `urgent` work is started before other work; work that is `alone` gets a thread
  /// of its own, so that a run of minutes keeps nothing waiting.
  template <class Result>
  [[nodiscard]] JobHandle start(std::string title, std::function<Result(const PoolContext&)> work,
                                std::function<void(Result)> done, Failed failed,
                                bool urgent = false, bool alone = false) {
    return enqueue(
        std::move(title),
        [work = std::move(work), done = std::move(done)](const PoolContext& context) {
          auto result = std::make_shared<Result>(work(context));
          return std::function<void()>([result, done] { done(std::move(*result)); });
        },
        std::move(failed), urgent, alone);
  }

  /// Returns the jobs that wait or run, oldest first.
  [[nodiscard]] std::vector<std::shared_ptr<const JobState>> running() const;
  /// Cancels all jobs, or only one of them, and calls their `failed` with `job_cancelled` at once
  /// on the window's thread.
  void cancel_all(const JobState* only = nullptr);
  /// Sets a function that is called on the window's thread when the list of jobs changes.
  void on_change(std::function<void()> listener) { listener_ = std::move(listener); }

 private:
  using Work = std::function<std::function<void()>(const PoolContext&)>;
  struct Listed {
    std::shared_ptr<JobState> state;
    Failed failed;
  };
  struct Entry : Listed {
    Work work;
  };

  JobHandle enqueue(std::string title, Work work, Failed failed, bool urgent, bool alone);
  void loop();
  void run_listed(const Entry& entry);
  void run(const Entry& entry);
  /// Reports the end of a job unless that was done or no one waits for it. `result` is true for the
  /// result of work that was not cancelled.
  void report(const std::shared_ptr<JobState>& state, bool result, std::function<void()> call);
  void changed();

  Deliver deliver_;
  std::function<void()> listener_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> waiting_;
  std::vector<Listed> listed_;
  std::vector<std::thread> threads_;
  bool closing_ = false;
};

}  // namespace conelab::desktop
