#include "widgets/window/session_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace conelab::desktop {
namespace {

QString earlier_path(const QString& autosave) {
  return QFileInfo(autosave).dir().filePath("earlier.json");
}

}  // namespace

SessionFile::SessionFile(std::function<SavedSession()> now, const QString& autosave)
    : now_(std::move(now)), autosave_(autosave) {
  pause_.setSingleShot(true);
  pause_.setInterval(1500);
  connect(&pause_, &QTimer::timeout, this, &SessionFile::autosave);
  connect(&writer_, &SessionWriter::failed, this, &SessionFile::take_failure);
  connect(&writer_, &SessionWriter::saved, this, [this](const QString& path) {
    if (path == autosave_) return;
    if (path == path_) kept_ = path;  // Not if another session has been opened meanwhile.
    emit saved(path);
  });
}

void SessionFile::save_as(const QString& path) {
  try {
    check_replaceable_session(path);
  } catch (const Error& error) {
    return emit failed(QString::fromStdString(error.what()));
  }
  path_ = path;
  save();
}

void SessionFile::changed() {
  if (!autosave_.isEmpty()) pause_.start();
}

void SessionFile::autosave() {
  QDir().mkpath(QFileInfo(autosave_).path());
  writer_.save(now_(), autosave_);
}

void SessionFile::take_failure(const QString& path, const QString& message) {
  if (path == autosave_) return emit autosave_failed(message);
  if (path == path_) path_ = kept_;
  ++failures_;
  emit failed(message);
}

std::optional<SavedSession> SessionFile::last_time() const {
  if (autosave_.isEmpty() || !QFileInfo::exists(autosave_)) return std::nullopt;
  return load_session(autosave_);
}

void SessionFile::keep_last_time() {
  std::optional<SavedSession> saved = last_time();
  if (!saved) return;
  saved->session.theme = Session().theme;
  if (saved->session == Session()) return;
  const QString kept = earlier_path(autosave_);
  QFile::remove(kept);
  QFile::copy(autosave_, kept);
}

QString SessionFile::earlier() const {
  const QString kept = autosave_.isEmpty() ? QString() : earlier_path(autosave_);
  return QFileInfo::exists(kept) ? kept : QString();
}

bool SessionFile::close() {
  const int before = failures_;
  if (!autosave_.isEmpty()) autosave();
  writer_.finish();
  return failures_ == before;
}

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
    const auto same =
        std::ranges::find_if(waiting_, [&](const Waiting& each) { return each.path == path; });
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
