// A file that a view shows and another program writes: tells when it is another.
//
// Qt's watcher forgets a path that is removed or replaced, which is how files are rewritten whole.
// Here the path is watched anew after each change, and while nothing is there, the nearest folder
// that is: the file may come back.
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

namespace conelab::desktop {

class FileWatch : public QObject {
  Q_OBJECT

 public:
  explicit FileWatch(QObject* parent = nullptr);

  /// From now on that file, whether it is there or not; empty: none.
  void watch(const QString& file);

 signals:
  /// The file was written, removed, replaced or has appeared, and has rested for a moment since.
  void changed();

 private:
  void aim();
  void tell();

  QString file_;
  bool there_ = false;  ///< When it was told of last.
  QFileSystemWatcher watcher_;
  QTimer rest_;
};

}  // namespace conelab::desktop
