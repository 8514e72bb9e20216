#include "widgets/trace/file_watch.h"

#include <QFileInfo>
#include <utility>

namespace conelab::desktop {
namespace {

constexpr int rest_milliseconds = 300;

/// Returns the file, or the nearest folder above it that exists.
QString nearest_there(QString path) {
  while (!QFileInfo::exists(path)) {
    const QString above = QFileInfo(path).path();
    if (above == path) break;
    path = above;
  }
  return path;
}

}  // namespace

FileWatch::FileWatch(QObject* parent) : QObject(parent) {
  rest_.setSingleShot(true);
  rest_.setInterval(rest_milliseconds);
  const auto touched = [this] {
    aim();
    rest_.start();
  };
  connect(&watcher_, &QFileSystemWatcher::fileChanged, this, touched);
  connect(&watcher_, &QFileSystemWatcher::directoryChanged, this, touched);
  connect(&rest_, &QTimer::timeout, this, &FileWatch::report);
}

void FileWatch::watch(const QString& file) {
  if (file == file_) return;
  file_ = file;
  there_ = !file.isEmpty() && QFileInfo::exists(file);
  rest_.stop();
  aim();
}

/// Watches the path again even if it is watched, because it may be another file now.
void FileWatch::aim() {
  const QStringList watched = watcher_.files() + watcher_.directories();
  if (!watched.isEmpty()) watcher_.removePaths(watched);
  if (file_.isEmpty()) return;
  const QString nearest = nearest_there(file_);
  watcher_.addPath(nearest);
  // A change between the check and the watch would be missed otherwise.
  if (nearest_there(file_) != nearest) rest_.start();
}

void FileWatch::report() {
  aim();
  const bool before = std::exchange(there_, QFileInfo::exists(file_));
  if (before || there_) emit changed();  // Otherwise another file of the folder has changed.
}

}  // namespace conelab::desktop
