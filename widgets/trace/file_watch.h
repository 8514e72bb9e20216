// Watches a file that a view shows and another program may write.
//
// The watcher of Qt forgets a path that is removed or replaced, which is how files are usually
// rewritten. This class watches the path again after each change. If the file does not exist, it
// watches the nearest existing folder, because the file may appear again.
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

namespace conelab::desktop {

class FileWatch : public QObject {
  Q_OBJECT

 public:
  explicit FileWatch(QObject* parent = nullptr);

  /// Watches this file from now on, whether it exists or not. An empty name stops watching.
  void watch(const QString& file);

 signals:
  /// The file was written, removed, replaced or created, and has not changed for a moment.
  void changed();

 private:
  void aim();
  void report();

  QString file_;
  bool there_ = false;  ///< Whether the file existed at the last report.
  QFileSystemWatcher watcher_;
  QTimer rest_;
};

}  // namespace conelab::desktop
