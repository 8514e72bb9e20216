#include "widgets/session/session_writer.h"

#include <algorithm>
#include <utility>

namespace conelab::desktop {

SessionWriter::SessionWriter(Write write) : write_(std::move(write)), thread_([this] { loop(); }) {}

SessionWriter::~SessionWriter() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SessionWriter::save(SavedSession state, const QString& path) {
  {
    const std::lock_guard lock(mutex_);
    const auto same = std::find_if(waiting_.begin(), waiting_.end(),
                                   [&](const Waiting& each) { return each.path == path; });
    if (same != waiting_.end()) {
      same->state = std::move(state);
    } else {
      waiting_.push_back({std::move(state), path});
    }
  }
  changed_.notify_all();
}

void SessionWriter::finish() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty() && !writing_; });
  }
  report();
}

void SessionWriter::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    writing_ = true;
    lock.unlock();
    QString error = write_one(next);
    lock.lock();
    writing_ = false;
    outcomes_.push_back({next.path, std::move(error)});
    changed_.notify_all();
    QMetaObject::invokeMethod(this, &SessionWriter::report, Qt::QueuedConnection);
  }
}

QString SessionWriter::write_one(const Waiting& waiting) const {
  try {
    write_(waiting.state, waiting.path);
    return {};
  } catch (const std::exception& error) {
    return QString::fromUtf8(error.what());
  }
}

void SessionWriter::report() {
  std::vector<Outcome> outcomes;
  {
    const std::lock_guard lock(mutex_);
    outcomes.swap(outcomes_);
  }
  for (const Outcome& each : outcomes) {
    each.error.isEmpty() ? emit saved(each.path) : emit failed(each.path, each.error);
  }
}

}  // namespace conelab::desktop
