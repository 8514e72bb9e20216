#include "widgets/window/session_file.h"

#include <QCoreApplication>
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
  connect(&writer_, &SessionWriter::failed, this, [this](const QString& path, const QString& why) {
    if (path == autosave_) return emit autosave_failed(why);
    if (path == path_) path_ = kept_;
    ++failures_;
    emit failed(why);
  });
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

void SessionWriter::save(SavedSession state, const QString& path) {
  const std::lock_guard lock(mutex_);
  const auto same = std::ranges::find(waiting_, path, &Waiting::path);
  if (same != waiting_.end()) return std::swap(same->state, state);
  waiting_.push_back({std::move(state), path});
  thread_.start([this] { write_first(); });
}

void SessionWriter::finish() {
  thread_.waitForDone();
  QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
}

void SessionWriter::write_first() {
  std::unique_lock lock(mutex_);
  const Waiting next = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  lock.unlock();
  QString error;
  try {
    write_(next.state, next.path);
  } catch (const std::exception& e) {
    error = QString::fromUtf8(e.what());
  }
  const auto report = [this, path = next.path, error] {
    error.isEmpty() ? emit saved(path) : emit failed(path, error);
  };
  QMetaObject::invokeMethod(this, report, Qt::QueuedConnection);
}

}  // namespace conelab::desktop
