// Long work off the window's thread: progress, cancel, a typed result or an error.
//
// Work runs on a thread of the pool and is handed a `JobContext`; its result, or the error that it
// threw, comes back on the window's thread through `deliver`. Whoever asked holds a `JobHandle`: to
// drop it is to cancel, and after that nothing of the job is heard any more, so a view that is
// closed in the middle needs to do nothing else. Where the pool cancels, views that wait are told.
// No Qt here: tests deliver by hand.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace conelab::desktop {

/// Puts a call into the queue of the window's thread.
using Deliver = std::function<void(std::function<void()>)>;

/// What `failed` is told of a job that the pool cancelled.
inline constexpr const char* job_cancelled = "cancelled";

/// What every job shares with its handle and the list of running jobs.
struct JobState {
  std::uint64_t id = 0;
  std::string title;
  std::atomic<bool> cancelled{false};  ///< The work is to stop.
  std::atomic<bool> settled{false};    ///< Its end was told, or nobody is left to be told.
  std::atomic<double> fraction{0};
  std::atomic<bool> running{false};
};

/// What the work sees.
class JobContext {
 public:
  explicit JobContext(std::shared_ptr<JobState> state) : state_(std::move(state)) {}
  [[nodiscard]] bool cancelled() const { return state_->cancelled; }
  void progress(double fraction) const { state_->fraction = fraction; }
  /// For Execution and the like.
  [[nodiscard]] std::function<bool()> cancel_check() const {
    return [state = state_] { return state->cancelled.load(); };
  }
  [[nodiscard]] std::function<void(double)> progress_report() const {
    return [state = state_](double fraction) { state->fraction = fraction; };
  }
  /// Throws Error(interrupted) where the job was cancelled.
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
  /// Whether a result, or that there is none, is still to be told.
  [[nodiscard]] bool active() const { return state_ != nullptr && !state_->settled; }
  [[nodiscard]] double fraction() const { return state_ ? state_->fraction.load() : 0; }
  /// Called where the result is taken in.
  void finished() { state_.reset(); }

 private:
  std::shared_ptr<JobState> state_;
};

class JobPool {
 public:
  explicit JobPool(Deliver deliver, int threads = 2);
  /// Cancels everything and waits for the threads.
  ~JobPool();
  JobPool(const JobPool&) = delete;
  JobPool& operator=(const JobPool&) = delete;

  using Failed = std::function<void(const std::string& message)>;

  /// `work` on a thread; then, on the window's thread, `done` with its result or `failed` with one
  /// line. Neither is called once the handle is gone or was cancelled, else one of them, once.
  /// `urgent` work goes first.
  template <class Result>
  [[nodiscard]] JobHandle start(std::string title, std::function<Result(const JobContext&)> work,
                                std::function<void(Result)> done, Failed failed,
                                bool urgent = false) {
    return enqueue(
        std::move(title),
        [work = std::move(work), done = std::move(done)](const JobContext& context) {
          auto result = std::make_shared<Result>(work(context));
          return std::function<void()>([result, done] { done(std::move(*result)); });
        },
        std::move(failed), urgent);
  }

  /// Jobs that wait or run, oldest first.
  [[nodiscard]] std::vector<std::shared_ptr<const JobState>> running() const;
  /// Every job stops, and `failed` is told `job_cancelled` at once, on the window's thread.
  void cancel_all();
  /// Told on the window's thread that the list of jobs has changed.
  void on_change(std::function<void()> listener) { listener_ = std::move(listener); }

 private:
  using Work = std::function<std::function<void()>(const JobContext&)>;
  struct Entry {
    std::shared_ptr<JobState> state;
    Work work;
    Failed failed;
  };

  struct Listed {
    std::shared_ptr<JobState> state;
    Failed failed;
  };

  JobHandle enqueue(std::string title, Work work, Failed failed, bool urgent);
  void loop();
  void run(const Entry& entry);
  /// Tells how a job ended, unless that was told or nobody is left; `result`: of work that was not
  /// cancelled.
  void tell(const std::shared_ptr<JobState>& state, bool result, std::function<void()> call);
  void changed();

  Deliver deliver_;
  std::function<void()> listener_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> waiting_;
  std::vector<Listed> listed_;
  std::vector<std::thread> threads_;
  std::uint64_t next_id_ = 1;
  bool closing_ = false;
};

}  // namespace conelab::desktop
