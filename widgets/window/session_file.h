// The files of the session: the one that the user saves to, the automatic save of the last run, and
// that of an earlier run whose place another session took.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "widgets/session/session_json.h"

namespace conelab::desktop {

// Writes sessions to files in the background, one at a time. The newest state of a file is written
// last.
//
// It has its own thread, because saving must neither wait for computations nor be cancelled with
// them.

class SessionWriter : public QObject {
  Q_OBJECT

 public:
  /// Writes a state completely or not at all. Throws Error if it cannot.
  using Write = std::function<void(const SavedSession&, const QString& path)>;

  /// The destructor waits until everything that is still waiting has been written.
  explicit SessionWriter(Write write = save_session) : write_(std::move(write)) {
    thread_.setMaxThreadCount(1);
  }

  /// Queues a state and returns at once. An older state that waits for the same file is dropped.
  void save(SavedSession state, const QString& path);
  /// Returns when nothing waits or is being written and everything has been reported.
  void finish();

 signals:
  /// Both are emitted on the thread of this object, in the order of the writes.
  void saved(const QString& path);
  void failed(const QString& path, const QString& message);

 private:
  struct Waiting {
    SavedSession state;
    QString path;
  };
  void write_first();

  Write write_;
  std::mutex mutex_;
  std::vector<Waiting> waiting_;  ///< In the order of the first request for each file.
  QThreadPool thread_;  ///< The last member: it is destroyed first, and waits for its tasks then.
};

class SessionFile : public QObject {
  Q_OBJECT

 public:
  /// `now` returns the state to store; `autosave` is the path of the automatic save, empty if there
  /// is none.
  SessionFile(std::function<SavedSession()> now, const QString& autosave);

  /// Returns the file that `save` writes; empty if none has been chosen.
  [[nodiscard]] const QString& path() const { return path_; }
  /// Sets the file that the session was opened from; empty if there is none.
  void came_from(const QString& path) { path_ = kept_ = path; }
  void save() { writer_.save(now_(), path_); }
  /// Chooses the file and writes it, unless it exists and is no session: then emits `failed`.
  void save_as(const QString& path);
  /// Must be called when the session has changed; it is stored after a pause.
  void changed();
  /// Returns the session of the last run, if there was one. Throws a failure if it cannot be read.
  [[nodiscard]] std::optional<SavedSession> last_time() const;
  /// Keeps the session of the last run as the earlier one, before this run's automatic save
  /// replaces it. A session in which nothing was done is not kept.
  void keep_last_time();
  /// Returns the path of the earlier session; empty if there is none.
  [[nodiscard]] QString earlier() const;
  /// Ends saving before the program exits: waits for current writes and stores the session. Returns
  /// false if a file that the user chose could not be written; `failed` has been emitted then.
  [[nodiscard]] bool close();

 signals:
  void saved(const QString& path);
  void failed(const QString& message);
  /// The automatic save failed; this deserves only a short notice.
  void autosave_failed(const QString& message);

 private:
  void autosave();

  std::function<SavedSession()> now_;
  QString autosave_;
  QString path_;
  QString kept_;  ///< The previous file, until the one that was chosen last has been written.
  QTimer pause_;
  SessionWriter writer_;
  int failures_ = 0;
};

}  // namespace conelab::desktop
