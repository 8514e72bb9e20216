// A long run in a job, as of a sweep or a study. When it is stopped, it keeps what is finished, so
// that its end is known only when the work has returned. The window looks at its state from time to
// time and never waits for it.
#pragma once

#include <QTimer>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "widgets/jobs/job_pool.h"

namespace conelab::desktop {

enum class RunEnd { none, finished, stopped, failed };

template <class State>
class LongRun {
 public:
  /// Lets the work change the state that the window reads.
  using Change = std::function<void(const std::function<void(State&)>&)>;
  using Work = std::function<void(const PoolContext&, const Change&)>;

  /// `look` is called on the window's thread after each pause, of so many milliseconds, and a last
  /// time after the end.
  LongRun(JobPool& jobs, std::function<void()> look, int pause = 200) : jobs_(jobs) {
    polling_.setInterval(pause);
    polling_.callOnTimeout([this, look = std::move(look)] {
      {
        const std::lock_guard lock(shared_->mutex);
        seen_ = shared_->seen;
      }
      if (seen_.end != RunEnd::none) polling_.stop();
      look();
    });
  }

  /// Starts the work in a job. None may be running.
  void start(std::string title, Work work) {
    shared_ = std::make_shared<Shared>();
    seen_ = {};
    // A job that is cancelled before it starts never runs. The destruction of its work is the only
    // event that always happens.
    const auto ended = std::shared_ptr<void>(
        nullptr, [shared = shared_](void*) { shared->finish(RunEnd::stopped, ""); });
    const auto run = [work = std::move(work), shared = shared_, ended](const PoolContext& context) {
      try {
        work(context, [&](const std::function<void(State&)>& change) {
          const std::lock_guard lock(shared->mutex);
          change(shared->seen.state);
        });
        shared->finish(RunEnd::finished, "");
      } catch (const std::exception& e) {
        const auto* error = dynamic_cast<const Error*>(&e);
        const bool stopped = error != nullptr && error->kind() == ErrorKind::interrupted;
        shared->finish(stopped ? RunEnd::stopped : RunEnd::failed, e.what());
      }
      return true;
    };
    job_ = jobs_.start<bool>(
        std::move(title), run, [](bool) {}, nullptr, false, true);
    polling_.start();
  }
  void stop() { job_.cancel(); }

  [[nodiscard]] bool running() const { return polling_.isActive(); }
  /// Returns what `look` is told of: the state, how the run ended, and why it failed.
  [[nodiscard]] const State& state() const { return seen_.state; }
  [[nodiscard]] RunEnd end() const { return seen_.end; }
  [[nodiscard]] const std::string& error() const { return seen_.error; }

 private:
  struct Seen {
    State state = {};
    RunEnd end = RunEnd::none;
    std::string error = {};
  };
  struct Shared {
    std::mutex mutex;
    Seen seen;

    void finish(RunEnd end, const std::string& error) {
      const std::lock_guard lock(mutex);
      if (seen.end == RunEnd::none) seen.end = end, seen.error = error;
    }
  };

  JobPool& jobs_;
  std::shared_ptr<Shared> shared_;
  Seen seen_;
  QTimer polling_;
  JobHandle job_;
};

}  // namespace conelab::desktop
