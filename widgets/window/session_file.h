// Where the session is kept: the file that a person saves to, and the autosave of the last run.
#pragma once

#include <QObject>
#include <QTimer>
#include <functional>
#include <optional>

#include "widgets/session/session_writer.h"

namespace conelab::desktop {

class SessionFile : public QObject {
  Q_OBJECT

 public:
  /// `now` gives what is to be kept; `autosave` is the autosave's path, empty: there is none.
  SessionFile(std::function<SavedSession()> now, const QString& autosave);

  /// The file that `save` writes; empty: none was chosen yet.
  [[nodiscard]] const QString& path() const { return path_; }
  /// The session is that of a file that was opened, or of none.
  void came_from(const QString& path) { path_ = kept_ = path; }
  void save() { save_as(path_); }
  void save_as(const QString& path);
  /// The session has changed: it is kept after a pause.
  void changed();
  /// The session of last time; none where there was none. Fails where it cannot be read.
  [[nodiscard]] std::optional<SavedSession> last_time() const;
  /// Before the program ends: waits for what is being saved and keeps the session. False where a
  /// file that a person saved to could not be written, which `failed` has told.
  [[nodiscard]] bool close();

 signals:
  void saved(const QString& path);
  void failed(const QString& message);
  /// Not worth more than a word.
  void autosave_failed(const QString& message);

 private:
  void autosave();
  void take_failure(const QString& path, const QString& message);

  std::function<SavedSession()> now_;
  QString autosave_;
  QString path_;
  QString kept_;  ///< As long as the file that was chosen last is not written: the one before.
  QTimer pause_;
  SessionWriter writer_;
  int failures_ = 0;
};

}  // namespace conelab::desktop
