#include "widgets/jobs/job_pool.h"

#include "core/base/current_exception.h"
#include "core/base/error.h"

namespace conelab::desktop {

void PoolContext::stop_if_cancelled() const {
  if (cancelled()) throw Error(ErrorKind::interrupted, job_cancelled);
}

JobPool::JobPool(Deliver deliver, int threads) : deliver_(std::move(deliver)) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { loop(); });
}

JobPool::~JobPool() {
  cancel_all();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  *alive_ = false;  // Calls that are still queued do nothing.
}

JobHandle JobPool::enqueue(std::string title, Work work, Failed failed, bool urgent, bool alone) {
  auto state = std::make_shared<JobState>();
  state->title = std::move(title);
  {
    const std::lock_guard lock(mutex_);
    const Listed& listed = listed_.emplace_back(Listed{state, std::move(failed)});
    Entry entry{listed, std::move(work)};
    if (alone)
      threads_.emplace_back([this, entry = std::move(entry)] { run_listed(entry); });
    else
      urgent ? waiting_.push_front(std::move(entry)) : waiting_.push_back(std::move(entry));
  }
  wake_.notify_one();
  changed();
  return JobHandle(std::move(state));
}

void JobPool::loop() {
  for (;;) {
    Entry entry;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      entry = std::move(waiting_.front());
      waiting_.pop_front();
    }
    run_listed(entry);
  }
}

void JobPool::run_listed(const Entry& entry) {
  run(entry);
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(listed_, [&](const Listed& each) { return each.state == entry.state; });
  }
  changed();
}

void JobPool::report(const std::shared_ptr<JobState>& state, bool result,
                     std::function<void()> call) {
  deliver_([alive = alive_, state, result, call = std::move(call)] {
    if (!*alive || (result && state->cancelled) || state->settled.exchange(true)) return;
    call();
  });
}

void JobPool::run(const Entry& entry) {
  const auto say = [&](std::function<void()> call) { report(entry.state, true, std::move(call)); };
  const auto fail_with = [&](const std::string& message) {
    say([failed = entry.failed, message] {
      if (failed) failed(message);
    });
  };
  if (entry.state->cancelled) return;
  entry.state->running = true;
  try {
    say(entry.work(PoolContext(entry.state)));
  } catch (...) {
    fail_with(describe_current_exception().second);
  }
}

std::vector<std::shared_ptr<const JobState>> JobPool::running() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const JobState>> states;
  for (const Listed& each : listed_) states.push_back(each.state);
  return states;
}

void JobPool::cancel_all(const JobState* only) {
  std::vector<Listed> cancelled;
  {
    // All at once, so that no thread starts another job that is about to be cancelled.
    const std::lock_guard lock(mutex_);
    for (const Listed& each : listed_) {
      if (only != nullptr && each.state.get() != only) continue;
      // Otherwise the end was reported already, or no one waits for it.
      if (!each.state->cancelled.exchange(true)) cancelled.push_back(each);
    }
  }
  for (const Listed& each : cancelled) {
    report(each.state, false, [failed = each.failed] {
      if (failed) failed(job_cancelled);
    });
  }
}

void JobPool::changed() {
  deliver_([this, alive = alive_] {
    if (*alive && listener_) listener_();
  });
}

}  // namespace conelab::desktop
